#include "workload/block_check.hpp"

#include <fmt/format.h>

#include <cassert>

#include "workload/corners.hpp"

namespace stria::flash {
namespace {

/// \pre values differ at `cell`
template <typename T>
std::string describe_difference(const WorkloadParameters& p, const CellPlace& cell, T expected, T found) {
  assert(expected != found);
  return fmt::format("block {}, variable {}, cell i={} j={} k={}: expected {}, found {}", cell.block, cell.variable, cell.i,
                     cell.j, cell.k, expected, describe_value(p, static_cast<double>(found)));
}

}  // namespace

template <typename T>
std::string check_packed_block(const WorkloadParameters& p, int64_t block, int64_t variable, const T* values) {
  const int64_t side = p.padded_side();
  const int64_t first_id = first_interior_id(p, block, variable);
  for (int64_t k = 0; k < p.nxb; ++k) {
    for (int64_t j = 0; j < p.nxb; ++j) {
      const int64_t row_id = first_id + (k * side + j) * side;
      for (int64_t i = 0; i < p.nxb; ++i, ++values) {
        const T expected = static_cast<T>(value_of_id(row_id + i, false));
        if (*values != expected) {
          return describe_difference(p, {block, variable, i, j, k}, expected, *values);
        }
      }
    }
  }
  return {};
}

template std::string check_packed_block(const WorkloadParameters&, int64_t, int64_t, const double*);
template std::string check_packed_block(const WorkloadParameters&, int64_t, int64_t, const float*);

std::string check_packed_corners(const WorkloadParameters& p, int64_t block, int64_t variable, const float* values) {
  const int64_t side = corners_per_side(p);
  for (int64_t k = 0; k < side; ++k) {
    for (int64_t j = 0; j < side; ++j) {
      for (int64_t i = 0; i < side; ++i, ++values) {
        const CellPlace corner{block, variable, i, j, k};
        const float expected = expected_corner(p, corner);
        if (*values != expected) {
          return describe_difference(p, corner, expected, *values);
        }
      }
    }
  }
  return {};
}

}  // namespace stria::flash
