#include "file/move/record_conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "datatype/convert/convert.hpp"
#include "datatype/convert/half.hpp"
#include "file/define/attribute_values.hpp"
#include "file/move/record_places.hpp"

namespace stria::file {

namespace {

using container::ElementSpec;
using Kind = ElementSpec::Kind;

constexpr int64_t kBatchBytes = 128 << 10;

Status invalid(const std::string& path, const std::string& why) {
  return Status(ErrorCode::kInvalidArgument, fmt::format("its column '{}' {}", path, why));
}

/// Whether the values are of half precision and go to or come from numbers. An integer of two bytes
/// takes their bits.
bool is_converted_as_half(const ElementSpec& element, const ElementSpec& other) {
  const bool are_bits = other.meaning != Meaning::kHalf && other.number == ElementType::kUint16;
  return element.meaning == Meaning::kHalf && !are_bits;
}

bool are_same_numbers(const ElementSpec& from, const ElementSpec& to) {
  return from.number == to.number && (from.meaning == Meaning::kHalf) == (to.meaning == Meaning::kHalf);
}

Status check_pair(const RecordPlace& from, const RecordPlace& to, bool to_file) {
  const ElementSpec& of_file = to_file ? *to.element : *from.element;
  const ElementSpec& of_memory = to_file ? *from.element : *to.element;
  const std::string& path = to.path;
  if (of_file.kind != Kind::kNumber && of_file.kind != Kind::kString) {
    return Status(ErrorCode::kUnsupported,
                  fmt::format("its column '{}' is of a type that Stria doesn't move ({})", path, type_name_of(of_file)));
  }
  if (to_file && of_file.varies) {
    return Status(ErrorCode::kUnsupported,
                  fmt::format("its column '{}' has text of any length, which is read but not put", path));
  }
  if (from.dims != to.dims) {
    return invalid(path,
                   fmt::format("is an array of {{{}}} and of {{{}}}", fmt::join(from.dims, ", "), fmt::join(to.dims, ", ")));
  }
  const bool are_bytes = from.element->number == ElementType::kByte || to.element->number == ElementType::kByte;
  const bool are_numbers = of_file.kind == Kind::kNumber && of_memory.kind == Kind::kNumber;
  const bool fits = of_file.kind == of_memory.kind && !(are_numbers && are_bytes && from.element->number != to.element->number);
  if (!fits) {
    return invalid(path, fmt::format("is {} in the file, and {} in memory", type_name_of(of_file), type_name_of(of_memory)));
  }
  if (!to_file && of_file.kind == Kind::kString && of_memory.bytes < of_file.bytes) {
    return invalid(path, fmt::format("has strings of {} bytes, and memory only room for {}", of_file.bytes, of_memory.bytes));
  }
  return Status();
}

ElementSpec without_names(const ElementSpec& element) {
  ElementSpec bare = element;
  bare.enumeration.clear();
  return bare;
}

bool is_copied(const ElementSpec& from, const ElementSpec& to) {
  if (from.kind == Kind::kString) {
    return from.bytes == to.bytes;
  }
  const bool same = are_same_numbers(from, to) ||
                    (from.number == to.number && !is_converted_as_half(from, to) && !is_converted_as_half(to, from));
  return same && from.is_swapped() == to.is_swapped();
}

/// The rest of a string is filled with what its type says.
std::byte filler_of(const ElementSpec& element) {
  return element.space_padded ? std::byte{' '} : std::byte{0};
}

void swap_in_place(const ElementSpec& element, std::vector<std::byte>& numbers, int64_t count) {
  if (element.is_swapped()) {
    swap_elements(element.bytes, numbers.data(), numbers.data(), count);
  }
}

template <typename Number>
Number load(const std::byte* from) {
  Number value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::vector<std::byte> widened(const std::vector<std::byte>& halves, int64_t count) {
  std::vector<std::byte> wide(static_cast<size_t>(count) * sizeof(float));
  for (int64_t i = 0; i < count; ++i) {
    const float number = widen_half(load<uint16_t>(halves.data() + i * static_cast<int64_t>(sizeof(uint16_t))));
    std::memcpy(wide.data() + i * static_cast<int64_t>(sizeof number), &number, sizeof number);
  }
  return wide;
}

std::vector<std::byte> narrowed(const std::vector<std::byte>& doubles, int64_t count) {
  std::vector<std::byte> halves(static_cast<size_t>(count) * sizeof(uint16_t));
  for (int64_t i = 0; i < count; ++i) {
    const uint16_t bits = narrow_to_half(load<double>(doubles.data() + i * static_cast<int64_t>(sizeof(double))));
    std::memcpy(halves.data() + i * static_cast<int64_t>(sizeof bits), &bits, sizeof bits);
  }
  return halves;
}

std::vector<std::byte> converted(ElementType from, const std::vector<std::byte>& numbers, ElementType to, int64_t count) {
  std::vector<std::byte> result(static_cast<size_t>(count * element_bytes(to)));
  convert_elements(from, numbers.data(), to, result.data(), count);
  return result;
}

/// Returns numbers in the machine's byte order, of one type and of another.
std::vector<std::byte> as_numbers_of(const ElementSpec& to, const ElementSpec& from, std::vector<std::byte> numbers,
                                     int64_t count) {
  ElementType now = from.number;
  if (is_converted_as_half(from, to)) {
    numbers = widened(numbers, count);
    now = ElementType::kFloat32;
  }
  if (is_converted_as_half(to, from)) {
    return narrowed(converted(now, numbers, ElementType::kFloat64, count), count);
  }
  return now == to.number ? numbers : converted(now, numbers, to.number, count);
}

}  // namespace

Result<RecordConversion> RecordConversion::match(const ElementSpec& from, const ElementSpec& to, bool to_file) {
  STRIA_ASSIGN_OR_RETURN(const RecordPlaces sources, RecordPlaces::create(from));
  STRIA_ASSIGN_OR_RETURN(const RecordPlaces targets, RecordPlaces::create(to));
  RecordConversion conversion;
  conversion.from_bytes_ = from.bytes;
  conversion.to_bytes_ = to.bytes;
  const RecordPlaces& of_file = to_file ? targets : sources;
  for (const RecordPlace& place : (to_file ? sources : targets).all()) {
    auto found = of_file.find(place.path);
    found = found ? found : of_file.find(unquoted_name(place.path));
    if (!found) {
      return Status(ErrorCode::kInvalidArgument,
                    fmt::format("it has no column '{}', which the memory has", unquoted_name(place.path)));
    }
    const RecordPlace& source = to_file ? place : *found;
    const RecordPlace& target = to_file ? *found : place;
    STRIA_RETURN_IF_ERROR(check_pair(source, target, to_file));
    conversion.steps_.push_back({.from_offset = source.offset_bytes,
                                 .to_offset = target.offset_bytes,
                                 .count = source.count,
                                 .from = without_names(*source.element),
                                 .to = without_names(*target.element),
                                 .is_copy = is_copied(*source.element, *target.element),
                                 .path = target.path});
  }
  std::stable_sort(conversion.steps_.begin(), conversion.steps_.end(),
                   [](const Step& a, const Step& b) { return a.to_offset < b.to_offset; });
  return conversion;
}

// \pre the steps go by their places in the file
//
// Records that are put need every column of the file; those that are got take what they want.
Status RecordConversion::require_all(const ElementSpec& file) const {
  STRIA_ASSERT(
      std::is_sorted(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) { return a.to_offset < b.to_offset; }));
  STRIA_ASSIGN_OR_RETURN(const RecordPlaces places, RecordPlaces::create(file));
  const auto twice = std::adjacent_find(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
    return a.to_offset + a.count * a.to.bytes > b.to_offset;
  });
  if (twice != steps_.end()) {
    return invalid(twice->path, "is put by two columns of the memory");
  }
  auto step = steps_.begin();
  for (const RecordPlace& place : places.all()) {
    int64_t end = place.offset_bytes;
    const int64_t wanted = end + place.count * place.element->bytes;
    for (; step != steps_.end() && step->to_offset == end && end < wanted; ++step) {
      end += step->count * step->to.bytes;
    }
    if (end != wanted) {
      return invalid(place.path, "is put by no column of the memory; records are put whole");
    }
  }
  return Status();
}

