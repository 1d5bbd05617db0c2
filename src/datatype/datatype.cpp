#include "stria/datatype.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "datatype/node.hpp"

namespace stria {

using datatype::Node;
using datatype::NodeKind;
using datatype::NodePtr;
using datatype::PlacedNode;
using datatype::within_limit;

namespace {

Status invalid(const std::string& what) {
  return Status(ErrorCode::kInvalidArgument, "datatype: " + what);
}

Status overflow() {
  return invalid("a size or an offset reaches 2^62 bytes");
}

/// The lower and upper bound of a typemap; empty until something is in it.
struct Bounds {
  int64_t lower = 0;
  int64_t upper = 0;
  bool is_empty = true;

  void include(int64_t low, int64_t high) {
    lower = is_empty ? low : std::min(lower, low);
    upper = is_empty ? high : std::max(upper, high);
    is_empty = false;
  }
};

/// True for a type without data, as MPI has it: it doesn't count for the bounds of a type that
/// contains it, unless it was given an extent.
bool is_void(const Datatype& type) {
  return type.size() == 0 && type.lower_bound() == 0 && type.upper_bound() == 0;
}

/// Includes `count` copies of the bounds `copy`, `stride` bytes apart, the first at `displacement`.
bool include_copies(Bounds& total, Bounds copy, int64_t count, int64_t stride, int64_t displacement) {
  if (count == 0 || copy.is_empty) {
    return true;
  }
  int64_t reach = 0;
  int64_t low = 0;
  int64_t high = 0;
  if (!checked_multiply(count - 1, stride, &reach) || !checked_add(copy.lower, displacement, &low) ||
      !checked_add(copy.upper, displacement, &high)) {
    return false;
  }
  if (!checked_add(low, std::min<int64_t>(reach, 0), &low) || !checked_add(high, std::max<int64_t>(reach, 0), &high)) {
    return false;
  }
  total.include(low, high);
  return within_limit(low) && within_limit(high);
}

Bounds bounds_of(const Datatype& type) {
  Bounds bounds;
  if (!is_void(type)) {
    bounds.include(type.lower_bound(), type.upper_bound());
  }
  return bounds;
}

/// Builds the repetitions of one type, each count only once.
class Repeater {
 public:
  explicit Repeater(const Datatype& old) : old_(old) {}

  Result<NodePtr> repeat(int64_t count) {
    if (auto known = made_.find(count); known != made_.end()) {
      return known->second;
    }
    STRIA_ASSIGN_OR_RETURN(NodePtr node, datatype::make_strided(count, old_.extent(), old_.shared_node()));
    made_.emplace(count, node);
    return node;
  }

 private:
  const Datatype& old_;
  std::unordered_map<int64_t, NodePtr> made_;
};

/// Makes blocks of a type that is one run of bytes as long as its extent.
Result<PlacedNode> run_blocks(datatype::BlockList list, const Datatype& old) {
  list.length_unit = old.size();
  list.first_byte = old.displacement();
  return datatype::make_blocks(list);
}

Result<PlacedNode> tree_blocks(const datatype::BlockList& list, const Datatype& old) {
  Repeater repeater(old);
  std::vector<PlacedNode> entries;
  for (size_t i = 0; i < list.displacements.size(); ++i) {
    PlacedNode entry;
    if (list.length(i) == 0) {
      continue;
    }
    if (!checked_multiply(list.displacements[i], list.displacement_unit, &entry.displacement) ||
        !checked_add(entry.displacement, old.displacement(), &entry.displacement)) {
      return overflow();
    }
    STRIA_ASSIGN_OR_RETURN(entry.node, repeater.repeat(list.length(i)));
    entries.push_back(std::move(entry));
  }
  return datatype::make_indexed(std::move(entries));
}

Status check_lists(std::span<const int64_t> block_lengths, size_t displacement_count) {
  if (block_lengths.size() != displacement_count) {
    return invalid("as many block lengths as displacements are needed, not " + std::to_string(block_lengths.size()) + " and " +
                   std::to_string(displacement_count));
  }
  for (int64_t length : block_lengths) {
    if (length < 0) {
      return invalid("a block length is negative: " + std::to_string(length));
    }
  }
  return Status();
}

Status check_subarray(std::span<const int64_t> sizes, std::span<const int64_t> subsizes, std::span<const int64_t> starts) {
  if (sizes.size() != subsizes.size() || sizes.size() != starts.size()) {
    return invalid("the sizes, sub-sizes and starts of a subarray differ in number of dimensions");
  }
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0 || subsizes[d] < 0 || starts[d] < 0 || subsizes[d] > sizes[d] || starts[d] > sizes[d] - subsizes[d]) {
      return invalid("dimension " + std::to_string(d) + " of the subarray, start " + std::to_string(starts[d]) + " and size " +
                     std::to_string(subsizes[d]) + ", lies outside the array's " + std::to_string(sizes[d]));
    }
  }
  return Status();
}

}  // namespace

