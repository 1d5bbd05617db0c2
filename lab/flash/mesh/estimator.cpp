#include "mesh/estimator.hpp"

#include <algorithm>
#include <cmath>

namespace stria::flash {
namespace {

// Says what one pair of dimensions adds at a cell: the second derivative in d then e, and what it
// is measured against. FLASH's blocks are cubes of cells here. So the cell size cancels between
// numerator and denominator, and is left out.
struct Share {
  double second = 0;
  double first = 0;
};

Share pair_share(const double* cell, int64_t step_d, int64_t step_e, double filter) {
  double pp = cell[step_d + step_e];
  double mp = cell[-step_d + step_e];
  double pm = cell[step_d - step_e];
  double mm = cell[-step_d - step_e];
  double above = pp - mp;  // first derivative in d, one step up in e
  double below = pm - mm;
  double mean = std::abs(pp) + std::abs(mp) + std::abs(pm) + std::abs(mm);
  return {above - below, std::abs(above) + std::abs(below) + filter * mean};
}

}  // namespace

double second_derivative_error(const BlockShape& shape, const double* block, int v, double filter, int spacing) {
  double largest = 0;
  for_each_cell(shape.interior(), [&](int i, int j, int k) {
    const double* cell = block + shape.offset(i, j, k) + v;
    double numerator = 0;
    double denominator = 0;
    for (int d = 0; d < shape.dim; ++d) {
      for (int e = 0; e < shape.dim; ++e) {
        Share share = pair_share(cell, spacing * shape.stride(d), spacing * shape.stride(e), filter);
        numerator += share.second * share.second;
        denominator += share.first * share.first;
      }
    }
    if (numerator > 0) {
      largest = std::max(largest, numerator / denominator);
    }
  });
  return std::sqrt(largest);
}

Mark estimate_mark(const BlockShape& shape, const double* block, const RefinementCriteria& criteria) {
  auto largest_error = [&](int spacing) {
    double error = 0;
    for (int v : criteria.variables) {
      error = std::max(error, second_derivative_error(shape, block, v, criteria.filter, spacing));
    }
    return error;
  };
  const double error = largest_error(1);
  if (error > criteria.refine_above) {
    return Mark::kRefine;
  }
  return error < criteria.derefine_below && largest_error(2) < criteria.derefine_below ? Mark::kCoarsen : Mark::kKeep;
}

}  // namespace stria::flash
