#include "container/hdf5/form/hidden_content.hpp"

#include <algorithm>

namespace stria::container::h5 {

namespace {

constexpr const char* kMemberName = "stria";
// A type has at most 4 GiB, and programs read an element at once.
constexpr int64_t kMostContentBytes = int64_t{1} << 30;

}  // namespace

bool hides_content(const DatasetSpec& spec) {
  const auto bytes = dataset_bytes(spec);
  return spec.is_hidden && bytes.ok() && *bytes <= kMostContentBytes;
}

void fold_hidden(DatasetSpec& spec) {
  spec.is_hidden = hides_content(spec);
  if (!spec.is_hidden) {
    return;
  }
  const int64_t bytes = *dataset_bytes(spec);
  std::vector<ElementSpec::Member> members;
  members.push_back({.name = kMemberName, .offset_bytes = 0, .element = ElementSpec::of_number(ElementType::kUint64)});
  spec.element = ElementSpec::of_compound(kHiddenContentAt + bytes, std::move(members));
  spec.dims.clear();
  spec.data_offset -= spec.data_offset >= 0 ? kHiddenContentAt : 0;
}

std::vector<std::byte> with_hidden_head(std::span<const std::byte> content) {
  std::vector<std::byte> whole(static_cast<size_t>(kHiddenContentAt) + content.size());
  std::copy(content.begin(), content.end(), whole.begin() + kHiddenContentAt);
  return whole;
}

std::optional<int64_t> hidden_content_bytes(const ElementSpec& element, const std::vector<int64_t>& dims) {
  if (!dims.empty() || element.kind != ElementSpec::Kind::kCompound || element.members.size() != 1 ||
      element.bytes < kHiddenContentAt) {
    return std::nullopt;
  }
  const ElementSpec::Member& member = element.members[0];
  const bool is_head = member.name == kMemberName && member.offset_bytes == 0 &&
                       member.element.kind == ElementSpec::Kind::kNumber && member.element.number == ElementType::kUint64;
  return is_head ? std::optional<int64_t>(element.bytes - kHiddenContentAt) : std::nullopt;
}

}  // namespace stria::container::h5