Datatype::Datatype() : node_(datatype::empty_node()) {}

Datatype::Datatype(NodePtr node, int64_t displacement, int64_t lower_bound, int64_t upper_bound)
    : node_(std::move(node)), displacement_(displacement), lower_bound_(lower_bound), upper_bound_(upper_bound) {}

Result<Datatype> Datatype::create(NodePtr node, int64_t displacement, int64_t lower_bound, int64_t upper_bound) {
  displacement = node->size == 0 ? 0 : displacement;
  int64_t low = 0;
  int64_t high = 0;
  if (!within_limit(displacement) || !within_limit(lower_bound) || !within_limit(upper_bound) ||
      !checked_add(displacement, node->low, &low) || !checked_add(displacement, node->high, &high) || !within_limit(low) ||
      !within_limit(high)) {
    return overflow();
  }
  return Datatype(std::move(node), displacement, lower_bound, upper_bound);
}

Datatype Datatype::bytes(int64_t count) {
  STRIA_ASSERT(count >= 0 && within_limit(count), count);
  return Datatype(datatype::make_run(count), 0, 0, count);
}

Datatype Datatype::of_node(NodePtr node) {
  const int64_t low = node->low;
  const int64_t high = node->high;
  return Datatype(std::move(node), 0, low, high);
}

Result<Datatype> Datatype::contiguous(int64_t count, const Datatype& old) {
  return hvector(count, 1, old.extent(), old);
}

Result<Datatype> Datatype::vector(int64_t count, int64_t block_length, int64_t stride, const Datatype& old) {
  int64_t stride_bytes = 0;
  if (!checked_multiply(stride, old.extent(), &stride_bytes)) {
    return overflow();
  }
  return hvector(count, block_length, stride_bytes, old);
}

Result<Datatype> Datatype::hvector(int64_t count, int64_t block_length, int64_t stride_bytes, const Datatype& old) {
  if (count < 0 || block_length < 0) {
    return invalid("a vector of " + std::to_string(count) + " blocks of " + std::to_string(block_length) + " elements");
  }
  if (count == 0 || block_length == 0) {
    return Datatype();
  }
  Bounds block;
  Bounds total;
  if (!include_copies(block, bounds_of(old), block_length, old.extent(), 0) ||
      !include_copies(total, block, count, stride_bytes, 0)) {
    return overflow();
  }
  STRIA_ASSIGN_OR_RETURN(NodePtr inner, datatype::make_strided(block_length, old.extent(), old.shared_node()));
  STRIA_ASSIGN_OR_RETURN(NodePtr outer, datatype::make_strided(count, stride_bytes, std::move(inner)));
  return create(std::move(outer), old.displacement(), total.lower, total.upper);
}

Result<Datatype> Datatype::indexed(std::span<const int64_t> block_lengths, std::span<const int64_t> displacements,
                                   const Datatype& old) {
  STRIA_RETURN_IF_ERROR(check_lists(block_lengths, displacements.size()));
  return blocks({.displacements = displacements, .displacement_unit = old.extent(), .lengths = block_lengths}, old);
}

Result<Datatype> Datatype::hindexed(std::span<const int64_t> block_lengths, std::span<const int64_t> displacements_bytes,
                                    const Datatype& old) {
  STRIA_RETURN_IF_ERROR(check_lists(block_lengths, displacements_bytes.size()));
  return blocks({.displacements = displacements_bytes, .lengths = block_lengths}, old);
}

Result<Datatype> Datatype::indexed_block(int64_t block_length, std::span<const int64_t> displacements, const Datatype& old) {
  STRIA_RETURN_IF_ERROR(check_lists(std::span(&block_length, 1), 1));
  return blocks({.displacements = displacements, .displacement_unit = old.extent(), .common_length = block_length}, old);
}

Result<Datatype> Datatype::hindexed_block(int64_t block_length, std::span<const int64_t> displacements_bytes,
                                          const Datatype& old) {
  STRIA_RETURN_IF_ERROR(check_lists(std::span(&block_length, 1), 1));
  return blocks({.displacements = displacements_bytes, .common_length = block_length}, old);
}

