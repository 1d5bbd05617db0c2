// A picture of variables on the adaptive mesh: their values in a plane, side by side, with the
// blocks' outlines.
//
// Method: every pixel of a plot shows the cell that it lies in; blocks are outlined; a colour bar
// with round ticks gives the scale, which is logarithmic where the values span many powers of
// ten. The input is plain arrays, so that blocks read back from a file can be drawn as well as
// those in memory.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "picture/canvas.hpp"
#include "stria/status.hpp"

namespace stria::flash {

/// The mesh and the plane that cuts it.
struct SliceInput {
  int dim = 2;
  std::array<int, 3> cells{8, 8, 1};     ///< the cells of a block
  std::span<const double> bounding_box;  ///< [blocks][3][2]
  std::array<double, 3> domain_lo{0, 0, 0};
  std::array<double, 3> domain_hi{1, 1, 1};
  int normal = 2;  ///< the axis at right angles to the plane, in a 3-D mesh
  /// Where on that axis; a plane at the domain's upper end shows the last cells.
  double plane = 0.5;
};

/// One variable to draw.
struct SlicePanel {
  std::string name;                ///< the name as the file has it, "dens"
  std::span<const double> values;  ///< [blocks][z][y][x], interior cells
};

struct SliceStyle {
  std::string title;      ///< one line
  int plot_pixels = 640;  ///< the longer side of each plot
  bool draw_blocks = true;
};

/// Draws the slice, a plot for each panel. Errors: kInvalidArgument when the arrays' sizes don't
/// fit each other, the plane lies outside the domain, or the plot's size is out of range.
Result<Canvas> draw_slice(const SliceInput& input, std::span<const SlicePanel> panels, const SliceStyle& style);

/// Returns where draw_slice() puts the plot of a panel, in pixels: for tests, and for drawing over
/// it.
Box plot_box(const SliceInput& input, int panel, const SliceStyle& style);

/// Returns "density" for "dens", and so on; the name itself where it isn't one of FLASH's common
/// variables.
std::string quantity_name(const std::string& variable);

}  // namespace stria::flash
