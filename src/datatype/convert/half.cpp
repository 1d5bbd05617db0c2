#include "datatype/convert/half.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stria {

namespace {

constexpr int kBias = 15;
constexpr int kMantissaBits = 10;
constexpr int kLeadingOne = 1 << kMantissaBits;
constexpr uint16_t kSign = 0x8000, kInfinity = 0x7c00, kNotANumber = 0x7e00;
constexpr double kBeyond = 65520;  // halfway from the largest number to the next power of two

}  // namespace

float widen_half(uint16_t bits) {
  const float sign = (bits & kSign) != 0 ? -1.0f : 1.0f;
  const int exponent = (bits >> kMantissaBits) & 0x1f;
  const int mantissa = bits & (kLeadingOne - 1);
  if (exponent == 0x1f) {
    return mantissa == 0 ? sign * std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  }
  const auto with_leading = static_cast<float>(exponent == 0 ? mantissa : mantissa + kLeadingOne);
  return sign * std::ldexp(with_leading, std::max(exponent, 1) - kBias - kMantissaBits);
}

// nearbyint() takes the even one of two. A mantissa that it rounds up to the next power of two
// carries into the exponent.
uint16_t narrow_to_half(double value) {
  const uint16_t sign = std::signbit(value) ? kSign : 0;
  const double size = std::fabs(value);
  if (std::isnan(value)) {
    return sign | kNotANumber;
  }
  if (size >= kBeyond) {
    return sign | kInfinity;
  }
  if (size == 0) {
    return sign;
  }
  int exponent = 0;
  std::frexp(size, &exponent);  // size is in [0.5, 1) * 2^exponent
  const int biased = std::max(exponent - 1 + kBias, 1);
  const double mantissa = std::nearbyint(std::ldexp(size, kMantissaBits + kBias - biased));
  return static_cast<uint16_t>(sign | static_cast<uint16_t>(((biased - 1) << kMantissaBits) + static_cast<int>(mantissa)));
}

}  // namespace stria
