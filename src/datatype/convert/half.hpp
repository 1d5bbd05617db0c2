// IEEE half precision: numbers of which the engine has the bits.
#pragma once

#include <cstdint>

namespace stria {

/// Returns the number that the bits are, exactly.
float widen_half(uint16_t bits);

/// Returns the bits of the nearest number of half precision, the even one of two; infinity from
/// 65,520 on.
uint16_t narrow_to_half(double value);

}  // namespace stria
