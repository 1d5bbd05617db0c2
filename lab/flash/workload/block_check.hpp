// Compares a packed block, as it was read back from a file, with what the benchmark put into it.
#pragma once

#include <string>

#include "workload/cell_value.hpp"

namespace stria::flash {

/// Compares one variable of a block ([k][j][i], interior cells) with its values, rounded to float
/// if T is float.
/// Returns an empty string, or which cell is wrong and what it holds. T: float or double.
template <typename T>
std::string check_packed_block(const WorkloadParameters& parameters, int64_t block, int64_t variable, const T* values);

/// Compares the corner values of a block ([k][j][i], (nxb+1)^3) with their averages.
std::string check_packed_corners(const WorkloadParameters& parameters, int64_t block, int64_t variable, const float* values);

}  // namespace stria::flash
