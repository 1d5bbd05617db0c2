#include "datatype/pack/pack.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/byte_range.hpp"
#include "base/check.hpp"
#include "datatype/node.hpp"
#include "datatype/pack/pack_pass.hpp"

namespace stria {

using datatype::Node;
using datatype::NodeKind;
using pack::Strand;
using pack::Translation;

namespace {

/// Operands with equal trees share cache lines when they are at most this far apart, even where
/// that exceeds a stride.
constexpr int64_t kNearBytes = 256;

/// Looks for pieces that are not a whole number of elements.
class PieceCheck {
 public:
  explicit PieceCheck(int64_t width_bytes) : width_bytes_(width_bytes) {}

  bool passes(const Node& node) {
    if (node.kind == NodeKind::kEmpty || node.kind == NodeKind::kRun) {
      return node.size % width_bytes_ == 0;
    }
    if (!seen_.insert(&node).second) {
      return true;
    }
    if (node.kind == NodeKind::kBlocks) {
      return node.entry_bytes % width_bytes_ == 0 && std::all_of(node.stream_offsets.begin(), node.stream_offsets.end(),
                                                                 [this](int64_t offset) { return offset % width_bytes_ == 0; });
    }
    return std::all_of(node.children.begin(), node.children.end(),
                       [this](const datatype::NodePtr& child) { return passes(*child); });
  }

 private:
  int64_t width_bytes_;
  std::unordered_set<const Node*> seen_;
};

/// Returns how far apart operands with this tree may lie and still be neighbours: the stride of the
/// first innermost loop.
int64_t neighbour_reach(const Node& root) {
  const Node* node = &root;
  while (node->kind == NodeKind::kIndexed || node->kind == NodeKind::kStrided) {
    const Node* child = node->children[0].get();
    if (node->kind == NodeKind::kStrided && child->kind == NodeKind::kRun) {
      return node->stride < 0 ? -node->stride : node->stride;
    }
    node = child;
  }
  return node->kind == NodeKind::kBlocks ? kNearBytes : 0;
}

Status check_operand(const PackOperand& operand, size_t index) {
  const auto bad = [index](const std::string& what) {
    return Status(ErrorCode::kInvalidArgument, "pack: operand " + std::to_string(index) + " " + what);
  };
  if (!can_convert(operand.memory_element, operand.stored_element)) {
    return bad(std::string("cannot turn ") + element_type_name(operand.memory_element) + " into " +
               element_type_name(operand.stored_element));
  }
  const int64_t width_bytes = element_bytes(operand.memory_element);
  if (operand.type.size() % width_bytes != 0) {
    return bad("has " + std::to_string(operand.type.size()) + " bytes, not a whole number of " +
               element_type_name(operand.memory_element));
  }
  if (width_bytes > 1 && !PieceCheck(width_bytes).passes(operand.type.node())) {
    return bad(std::string("has a datatype whose pieces cut a ") + element_type_name(operand.memory_element));
  }
  const int64_t elements = operand.type.size() / width_bytes;
  if (elements >= datatype::kOffsetLimit / element_bytes(operand.stored_element)) {
    return bad("has a stream that reaches 2^62 bytes");
  }
  return Status();
}

}  // namespace

struct Packer::Impl {
  struct Operand {
    std::byte* memory;  // address of the type's first byte
    Datatype tree;      // the type without its displacement
    Translation translation;
    int64_t stream_bytes;
    int group;
  };

  /// Stored bytes of a converted element of which the rest has not come yet.
  struct Fragment {
    std::byte bytes[8] = {};
    uint32_t mask = 0;
  };

  explicit Impl(pack::Isa isa) : kernels(pack::kernel_table(isa)) {}

  void add(const PackOperand& from);
  void assign_groups();
  template <bool is_pack>
  void move(std::span<const PackPart> parts, std::span<ValueRange> ranges);
  template <bool is_pack>
  void move_together(std::span<const PackPart> parts, std::span<const int> order, std::span<ValueRange> ranges);
  template <bool is_pack>
  void move_bytes_of_element(const PackPart& part, int64_t element, ByteRange bytes, ValueRange* range);
  std::byte* element_address(const Operand& operand, int64_t element) const;
  void pack_bytes_of_element(const PackPart& part, int64_t element, ByteRange bytes, ValueRange* range) const;
  void unpack_bytes_of_element(const PackPart& part, int64_t element, ByteRange bytes);
  void unpack_fragment(const PackPart& part, int64_t element, ByteRange bytes);
  const Operand& operand_of(const PackPart& part) const { return operands[static_cast<size_t>(part.operand)]; }

