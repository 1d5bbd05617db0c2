// Values of attributes and names of types, in the form of the public interface.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "container/spec.hpp"
#include "stria/element_type.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Returns the numbers of an attribute, converted. kInvalidArgument when it has none.
Result<std::vector<std::byte>> numbers_of(const container::AttributeSpec& attribute, ElementType wanted);
/// Returns the one number of an attribute. kInvalidArgument when it isn't one.
Result<double> number_of(const container::AttributeSpec& attribute);

/// Returns the name of an element's type in the public interface.
std::string type_name_of(const container::ElementSpec& element);

}  // namespace stria::file
