#include <array>

#include "report/rule.hpp"

namespace stria::tool {

namespace {

// Sizes below this are told to the byte: pieces are often powers of two.
constexpr double kWholeBytes = 100'000;

// Returns a number in about three significant digits.
std::string digits(double value) {
  return value >= 100  ? fmt::format("{:.0f}", value)
         : value >= 10 ? fmt::format("{:.1f}", value)
                       : fmt::format("{:.2f}", value);
}

}  // namespace

std::string percent_text(double share) {
  return share > 0 && share < 0.001 ? "< 0.1 %" : fmt::format("{:.{}f} %", share * 100, share < 0.1 ? 1 : 0);
}

std::string bytes_text(double bytes) {
  static constexpr std::array<const char*, 6> kUnits = {"B", "kB", "MB", "GB", "TB", "PB"};
  if (bytes < kWholeBytes && bytes == static_cast<double>(static_cast<int64_t>(bytes))) {
    return fmt::format("{} B", count_text(static_cast<int64_t>(bytes)));
  }
  size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  return bytes == static_cast<double>(static_cast<int64_t>(bytes)) ? fmt::format("{:.0f} {}", bytes, kUnits[unit])
                                                                   : fmt::format("{} {}", digits(bytes), kUnits[unit]);
}

std::string seconds_text(double seconds) {
  return seconds >= 6000   ? fmt::format("{} h", digits(seconds / 3600))
         : seconds >= 1    ? fmt::format("{} s", digits(seconds))
         : seconds >= 1e-3 ? fmt::format("{} ms", digits(seconds * 1e3))
         : seconds > 0     ? fmt::format("{} µs", digits(seconds * 1e6))
                           : "0 s";
}

std::string rate_text(double bytes_per_second) {
  const double mb = bytes_per_second / 1e6;
  return mb < 10 ? fmt::format("{:.2g} MB/s", mb) : fmt::format("{} MB/s", count_text(static_cast<int64_t>(mb + 0.5)));
}

std::string count_text(int64_t count) {
  std::string text = std::to_string(count);
  const auto first = static_cast<std::ptrdiff_t>(count < 0);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > first; at -= 3) {
    text.insert(static_cast<size_t>(at), ",");
  }
  return text;
}

std::string counted_text(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count_text(count), noun, count == 1 ? "" : "s");
}

std::string fact_of(const RunDigest& run, const std::string& key) {
  for (const trace::NamedFact& fact : run.trace().facts) {
    if (fact.key == key && !fact.value.empty()) {
      return fact.value;
    }
  }
  return "";
}

}  // namespace stria::tool
