#include "picture/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stria::flash {
namespace {

constexpr double kSlack = 1e-9;  // a part of a step: rounding may have moved the ends of the range
constexpr double kMostTooShort = 1.3;
constexpr double kLeastPlain = 1e-3;
constexpr double kMostPlain = 1e5;
constexpr const char* kMinus = "\u2212";

std::string power_markup(int exponent) {
  return fmt::format("10<sup>{}{}</sup>", exponent < 0 ? kMinus : "", std::abs(exponent));
}

std::string with_minus(std::string text) {
  if (text.starts_with('-')) {
    text.replace(0, 1, kMinus);
  }
  return text;
}

// Returns the least round step that is not much shorter than asked for.
double round_step(double wanted) {
  const double least = wanted / kMostTooShort;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - kSlack)) {
      return factor * power;
    }
  }
  return 10 * power;
}

}  // namespace

std::string number_markup(double value) {
  const double size = std::abs(value);
  if (value == 0 || (size >= kLeastPlain && size < kMostPlain)) {
    return with_minus(fmt::format("{:.3g}", value));
  }
  int exponent = static_cast<int>(std::floor(std::log10(size)));
  std::string digits = fmt::format("{:.3g}", value / std::pow(10.0, exponent));
  if (digits.ends_with("10")) {  // 9.999 was rounded up
    digits = fmt::format("{:.3g}", value / std::pow(10.0, ++exponent));
  }
  return with_minus(digits) + "×" + power_markup(exponent);
}

std::vector<Tick> round_ticks(double low, double high, int wanted) {
  std::vector<Tick> ticks;
  if (!(low < high) || !std::isfinite(high - low) || wanted < 1) {
    return ticks;
  }
  const double step = round_step((high - low) / wanted);
  const double most = std::max(std::abs(low), std::abs(high));
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + kSlack)));
  const bool plain = most < kMostPlain && step >= kLeastPlain;
  for (double k = std::ceil(low / step - kSlack); k * step <= high + kSlack * step; ++k) {
    const double value = k == 0 ? 0.0 : k * step;
    ticks.push_back({value, plain ? with_minus(fmt::format("{:.{}f}", value, decimals)) : number_markup(value)});
  }
  return ticks;
}

std::vector<Tick> decade_ticks(double low, double high, int wanted) {
  const int first = static_cast<int>(std::ceil(std::log10(low) - kSlack));
  const int last = static_cast<int>(std::floor(std::log10(high) + kSlack));
  if (last - first < 1) {
    return round_ticks(low, high, wanted);
  }
  std::vector<Tick> ticks;
  const int step = std::max(1, (last - first + wanted) / std::max(1, wanted));
  for (int exponent = first; exponent <= last; exponent += step) {
    ticks.push_back({std::pow(10.0, exponent), power_markup(exponent)});
  }
  return ticks;
}

}  // namespace stria::flash
