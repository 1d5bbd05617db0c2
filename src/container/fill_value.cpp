#include "container/fill_value.hpp"

#include <algorithm>
#include <string>

#include "datatype/convert/convert.hpp"

namespace stria::container {

void lay_fill_value(std::span<const std::byte> value, std::span<std::byte> out) {
  if (value.empty()) {
    std::fill(out.begin(), out.end(), std::byte{0});
    return;
  }
  // What is there is copied behind itself, twice as much each time.
  size_t done = std::min(value.size(), out.size());
  std::copy_n(value.begin(), done, out.begin());
  while (done < out.size()) {
    const size_t more = std::min(done, out.size() - done);
    std::copy_n(out.begin(), more, out.begin() + static_cast<std::ptrdiff_t>(done));
    done += more;
  }
}

Result<std::vector<std::byte>> fill_value_as(const ElementSpec& element, const FillValue& value) {
  const bool is_bits = element.meaning == Meaning::kHalf;
  if (is_bits && value.element != ElementType::kUint16) {
    return Status(ErrorCode::kUnsupported, "a fill value of half precision is given by its bits, as an unsigned 16-bit number");
  }
  const ElementType stored = element.number == ElementType::kByte ? ElementType::kUint8 : element.number;
  const int64_t parts = element.meaning == Meaning::kComplex ? 2 : 1;
  std::vector<std::byte> bytes(static_cast<size_t>(parts * element_bytes(stored)));
  convert_elements(value.element, value.bytes.data(), stored, bytes.data(), parts);
  FillValue back = value;
  std::fill(back.bytes.begin() + parts * element_bytes(value.element), back.bytes.end(), std::byte{0});
  if (stored != ElementType::kFloat32 && stored != ElementType::kFloat64) {
    convert_elements(stored, bytes.data(), value.element, back.bytes.data(), parts);
  }
  if (back.bytes != value.bytes) {
    return Status(ErrorCode::kInvalidArgument,
                  "its type, " + std::string(element_type_name(element.number)) + ", can't hold the fill value");
  }
  return bytes;
}

FillValue fill_value_of(const DatasetSpec& spec) {
  FillValue value;
  if (spec.element.kind != ElementSpec::Kind::kNumber || spec.fill_value.empty()) {
    return value;
  }
  value.is_given = true;
  value.element = spec.element.number;
  const int64_t width = element_bytes(spec.element.number);
  std::copy_n(spec.fill_value.begin(), std::min<size_t>(static_cast<size_t>(width), spec.fill_value.size()),
              value.bytes.begin());
  if (spec.element.is_swapped()) {
    swap_elements(width, value.bytes.data(), value.bytes.data(), 1);
  }
  return value;
}

}  // namespace stria::container
