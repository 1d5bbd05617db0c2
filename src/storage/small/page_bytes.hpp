// Describes how large the pages are that the ranks of a node share.
#pragma once

#include <cstdint>
#include <numeric>

namespace stria::storage {

/// The pages of a table lie at multiples of this.
inline constexpr int64_t kPageAlignBytes = 4 << 10;

/// Returns what divides stripes of so many bytes (0: not known) and is a multiple of
/// kPageAlignBytes, at most 64 KiB, which it is where nothing divides them.
inline int64_t shared_page_bytes(int64_t stripe_bytes) {
  constexpr int64_t kUsualBytes = 64 << 10;
  const int64_t dividing = stripe_bytes > 0 ? std::gcd(stripe_bytes, kUsualBytes) : kUsualBytes;
  return dividing >= kPageAlignBytes ? dividing : kUsualBytes;
}

}  // namespace stria::storage
