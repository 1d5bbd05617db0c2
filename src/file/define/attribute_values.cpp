#include "file/define/attribute_values.hpp"

#include <fmt/format.h>

#include "datatype/convert.hpp"

namespace stria::file {

namespace {

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

std::string type_name_of(const container::ElementSpec& element) {
  using Kind = container::ElementSpec::Kind;
  switch (element.kind) {
    case Kind::kNumber:
      return std::string(element_type_name(element.number)) + (element.big_endian ? " big-endian" : "");
    case Kind::kString:
      return fmt::format("string[{}]", element.bytes);
    case Kind::kCompound:
      return fmt::format("record[{}]", element.bytes);
    default:
      return fmt::format("other[{}]", element.bytes);
  }
}

}  // namespace stria::file
