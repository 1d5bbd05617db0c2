// Shapes: dimensions as the container has them, and libhdf5's dataspaces.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "container/hdf5/library.hpp"

namespace stria::container::h5 {

/// Sets `*bytes` to product(dims) * element_bytes. kInvalidArgument when a dimension is negative, there are too many of them,
/// or the product doesn't fit into 63 bits.
Status total_bytes(std::span<const int64_t> dims, int64_t element_bytes, int64_t* bytes);

/// A dataspace of these dimensions; a scalar without any.
Result<Id> make_space(const std::vector<int64_t>& dims);

/// The dimensions of a dataspace; {0} for a null dataspace. kUnsupported when one is 2^63 or more.
Result<std::vector<int64_t>> dims_of(hid_t space);

}  // namespace stria::container::h5
