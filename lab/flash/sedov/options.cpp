#include "sedov/options.hpp"

#include <cmath>
#include <sstream>
#include <string>

#include "mesh/forest.hpp"

namespace stria::flash {
namespace {

Status unless(bool good, const std::string& what) {
  return good ? Status() : Status(ErrorCode::kInvalidArgument, what);
}

// Formats a number as people write it: 0.8, nan, 1e+30.
std::string number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

}  // namespace

Status validate(const SedovOptions& o) {
  const SedovProblem& p = o.problem;
  STRIA_RETURN_IF_ERROR(unless(o.dim == 2 || o.dim == 3, "the dimension is 2 or 3, not " + std::to_string(o.dim)));
  STRIA_RETURN_IF_ERROR(unless(o.nxb >= 8 && o.nxb <= 64 && o.nxb % 2 == 0,
                               "a block has an even number of cells from 8 to 64 per side, not " + std::to_string(o.nxb)));
  STRIA_RETURN_IF_ERROR(unless(1 <= o.min_level && o.min_level <= o.max_level && o.max_level <= kMaxLevel + 1,
                               "refinement levels " + std::to_string(o.min_level) + " to " + std::to_string(o.max_level) +
                                   " are not a range within 1 to " + std::to_string(kMaxLevel + 1)));
  for (int d = 0; d < o.dim; ++d) {
    STRIA_RETURN_IF_ERROR(unless(o.root_blocks[d] >= 1 && o.root_blocks[d] <= 1024,
                                 "root blocks per dimension are 1 to 1024, not " + std::to_string(o.root_blocks[d])));
  }
  STRIA_RETURN_IF_ERROR(
      unless(p.gamma > 1 && p.gamma < 2, "gamma lies between 1 and 2, both excluded; it is " + number(p.gamma)));
  STRIA_RETURN_IF_ERROR(
      unless(p.energy > 0 && std::isfinite(p.energy), "the explosion's energy is positive, not " + number(p.energy)));
  STRIA_RETURN_IF_ERROR(unless(p.ambient_density > 0 && std::isfinite(p.ambient_density), "the ambient density is positive"));
  STRIA_RETURN_IF_ERROR(
      unless(p.ambient_pressure > 0 && std::isfinite(p.ambient_pressure), "the ambient pressure is positive"));
  STRIA_RETURN_IF_ERROR(unless(p.radius_cells >= 1 && p.radius_cells <= 64, "the explosion's radius is 1 to 64 cells"));
  STRIA_RETURN_IF_ERROR(
      unless(o.cfl > 0 && o.cfl < 1, "the Courant number lies between 0 and 1, both excluded; it is " + number(o.cfl)));
  STRIA_RETURN_IF_ERROR(unless(o.end_time > 0, "the end time is positive, not " + number(o.end_time)));
  STRIA_RETURN_IF_ERROR(unless(o.max_steps >= 0, "the number of steps is zero or more, not " + std::to_string(o.max_steps)));
  STRIA_RETURN_IF_ERROR(
      unless(o.refine_every >= 1, "the mesh is adapted every 1 or more steps, not every " + std::to_string(o.refine_every)));
  return unless(0 <= o.derefine_below && o.derefine_below < o.refine_above && o.refine_above <= 1 && o.refine_filter >= 0,
                "refinement thresholds satisfy 0 <= derefine < refine <= 1, and the filter is not negative");
}

}  // namespace stria::flash