Result<Datatype> Datatype::blocks(const datatype::BlockList& list, const Datatype& old) {
  Bounds total;
  const Bounds one = bounds_of(old);
  for (size_t i = 0; i < list.displacements.size(); ++i) {
    int64_t at = 0;
    if (!checked_multiply(list.displacements[i], list.displacement_unit, &at) ||
        !include_copies(total, one, list.length(i), old.extent(), at)) {
      return overflow();
    }
  }
  const bool is_runs = old.node().kind == NodeKind::kRun && old.extent() == old.size();
  STRIA_ASSIGN_OR_RETURN(PlacedNode placed, is_runs ? run_blocks(list, old) : tree_blocks(list, old));
  return create(std::move(placed.node), placed.displacement, total.lower, total.upper);
}

Result<Datatype> Datatype::structure(std::span<const int64_t> block_lengths, std::span<const int64_t> displacements_bytes,
                                     std::span<const Datatype> types) {
  STRIA_RETURN_IF_ERROR(check_lists(block_lengths, displacements_bytes.size()));
  STRIA_RETURN_IF_ERROR(check_lists(block_lengths, types.size()));
  Bounds total;
  std::vector<PlacedNode> entries;
  for (size_t i = 0; i < types.size(); ++i) {
    if (!include_copies(total, bounds_of(types[i]), block_lengths[i], types[i].extent(), displacements_bytes[i])) {
      return overflow();
    }
    PlacedNode entry;
    STRIA_ASSIGN_OR_RETURN(entry.node, datatype::make_strided(block_lengths[i], types[i].extent(), types[i].shared_node()));
    if (entry.node->size == 0) {
      continue;
    }
    if (!checked_add(displacements_bytes[i], types[i].displacement(), &entry.displacement)) {
      return overflow();
    }
    entries.push_back(std::move(entry));
  }
  STRIA_ASSIGN_OR_RETURN(PlacedNode placed, datatype::make_indexed(std::move(entries)));
  return create(std::move(placed.node), placed.displacement, total.lower, total.upper);
}

Result<Datatype> Datatype::subarray(std::span<const int64_t> sizes, std::span<const int64_t> subsizes,
                                    std::span<const int64_t> starts, Order order, const Datatype& old) {
  STRIA_RETURN_IF_ERROR(check_subarray(sizes, subsizes, starts));
  NodePtr node = old.shared_node();
  int64_t displacement = old.displacement();
  int64_t stride = old.extent();
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t d = order == Order::kC ? sizes.size() - 1 - i : i;
    STRIA_ASSIGN_OR_RETURN(node, datatype::make_strided(subsizes[d], stride, std::move(node)));
    int64_t skipped = 0;
    if (!checked_multiply(starts[d], stride, &skipped) || !checked_add(displacement, skipped, &displacement) ||
        !checked_multiply(stride, sizes[d], &stride)) {
      return overflow();
    }
  }
  return create(std::move(node), displacement, 0, stride);
}

Result<Datatype> Datatype::resized(const Datatype& old, int64_t lower_bound_bytes, int64_t extent_bytes) {
  int64_t upper_bound_bytes = 0;
  if (!checked_add(lower_bound_bytes, extent_bytes, &upper_bound_bytes)) {
    return overflow();
  }
  return create(old.shared_node(), old.displacement(), lower_bound_bytes, upper_bound_bytes);
}

int64_t Datatype::size() const {
  return node_->size;
}
int64_t Datatype::lower_bound() const {
  return lower_bound_;
}
int64_t Datatype::upper_bound() const {
  return upper_bound_;
}
int64_t Datatype::extent() const {
  return upper_bound_ - lower_bound_;
}
int64_t Datatype::true_lower_bound() const {
  return displacement_ + node_->low;
}
int64_t Datatype::true_upper_bound() const {
  return displacement_ + node_->high;
}
int64_t Datatype::piece_count() const {
  return node_->pieces;
}
int Datatype::depth() const {
  return node_->depth;
}
bool Datatype::is_sorted() const {
  return node_->is_sorted;
}

bool Datatype::is_contiguous() const {
  return node_->pieces <= 1 && displacement_ == 0 && lower_bound_ == 0 && upper_bound_ == node_->size;
}

uint64_t Datatype::fingerprint() const {
  uint64_t hash = node_->fingerprint;
  for (int64_t value : {displacement_, lower_bound_, upper_bound_}) {
    hash = (hash ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

bool operator==(const Datatype& a, const Datatype& b) {
  return a.displacement_ == b.displacement_ && a.lower_bound_ == b.lower_bound_ && a.upper_bound_ == b.upper_bound_ &&
         datatype::equal_nodes(*a.node_, *b.node_);
}

}  // namespace stria
