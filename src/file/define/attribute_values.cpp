#include "file/define/attribute_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "datatype/convert/convert.hpp"
#include "datatype/convert/half.hpp"

namespace stria::file {

namespace {

std::vector<float> widen_halves(std::span<const std::byte> halves) {
  std::vector<float> wider(halves.size() / sizeof(uint16_t));
  for (size_t i = 0; i < wider.size(); ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, halves.data() + i * sizeof bits, sizeof bits);
    wider[i] = widen_half(bits);
  }
  return wider;
}

Status check_numbers(const container::AttributeSpec& attribute) {
  if (attribute.element.kind == container::ElementSpec::Kind::kNumber) {
    return Status();
  }
  return Status(ErrorCode::kInvalidArgument, fmt::format("attribute '{}' of '{}' is {}, not a number", attribute.name,
                                                         attribute.object_path, type_name_of(attribute.element)));
}

}  // namespace

Result<std::vector<std::byte>> numbers_of(const container::AttributeSpec& attribute, ElementType wanted) {
  STRIA_RETURN_IF_ERROR(check_numbers(attribute));
  const int64_t count = static_cast<int64_t>(attribute.value.size()) / attribute.element.bytes;
  std::vector<std::byte> numbers(static_cast<size_t>(count * element_bytes(wanted)));
  if (attribute.element.meaning == Meaning::kHalf) {
    const std::vector<float> wider = widen_halves(attribute.value);
    convert_elements(ElementType::kFloat32, std::as_bytes(std::span(wider)).data(), wanted, numbers.data(), count);
    return numbers;
  }
  convert_elements(attribute.element.number, attribute.value.data(), wanted, numbers.data(), count);
  return numbers;
}

// Takes no memory, because otherwise one rank could fail alone.
Result<double> number_of(const container::AttributeSpec& attribute) {
  STRIA_RETURN_IF_ERROR(check_numbers(attribute));
  if (static_cast<int64_t>(attribute.value.size()) != attribute.element.bytes) {
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("attribute '{}' of '{}' is not one number but a list", attribute.name, attribute.object_path));
  }
  double number = 0;
  convert_elements(attribute.element.number, attribute.value.data(), ElementType::kFloat64,
                   reinterpret_cast<std::byte*>(&number), 1);
  return number;
}

namespace {

std::string number_name_of(const container::ElementSpec& element) {
  switch (element.meaning) {
    case Meaning::kBoolean:
      return "bool";
    case Meaning::kHalf:
      return "float16";
    case Meaning::kComplex:
      return element.number == ElementType::kFloat32 ? "complex64" : "complex128";
    default:
      return element_type_name(element.number);
  }
}

}  // namespace

std::string type_name_of(const container::ElementSpec& element) {
  using Kind = container::ElementSpec::Kind;
  switch (element.kind) {
    case Kind::kNumber:
      return number_name_of(element) + (element.big_endian ? " big-endian" : "");
    case Kind::kReference:
      return "reference";
    case Kind::kString:
      return fmt::format("string[{}]", element.bytes);
    case Kind::kCompound:
      return fmt::format("record[{}]", element.bytes);
    case Kind::kArray:
      return fmt::format("{} array of {{{}}}", type_name_of(element.members[0].element), fmt::join(element.array_dims, ", "));
    default:
      return fmt::format("other[{}]", element.bytes);
  }
}

}  // namespace stria::file