void RecordConversion::join_copies() {
  std::vector<Step> joined;
  for (Step& step : steps_) {
    const int64_t bytes = step.count * step.from.bytes;
    if (step.is_copy && !joined.empty() && joined.back().is_copy) {
      Step& last = joined.back();
      const int64_t last_bytes = last.count * last.from.bytes;
      if (last.from_offset + last_bytes == step.from_offset && last.to_offset + last_bytes == step.to_offset) {
        last.from = last.to = ElementSpec::of_number(ElementType::kByte);
        last.count = last_bytes + bytes;
        continue;
      }
    }
    joined.push_back(std::move(step));
  }
  steps_ = std::move(joined);
}

Result<RecordConversion> RecordConversion::to_file(const ElementSpec& memory, const ElementSpec& file) {
  STRIA_ASSIGN_OR_RETURN(RecordConversion conversion, match(memory, file, true));
  STRIA_RETURN_IF_ERROR(conversion.require_all(file));
  conversion.join_copies();
  return conversion;
}

Result<RecordConversion> RecordConversion::from_file(const ElementSpec& file, const ElementSpec& memory) {
  STRIA_ASSIGN_OR_RETURN(RecordConversion conversion, match(file, memory, false));
  conversion.join_copies();
  return conversion;
}

// All bytes are copied first: those between members, and of types that aren't known, go along.
Result<RecordConversion> RecordConversion::turning(const ElementSpec& file) {
  STRIA_ASSIGN_OR_RETURN(const RecordPlaces places, RecordPlaces::create(file));
  RecordConversion conversion;
  conversion.from_bytes_ = conversion.to_bytes_ = file.bytes;
  const ElementSpec bytes = ElementSpec::of_number(ElementType::kByte);
  conversion.steps_.push_back({.count = file.bytes, .from = bytes, .to = bytes, .is_copy = true});
  for (const RecordPlace& place : places.all()) {
    if (place.element->is_swapped()) {
      ElementSpec native = without_names(*place.element);
      native.big_endian = !native.big_endian;
      conversion.steps_.push_back({.from_offset = place.offset_bytes,
                                   .to_offset = place.offset_bytes,
                                   .count = place.count,
                                   .from = without_names(*place.element),
                                   .to = native});
    }
  }
  return conversion;
}