  const pack::KernelTable& kernels;
  std::vector<Operand> operands;
  bool past_caches = false;
  std::mutex fragment_mutex;
  std::map<std::pair<int, int64_t>, Fragment> fragments;
};

void Packer::Impl::add(const PackOperand& from) {
  const Translation translation{from.memory_element, from.stored_element, from.swap_bytes};
  const int64_t elements = from.type.size() / translation.memory_bytes();
  // Displacement and bounds are dropped, so that operands that differ only in these can be
  // packed together.
  operands.push_back({.memory = from.memory + from.type.displacement(),
                      .tree = Datatype::of_node(from.type.shared_node()),
                      .translation = translation,
                      .stream_bytes = elements * translation.stored_bytes(),
                      .group = 0});
}

void Packer::Impl::assign_groups() {
  std::vector<int> order(operands.size());
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<int>(i);
  }
  const auto key = [this](int i) {
    const Operand& o = operands[static_cast<size_t>(i)];
    return std::make_tuple(o.tree.fingerprint(), o.translation.memory, o.translation.stored, o.translation.swap_bytes,
                           reinterpret_cast<uintptr_t>(o.memory));
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  int group = -1;
  const Operand* first = nullptr;
  for (int i : order) {
    Operand& operand = operands[static_cast<size_t>(i)];
    const bool joins = first != nullptr && first->translation == operand.translation && first->tree == operand.tree &&
                       operand.memory - first->memory < neighbour_reach(operand.tree.node());
    if (!joins) {
      ++group;
      first = &operand;
    }
    operand.group = group;
  }
}

std::byte* Packer::Impl::element_address(const Operand& operand, int64_t element) const {
  Cursor cursor(operand.tree);
  cursor.seek(element * operand.translation.memory_bytes());
  return operand.memory + cursor.piece().begin;
}

void Packer::Impl::pack_bytes_of_element(const PackPart& part, int64_t element, ByteRange bytes, ValueRange* range) const {
  const Operand& operand = operand_of(part);
  const std::byte* memory = element_address(operand, element);
  std::byte stored[8];
  pack::pack_element(operand.translation, memory, stored);
  const int64_t at = element * operand.translation.stored_bytes();
  std::memcpy(part.packed + (bytes.begin - part.begin), stored + (bytes.begin - at), static_cast<size_t>(bytes.size()));
  if (range != nullptr) {
    widen_range(operand.translation.memory, memory, 1, *range);
  }
}

void Packer::Impl::unpack_bytes_of_element(const PackPart& part, int64_t element, ByteRange bytes) {
  const Operand& operand = operand_of(part);
  const Translation& translation = operand.translation;
  if (translation.memory != translation.stored) {
    return unpack_fragment(part, element, bytes);
  }
  std::byte* memory = element_address(operand, element);
  const int64_t width = translation.stored_bytes();
  for (int64_t i = bytes.begin; i < bytes.end; ++i) {
    const int64_t at = i - element * width;
    memory[translation.is_swapped() ? width - 1 - at : at] = part.packed[i - part.begin];
  }
}

void Packer::Impl::unpack_fragment(const PackPart& part, int64_t element, ByteRange bytes) {
  const Operand& operand = operand_of(part);
  const int64_t width = operand.translation.stored_bytes();
  const std::lock_guard lock(fragment_mutex);
  const auto place = fragments.try_emplace({part.operand, element}).first;
  Fragment& fragment = place->second;
  for (int64_t i = bytes.begin; i < bytes.end; ++i) {
    const int64_t at = i - element * width;
    fragment.bytes[at] = part.packed[i - part.begin];
    fragment.mask |= 1u << at;
  }
  if (fragment.mask == (1u << width) - 1) {
    pack::unpack_element(operand.translation, fragment.bytes, element_address(operand, element));
    fragments.erase(place);
  }
}

template <bool is_pack>
void Packer::Impl::move_bytes_of_element(const PackPart& part, int64_t element, ByteRange bytes, ValueRange* range) {
  if constexpr (is_pack) {
    pack_bytes_of_element(part, element, bytes, range);
  } else {
    unpack_bytes_of_element(part, element, bytes);
  }
}

template <bool is_pack>
void Packer::Impl::move_together(std::span<const PackPart> parts, std::span<const int> order, std::span<ValueRange> ranges) {
  const PackPart& first = parts[static_cast<size_t>(order[0])];
  const Operand& model = operand_of(first);
  const bool is_bytes = model.translation.is_raw() && ranges.empty();
  const Translation translation = is_bytes ? Translation() : model.translation;
  const int64_t width = translation.stored_bytes();
  const int64_t begin = (first.begin + width - 1) / width;
  const int64_t end = std::max(begin, first.end / width);
  const ByteRange head{first.begin, std::min(first.end, begin * width)};
  const ByteRange tail{std::max(head.end, end * width), first.end};
  std::vector<Strand> strands;
  for (int i : order) {
    const PackPart& part = parts[static_cast<size_t>(i)];
    ValueRange* range = ranges.empty() ? nullptr : &ranges[static_cast<size_t>(part.operand)];
    if (!head.empty()) {
      move_bytes_of_element<is_pack>(part, begin - 1, head, range);
    }
    if (!tail.empty()) {
      move_bytes_of_element<is_pack>(part, end, tail, range);
    }
    strands.push_back({operand_of(part).memory, part.packed + (begin * width - first.begin), range});
  }
  if (begin == end) {
    return;
  }
  pack::Pass pass(model.tree, translation, strands, kernels);
  if constexpr (is_pack) {
    pass.pack(begin, end);
  } else {
    past_caches ? pass.unpack_past_caches(begin, end) : pass.unpack(begin, end);
  }
}

template <bool is_pack>
void Packer::Impl::move(std::span<const PackPart> parts, std::span<ValueRange> ranges) {
  std::vector<int> order;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].begin < parts[i].end) {
      order.push_back(static_cast<int>(i));
    }
  }
  const auto key = [&](int i) {
    const PackPart& part = parts[static_cast<size_t>(i)];
    return std::make_tuple(operand_of(part).group, part.begin, part.end);
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const auto key_a = key(a);
    const auto key_b = key(b);
    return key_a != key_b ? key_a < key_b
                          : operand_of(parts[static_cast<size_t>(a)]).memory < operand_of(parts[static_cast<size_t>(b)]).memory;
  });
  for (size_t i = 0; i < order.size();) {
    size_t j = i + 1;
    while (j < order.size() && key(order[j]) == key(order[i])) {
      ++j;
    }
    move_together<is_pack>(parts, std::span(order).subspan(i, j - i), ranges);
    i = j;
  }
}

