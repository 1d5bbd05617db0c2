#include "picture/color_map.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

namespace stria::flash {
namespace {

uint8_t mix(uint8_t from, uint8_t to, double share) {
  return static_cast<uint8_t>(std::lround(from + (to - from) * share));
}

Color between(std::span<const Color> stops, double share) {
  const int last = static_cast<int>(stops.size()) - 1;
  const double position = std::clamp(share, 0.0, 1.0) * last;
  const int stop = std::min(static_cast<int>(position), last - 1);
  const double rest = position - stop;
  const Color& a = stops[static_cast<std::size_t>(stop)];
  const Color& b = stops[static_cast<std::size_t>(stop) + 1];
  return {mix(a.red, b.red, rest), mix(a.green, b.green, rest), mix(a.blue, b.blue, rest)};
}

}  // namespace

Color viridis(double share) {
  static constexpr Color kStops[] = {{68, 1, 84},    {71, 45, 123}, {59, 82, 139},  {44, 114, 142}, {33, 145, 140},
                                     {40, 174, 128}, {94, 201, 98}, {173, 220, 48}, {253, 231, 37}};
  return between(kStops, share);
}

Color inferno(double share) {
  static constexpr Color kStops[] = {{0, 0, 4},     {31, 12, 72},   {85, 15, 109},  {136, 34, 106}, {186, 54, 85},
                                     {227, 89, 51}, {249, 140, 10}, {249, 201, 50}, {252, 255, 164}};
  return between(kStops, share);
}

}  // namespace stria::flash
