// Finds whether all ranks hold the same value, as part of a sum that they make anyway.
//
// Problem: comparing minimum and maximum costs another reduction, and a sum of values with weights
// that should cancel may do so by chance.
// Method: n numbers are equal just when n times the sum of their squares is the square of their sum
// (Cauchy-Schwarz). Both sums are made for each quarter of the value, 16 bits. This is exact for
// fewer than 2^17 ranks, since neither the sums nor the difference, below n^2 2^30, can pass 2^64.
// For more ranks, each quarter leaves a chance of one in 2^64.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace stria::file {

inline constexpr size_t kEqualityTerms = 8;

/// Returns what a rank adds to the sums.
inline std::array<int64_t, kEqualityTerms> equality_terms(uint64_t value) {
  std::array<int64_t, kEqualityTerms> terms{};
  for (size_t i = 0; i < kEqualityTerms; i += 2) {
    const auto quarter = static_cast<int64_t>(value >> (8 * i) & 0xffff);
    terms[i] = quarter;
    terms[i + 1] = quarter * quarter;
  }
  return terms;
}

/// Tells whether the values of `count` ranks were equal, from the sums of their terms.
inline bool all_equal(std::span<const int64_t, kEqualityTerms> sums, int count) {
  bool equal = true;
  for (size_t i = 0; i < kEqualityTerms; i += 2) {
    const auto sum = static_cast<uint64_t>(sums[i]);
    equal = equal && static_cast<uint64_t>(count) * static_cast<uint64_t>(sums[i + 1]) == sum * sum;
  }
  return equal;
}

}  // namespace stria::file
