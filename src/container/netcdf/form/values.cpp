#include "container/netcdf/form/values.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "container/netcdf/form/names.hpp"
#include "datatype/convert/convert.hpp"

namespace stria::container::netcdf {

void turn(Type type, std::span<std::byte> values) {
  if (is_turned(type)) {
    const int64_t width = type_bytes(type);
    swap_elements(width, values.data(), values.data(), static_cast<int64_t>(values.size()) / width);
  }
}

Result<Attribute> attribute_of(const AttributeSpec& spec) {
  const std::string what = fmt::format("attribute '{}' of '{}'", spec.name, spec.object_path);
  STRIA_RETURN_IF_ERROR(check_name("attribute", spec.name));
  Attribute attribute{spec.name, Type::kChar, 0, spec.value};
  if (spec.element.kind == ElementSpec::Kind::kString) {
    if (!spec.dims.empty() && spec.dims != std::vector<int64_t>{1}) {
      return Status(ErrorCode::kUnsupported,
                    what + " is a list of strings; a classic netCDF file has attributes of one string");
    }
    // NULs at the end fill the string up.
    while (!attribute.bytes.empty() && attribute.bytes.back() == std::byte{0}) {
      attribute.bytes.pop_back();
    }
    attribute.count = static_cast<int64_t>(attribute.bytes.size());
    return attribute;
  }
  if (spec.element.kind != ElementSpec::Kind::kNumber) {
    return Status(ErrorCode::kUnsupported, what + " is neither numbers nor a string");
  }
  if (spec.dims.size() > 1 && spec.element.meaning != Meaning::kComplex) {
    return Status(ErrorCode::kUnsupported,
                  what + " is an array; a classic netCDF file has attributes of one number or a list of numbers");
  }
  attribute.type = type_of(spec.element.number);
  attribute.count = static_cast<int64_t>(spec.value.size()) / type_bytes(attribute.type);
  turn(attribute.type, attribute.bytes);
  return attribute;
}

}  // namespace stria::container::netcdf