Result<Packer> Packer::create(std::vector<PackOperand> operands, pack::Isa isa, int64_t past_caches_bytes) {
  STRIA_CHECK(pack::is_supported(isa), isa);
  auto impl = std::make_unique<Impl>(isa);
  int64_t left_bytes = past_caches_bytes;
  for (size_t i = 0; i < operands.size(); ++i) {
    STRIA_RETURN_IF_ERROR(check_operand(operands[i], i));
    impl->add(operands[i]);
    left_bytes -= std::min(left_bytes, operands[i].type.size());
  }
  impl->past_caches = left_bytes == 0;
  impl->assign_groups();
  return Packer(std::move(impl));
}

Packer::Packer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Packer::Packer(Packer&&) noexcept = default;
Packer& Packer::operator=(Packer&&) noexcept = default;
Packer::~Packer() = default;

int Packer::operand_count() const {
  return static_cast<int>(impl_->operands.size());
}
int64_t Packer::stream_bytes(int operand) const {
  return impl_->operands[static_cast<size_t>(operand)].stream_bytes;
}
int Packer::group(int operand) const {
  return impl_->operands[static_cast<size_t>(operand)].group;
}

void Packer::pack(std::span<const PackPart> parts, std::span<ValueRange> ranges) const {
  impl_->move<true>(parts, ranges);
}
void Packer::unpack(std::span<const PackPart> parts) const {
  impl_->move<false>(parts, {});
}

}  // namespace stria
