// Round numbers along an axis, and how they are written.
#pragma once

#include <string>
#include <vector>

namespace stria::flash {

struct Tick {
  double value = 0;
  std::string label;  ///< Pango markup: powers stand high
};

/// Returns multiples of 1, 2 or 5 times a power of ten in [low, high], about `wanted` of them; none
/// when the range is empty.
std::vector<Tick> round_ticks(double low, double high, int wanted);

/// Powers of ten in [low, high], both positive, every n-th so that there are about `wanted`;
/// round_ticks() where fewer than two lie in the range.
std::vector<Tick> decade_ticks(double low, double high, int wanted);

/// Returns a number in three digits, as markup: "0.0123", "5.02", "1.5×10⁻⁵".
std::string number_markup(double value);

}  // namespace stria::flash
