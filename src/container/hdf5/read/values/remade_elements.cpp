#include "container/hdf5/read/values/remade_elements.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "container/hdf5/read/types/remade_types.hpp"
#include "container/hdf5/read/types/spaces.hpp"
#include "container/hdf5/read/values/values.hpp"

namespace stria::container::h5 {

namespace {

using Kind = ElementSpec::Kind;

constexpr int64_t kBatchElements = 1 << 16;
// A damaged header may claim any number of records, which all have to be looked at.
constexpr int64_t kElementsMax = 1 << 24;

/// Elements as libhdf5 gives them; their texts go back to it at the end.
class LentElements {
 public:
  LentElements(Id type, Id space, int64_t count, size_t element_bytes)
      : type_(std::move(type)), space_(std::move(space)), bytes_(static_cast<size_t>(count) * element_bytes) {}
  ~LentElements() {
    if (is_read_) {
      H5Dvlen_reclaim(type_.get(), space_.get(), H5P_DEFAULT, bytes_.data());
    }
  }
  LentElements(LentElements&&) = delete;

  Status read(hid_t dataset, hid_t selection) {
    is_read_ = true;  // an error may come after some texts
    return H5Dread(dataset, type_.get(), space_.get(), selection, H5P_DEFAULT, bytes_.data()) < 0
               ? last_error(ErrorCode::kCorrupted, "cannot be read")
               : Status();
  }
  const std::byte* data() const { return bytes_.data(); }

 private:
  Id type_, space_;
  std::vector<std::byte> bytes_;
  bool is_read_ = false;
};

Result<std::unique_ptr<LentElements>> read_elements(hid_t dataset, const ElementSpec& element, const Selection& selection) {
  const size_t element_bytes = bytes_in_memory(element);
  if (element_bytes == 0) {
    return Status(ErrorCode::kUnsupported, "its elements have variable length or refer to other places");
  }
  const Id stored(H5Dget_type(dataset));
  STRIA_ASSIGN_OR_RETURN(Id type, remade_type(stored.get(), element));
  STRIA_ASSIGN_OR_RETURN(Id space, make_space({selection.elements}));
  auto elements = std::make_unique<LentElements>(std::move(type), std::move(space), selection.elements, element_bytes);
  STRIA_RETURN_IF_ERROR(elements->read(dataset, selection.space.get()));
  return elements;
}

const char* text_at(const std::byte* from) {
  const char* text = nullptr;
  std::memcpy(&text, from, sizeof text);
  return text == nullptr ? "" : text;
}

/// Calls `each` with the spec and the places in memory and outside of every value of an element.
/// The element is laid out.
template <typename Spec, typename Each>
void walk(Spec& element, const std::byte* from, std::byte* to, const Each& each) {
  if (element.kind != Kind::kCompound && element.kind != Kind::kArray) {
    if (is_read(element)) {
      each(element, from, to);
    }
    return;
  }
  for (int64_t i = 0; i < element.array_size(); ++i) {
    for (auto& member : element.members) {
      walk(member.element, from, to, each);
      from += bytes_in_memory(member.element);
      to += member.element.bytes;
    }
  }
}

bool has_texts(const ElementSpec& element) {
  return element.varies || std::any_of(element.members.begin(), element.members.end(),
                                       [](const ElementSpec::Member& member) { return has_texts(member.element); });
}

// The longest text so far is kept in the spec, which `walk` then doesn't follow outside.
void note_longest(ElementSpec& element, const std::byte* from) {
  std::byte nowhere{};
  walk(element, from, &nowhere, [](ElementSpec& value, const std::byte* at, const std::byte*) {
    if (value.varies) {
      value.bytes = std::max(value.bytes, static_cast<int64_t>(std::strlen(text_at(at))));
    }
  });
}

void set_least(ElementSpec& element) {
  element.bytes = element.varies ? std::max<int64_t>(element.bytes, 1) : element.bytes;
  for (ElementSpec::Member& member : element.members) {
    set_least(member.element);
  }
}

/// Returns the texts of an element, without what else it has.
ElementSpec texts_of(const ElementSpec& element) {
  ElementSpec texts = element;
  if (!has_texts(element)) {
    texts.kind = Kind::kOther;
    texts.members.clear();
    texts.array_dims.clear();
  }
  for (ElementSpec::Member& member : texts.members) {
    member.element = texts_of(member.element);
  }
  return texts;
}

void take_lengths(const ElementSpec& texts, ElementSpec& element) {
  element.bytes = element.varies ? texts.bytes : element.bytes;
  for (size_t i = 0; i < std::min(texts.members.size(), element.members.size()); ++i) {
    take_lengths(texts.members[i].element, element.members[i].element);
  }
}

}  // namespace

// Reads some rows of the first dimension at a time.
Status measure_texts(hid_t dataset, ElementSpec& element) {
  if (element.kind != Kind::kCompound || !has_texts(element)) {
    return Status();
  }
  const Id space(H5Dget_space(dataset));
  STRIA_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, dims_of(space.get()));
  std::vector<int64_t> start(dims.size(), 0), count = dims;
  const int64_t rows = dims.empty() ? 1 : dims[0];
  const int64_t elements = std::max<int64_t>(H5Sget_simple_extent_npoints(space.get()), 0);
  if (elements > kElementsMax) {
    return Status(ErrorCode::kUnsupported,
                  "it has text of any length in more than " + std::to_string(kElementsMax) + " records");
  }
  const int64_t batch = std::max<int64_t>(kBatchElements / std::max<int64_t>(elements / std::max<int64_t>(rows, 1), 1), 1);
  ElementSpec texts = texts_of(element);
  for (int64_t row = 0; elements > 0 && row < rows; row += batch) {
    if (!dims.empty()) {
      start[0] = row;
      count[0] = std::min(batch, rows - row);
    }
    STRIA_ASSIGN_OR_RETURN(const Selection selection, selected(dataset, start, count));
    STRIA_ASSIGN_OR_RETURN(const auto read, read_elements(dataset, texts, selection));
    for (int64_t i = 0; i < selection.elements; ++i) {
      note_longest(texts, read->data() + static_cast<size_t>(i) * bytes_in_memory(texts));
    }
  }
  take_lengths(texts, element);
  set_least(element);
  lay_out(element);
  return Status();
}

