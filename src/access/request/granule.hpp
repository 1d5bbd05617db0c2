// The granule of streams is the largest power of two that divides the place and the size
// of every piece.
#pragma once

#include <cstdint>

#include "access/request/request.hpp"

namespace stria::access {

inline constexpr int64_t kLargestGranuleBytes = 64;

/// Returns the bits that tell a stream's granule. Those of several streams and ranks are combined
/// by "or". O(description).
uint64_t granule_bits(const Stream& stream);

/// Returns the granule that such bits stand for, from 1 to kLargestGranuleBytes.
int64_t granule_of(uint64_t bits);

}  // namespace stria::access
