// Colours for values: scales whose lightness grows evenly, so that they are read right in grey and
// by the colour-blind.
#pragma once

#include <cstdint>

namespace stria::flash {

struct Color {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
};

/// Returns the colour of `share`, 0 to 1: from dark violet over green to yellow (viridis).
Color viridis(double share);
/// Goes from black over red to pale yellow (inferno): for a second quantity beside the first.
Color inferno(double share);

}  // namespace stria::flash