Status read_remade(hid_t dataset, const ElementSpec& element, std::span<const int64_t> start, std::span<const int64_t> count,
                   std::span<std::byte> out) {
  STRIA_ASSIGN_OR_RETURN(const Selection selection, selected(dataset, start, count));
  if (static_cast<int64_t>(out.size()) != selection.elements * element.bytes) {
    return Status(ErrorCode::kInvalidArgument, "the buffer has " + std::to_string(out.size()) + " bytes for " +
                                                   std::to_string(selection.elements) + " elements of " +
                                                   std::to_string(element.bytes));
  }
  if (selection.elements == 0) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const auto read, read_elements(dataset, element, selection));
  const size_t from_bytes = bytes_in_memory(element);
  bool fits = true;
  for (int64_t i = 0; i < selection.elements; ++i) {
    walk(element, read->data() + static_cast<size_t>(i) * from_bytes, out.data() + i * element.bytes,
         [&](const ElementSpec& value, const std::byte* from, std::byte* to) {
           const auto room = static_cast<size_t>(value.bytes);
           const char* const text = value.varies ? text_at(from) : nullptr;
           const size_t length = value.varies ? std::strlen(text) : room;
           fits = fits && length <= room;
           std::memset(to, 0, room);
           std::memcpy(to, value.varies ? static_cast<const void*>(text) : from, std::min(length, room));
         });
  }
  const Id stored(H5Dget_type(dataset));
  extend_bits(kept_bits(stored.get(), element), element.bytes, out);
  return fits ? Status() : Status(ErrorCode::kInvalidArgument, "a text is longer than when the file was opened");
}

}  // namespace stria::container::h5
