// The options of a Sedov run.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "mesh/leaf.hpp"
#include "sedov/problem.hpp"
#include "stria/status.hpp"

namespace stria::flash {

struct SedovOptions {
  int dim = 2;
  int nxb = 8;        ///< cells across a block: even, 8 to 64
  int min_level = 1;  ///< refinement levels as FLASH counts them: 1 = root blocks only
  int max_level = 4;
  std::array<int, 3> root_blocks{1, 1, 1};
  Boundary boundary = Boundary::kOutflow;
  SedovProblem problem;
  double cfl = 0.8;  ///< a part of the sum over the dimensions of (|u|+c) dt/dx
  double end_time = std::numeric_limits<double>::infinity();
  int64_t max_steps = 100;
  int refine_every = 2;  ///< steps from one adaptation of the mesh to the next
  double refine_above = 0.8;
  double derefine_below = 0.2;
  double refine_filter = 0.01;
};

/// Checks every option. Errors: kInvalidArgument, naming the option and what it may be.
Status validate(const SedovOptions& options);

}  // namespace stria::flash
