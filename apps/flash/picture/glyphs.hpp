// The letters of pictures: 5 by 7 dots, drawn for this purpose.
#pragma once

#include <array>

namespace stria::flash {

/// Rows from the top; bit 4 is the leftmost dot.
using Glyph = std::array<unsigned char, 7>;

/// The letter for a character; small letters give capitals, unknown characters an empty box.
const Glyph& glyph_of(char character);

}  // namespace stria::flash
