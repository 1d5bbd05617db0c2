// A picture of one variable on the adaptive mesh: its values in a plane, and the blocks' outlines.
//
// Method: every pixel of the plot shows the cell that it lies in, blocks are outlined, a colour bar gives the range. The input
// is plain arrays, so that blocks read back from a file can be drawn as well as those in memory.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "picture/image.hpp"
#include "stria/status.hpp"

namespace stria::flash {

struct SliceInput {
  int dim = 2;
  std::array<int, 3> cells{8, 8, 1};      ///< of a block
  std::span<const double> bounding_box;   ///< [blocks][3][2]
  std::span<const double> values;         ///< [blocks][z][y][x], interior cells
  std::array<double, 2> domain_lo{0, 0};  ///< x and y
  std::array<double, 2> domain_hi{1, 1};
  double plane_z = 0.5;  ///< where a 3-D mesh is cut
};

struct SliceStyle {
  std::string title;                 ///< one line
  std::string quantity = "density";  ///< beside the colour bar
  int plot_pixels = 960;             ///< the longer side of the plot
  bool draw_blocks = true;
};

/// Draws the slice. Errors: kInvalidArgument when the arrays' sizes don't fit each other or the plot's size is out of range.
Result<Image> draw_slice(const SliceInput& input, const SliceStyle& style);

}  // namespace stria::flash
