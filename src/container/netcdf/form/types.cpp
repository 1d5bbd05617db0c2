#include "container/netcdf/form/types.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <utility>

#include "base/check.hpp"
#include "container/netcdf/form/names.hpp"

namespace stria::container::netcdf {

namespace {

struct Row {
  Type type;
  ElementType number;
  int64_t bytes;
};

// The rows stand in the order of the types.
constexpr std::array<Row, kLastType> kRows = {{
    {Type::kByte, ElementType::kInt8, 1},
    {Type::kChar, ElementType::kByte, 1},
    {Type::kShort, ElementType::kInt16, 2},
    {Type::kInt, ElementType::kInt32, 4},
    {Type::kFloat, ElementType::kFloat32, 4},
    {Type::kDouble, ElementType::kFloat64, 8},
    {Type::kUbyte, ElementType::kUint8, 1},
    {Type::kUshort, ElementType::kUint16, 2},
    {Type::kUint, ElementType::kUint32, 4},
    {Type::kInt64, ElementType::kInt64, 8},
    {Type::kUint64, ElementType::kUint64, 8},
}};

const Row& row_of(Type type) {
  return kRows[static_cast<size_t>(type) - 1];
}

// Returns what the numbers of the library's own tables are. They are stored as bytes, so that every
// version of the format holds them.
ElementType own_number(const std::string& path) {
  return path == kOwnPrefix + "placement"s ? ElementType::kInt64
         : path == kOwnPrefix + "slabs"s   ? ElementType::kUint8
                                           : ElementType::kUint64;
}

}  // namespace

int64_t type_bytes(Type type) {
  return row_of(type).bytes;
}

Type type_of(ElementType number) {
  if (number == ElementType::kByte) {
    return Type::kByte;
  }
  for (const Row& row : kRows) {
    if (row.number == number) {
      return row.type;
    }
  }
  return Type::kByte;
}

ElementSpec element_of(Type type) {
  STRIA_ASSERT(type != Type::kChar);
  ElementSpec element = ElementSpec::of_number(row_of(type).number);
  element.big_endian = element.bytes > 1;
  return element;
}

Result<Shape> shape_of(const DatasetSpec& spec) {
  Shape shape{Type::kChar, spec.dims};
  if (spec.element.kind == ElementSpec::Kind::kString) {
    shape.lengths.push_back(spec.element.bytes);
    return shape;
  }
  if (spec.element.kind != ElementSpec::Kind::kNumber) {
    return Status(ErrorCode::kUnsupported,
                  fmt::format("'{}': a classic netCDF file holds numbers and strings, no records of several columns; make a "
                              "dataset of each column, or attributes",
                              spec.path));
  }
  if (is_own(spec.path)) {
    shape.type = Type::kByte;
    if (spec.element.bytes > 1) {
      shape.lengths.push_back(spec.element.bytes);
    }
    return shape;
  }
  shape.type = type_of(spec.element.number);
  return shape;
}

void describe_shape(const Shape& shape, DatasetSpec& spec) {
  STRIA_ASSERT(!spec.path.empty());
  spec.dims = shape.lengths;
  if (shape.type == Type::kChar) {
    spec.element = ElementSpec::of_string(spec.dims.empty() ? 1 : spec.dims.back(), false);
    if (!spec.dims.empty()) {
      spec.dims.pop_back();
    }
    return;
  }
  spec.element = element_of(shape.type);
  if (!is_own(spec.path) || shape.type != Type::kByte) {
    return;
  }
  const ElementSpec own = ElementSpec::of_number(own_number(spec.path));
  if (own.bytes == 1) {
    spec.element = own;
  } else if (!spec.dims.empty() && spec.dims.back() == own.bytes) {
    spec.element = own;
    spec.dims.pop_back();
  }
}

bool is_turned(Type type) {
  return type_bytes(type) > 1 && std::endian::native == std::endian::little;
}

}  // namespace stria::container::netcdf