bool RecordConversion::is_identity() const {
  return from_bytes_ == to_bytes_ && steps_.size() == 1 && steps_[0].is_copy && steps_[0].from_offset == 0 &&
         steps_[0].to_offset == 0 && steps_[0].count * steps_[0].from.bytes == to_bytes_;
}

Status RecordConversion::convert(std::span<const std::byte> from, std::span<std::byte> to) const {
  const int64_t rows = to_bytes_ == 0 ? 0 : static_cast<int64_t>(to.size()) / to_bytes_;
  STRIA_CHECK(static_cast<int64_t>(from.size()) >= rows * from_bytes_);
  std::fill(to.begin(), to.end(), std::byte{0});
  const int64_t batch_rows = std::max<int64_t>(kBatchBytes / std::max<int64_t>(from_bytes_ + to_bytes_, 1), 1);
  std::vector<std::byte> room;
  for (int64_t row = 0; row < rows; row += batch_rows) {
    const Batch batch{from.data() + row * from_bytes_, to.data() + row * to_bytes_, std::min(batch_rows, rows - row)};
    for (const Step& step : steps_) {
      STRIA_RETURN_IF_ERROR(run(step, batch, room));
    }
  }
  return Status();
}

Status RecordConversion::run(const Step& step, const Batch& batch, std::vector<std::byte>& room) const {
  if (step.is_copy) {
    copy(step, batch);
    return Status();
  }
  if (step.from.kind == Kind::kString) {
    return copy_strings(step, batch);
  }
  convert_numbers(step, batch, room);
  return Status();
}

void RecordConversion::copy(const Step& step, const Batch& batch) const {
  const auto bytes = static_cast<size_t>(step.count * step.from.bytes);
  for (int64_t row = 0; row < batch.rows; ++row) {
    std::memcpy(batch.to + row * to_bytes_ + step.to_offset, batch.from + row * from_bytes_ + step.from_offset, bytes);
  }
}

// NULs at the end of a string are no part of it.
Status RecordConversion::copy_strings(const Step& step, const Batch& batch) const {
  for (int64_t i = 0; i < batch.rows * step.count; ++i) {
    const int64_t row = i / step.count;
    const int64_t within = i % step.count;
    const std::byte* const from = batch.from + row * from_bytes_ + step.from_offset + within * step.from.bytes;
    std::byte* const to = batch.to + row * to_bytes_ + step.to_offset + within * step.to.bytes;
    int64_t length = step.from.bytes;
    while (length > 0 && from[length - 1] == std::byte{0}) {
      --length;
    }
    if (length > step.to.bytes) {
      return invalid(step.path, fmt::format("has strings of {} bytes, and one that is put has {}", step.to.bytes, length));
    }
    std::copy_n(from, length, to);
    std::fill(to + length, to + step.to.bytes, filler_of(step.to));
  }
  return Status();
}

// Gathers the numbers of all rows, converts them at once, and scatters them.
void RecordConversion::convert_numbers(const Step& step, const Batch& batch, std::vector<std::byte>& room) const {
  const int64_t count = batch.rows * step.count;
  const auto from_bytes = static_cast<size_t>(step.count * step.from.bytes);
  const auto to_bytes = static_cast<size_t>(step.count * step.to.bytes);
  room.resize(static_cast<size_t>(batch.rows) * from_bytes);
  for (int64_t row = 0; row < batch.rows; ++row) {
    std::memcpy(room.data() + static_cast<size_t>(row) * from_bytes, batch.from + row * from_bytes_ + step.from_offset,
                from_bytes);
  }
  swap_in_place(step.from, room, count);
  room = as_numbers_of(step.to, step.from, std::move(room), count);
  swap_in_place(step.to, room, count);
  for (int64_t row = 0; row < batch.rows; ++row) {
    std::memcpy(batch.to + row * to_bytes_ + step.to_offset, room.data() + static_cast<size_t>(row) * to_bytes, to_bytes);
  }
}

}  // namespace stria::file
