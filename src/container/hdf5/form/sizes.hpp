// Sizes that both the writer and the reader of HDF5 need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stria/status.hpp"

namespace stria::container::h5 {

/// A superblock of version 2, at the beginning of the file.
inline constexpr int64_t kSuperblockBytes = 48;
inline constexpr size_t kMostDimensions = 32;

/// Sets `*bytes` to product(dims) * element_bytes. kInvalidArgument when a dimension is negative,
/// there are too many of them, or the product doesn't fit into 63 bits.
Status total_bytes(std::span<const int64_t> dims, int64_t element_bytes, int64_t* bytes);

}  // namespace stria::container::h5
