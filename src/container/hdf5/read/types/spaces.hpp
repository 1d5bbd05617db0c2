// Shapes: the container's dimensions, and libhdf5's dataspaces.
#pragma once

#include <cstdint>
#include <vector>

#include "container/hdf5/read/libhdf5/library.hpp"

namespace stria::container::h5 {

/// Makes a dataspace of these dimensions; a scalar when there are none.
Result<Id> make_space(const std::vector<int64_t>& dims);

/// Returns the dimensions of a dataspace; {0} for a null dataspace. kUnsupported when one is 2^63
/// or more.
Result<std::vector<int64_t>> dims_of(hid_t space);
/// Tells whether the first dimension has no limit, and all others are as long as they may get.
bool is_extendable(hid_t space);

}  // namespace stria::container::h5
