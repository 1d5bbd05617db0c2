#include "mesh/transfer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stria::flash {
namespace {

double minmod(double a, double b) {
  if (a * b <= 0) {
    return 0;
  }
  return std::abs(a) < std::abs(b) ? a : b;
}

// Makes transferred values (density first, then per-mass ones divided by it) from conserved
// densities.
void to_values(const VariableSet& variables, const double* conserved, double* values) {
  for (int t = 0; t < variables.transferred_count(); ++t) {
    values[t] = variables.transferred[t].per_mass ? conserved[t] / conserved[0] : conserved[t];
  }
}

// Fills `children` with the coarse value plus `scale` times the slopes' share; tells whether all of
// them are admissible.
bool split(const VariableSet& variables, const double* center, const double (*slopes)[kMaxTransferred], int dim, double scale,
           ChildCells* children) {
  bool admissible = true;
  for (int child = 0; child < (1 << dim); ++child) {
    double conserved[kMaxTransferred];
    for (int t = 0; t < variables.transferred_count(); ++t) {
      double change = 0;
      for (int d = 0; d < dim; ++d) {
        change += (child >> d & 1) ? slopes[d][t] : -slopes[d][t];
      }
      conserved[t] = center[t] + 0.25 * scale * change;
    }
    double* values = (*children)[child].data();
    to_values(variables, conserved, values);
    admissible = admissible && (variables.admissible == nullptr || variables.admissible(values));
  }
  return admissible;
}

}  // namespace

CoarseBuffer::CoarseBuffer(const BlockShape& shape, int transferred_count, int rim) {
  int64_t doubles = transferred_count;
  for (int d = 0; d < 3; ++d) {
    bool active = d < shape.dim;
    cells_[d] = active ? shape.cells[d] / 2 : 1;
    rim_[d] = active ? rim : 0;
    stride_[d] = doubles;
    doubles *= cells_[d] + 2 * rim_[d];
  }
  values_.resize(static_cast<std::size_t>(doubles));
}

void CoarseBuffer::clear() {
  std::fill(values_.begin(), values_.end(), std::numeric_limits<double>::quiet_NaN());
}

void load_conserved(const VariableSet& variables, const double* cell, const int* variable_index, double* conserved) {
  double density = cell[variable_index[0]];
  for (int t = 0; t < variables.transferred_count(); ++t) {
    double value = cell[variable_index[t]];
    conserved[t] = variables.transferred[t].per_mass ? density * value : value;
  }
}

void store_conserved(const VariableSet& variables, const double* conserved, double* cell) {
  double values[kMaxTransferred];
  to_values(variables, conserved, values);
  for (int t = 0; t < variables.transferred_count(); ++t) {
    cell[variables.transferred[t].index] = values[t];
  }
}

void restrict_cell(const VariableSet& variables, const CellSource& source, int dim, std::array<int, 3> lowest,
                   double* conserved) {
  int count = variables.transferred_count();
  std::fill(conserved, conserved + count, 0.0);
  for (int child = 0; child < (1 << dim); ++child) {
    double fine[kMaxTransferred];
    const double* cell = source.cell(lowest[0] + (child & 1), lowest[1] + (child >> 1 & 1), lowest[2] + (child >> 2 & 1));
    load_conserved(variables, cell, source.variable_index, fine);
    for (int t = 0; t < count; ++t) {
      conserved[t] += fine[t];
    }
  }
  double share = 1.0 / (1 << dim);
  for (int t = 0; t < count; ++t) {
    conserved[t] *= share;
  }
}

void prolong_cell(const VariableSet& variables, const CoarseBuffer& buffer, int dim, std::array<int, 3> at,
                  ChildCells* children) {
  const double* center = buffer.cell(at[0], at[1], at[2]);
  double slopes[3][kMaxTransferred];
  for (int d = 0; d < dim; ++d) {
    const double* below = center - buffer.stride(d);
    const double* above = center + buffer.stride(d);
    for (int t = 0; t < variables.transferred_count(); ++t) {
      slopes[d][t] = minmod(center[t] - below[t], above[t] - center[t]);
    }
  }
  if (!split(variables, center, slopes, dim, 1.0, children)) {
    split(variables, center, slopes, dim, 0.0, children);
  }
}

}  // namespace stria::flash
