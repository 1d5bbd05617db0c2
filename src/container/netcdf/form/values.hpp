// Values of attributes and tables, as a classic netCDF file has them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "container/netcdf/form/header.hpp"

namespace stria::container::netcdf {

/// kUnsupported or kInvalidArgument, with the attribute's name and its object's, for what can't
/// be an attribute: a list of strings, a record, another name.
Result<Attribute> attribute_of(const AttributeSpec& spec);

/// Turns the machine's numbers into the file's, or back.
void turn(Type type, std::span<std::byte> values);

}  // namespace stria::container::netcdf
