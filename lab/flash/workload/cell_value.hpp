// The value that the benchmark stores in a cell. It says to which block, variable and cell it
// belongs. So a misplaced byte is found, and the message can tell where it came from.
// Method: cells are numbered; a multiplication by an odd constant, which can be undone, spreads a
// number over 48 bits of a mantissa. Interior cells are in [1, 2), guard cells in (-2, -1], so a
// guard cell in a file is obvious. Neighbouring numbers also differ after rounding to float, and 48
// bits leave room to average the 8 cells around a corner exactly.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <string>

#include "workload/parameters.hpp"

namespace stria::flash {

inline constexpr int kCellIdBits = 48;
inline constexpr int64_t kCellIdLimit = int64_t{1} << kCellIdBits;
inline constexpr uint64_t kCellIdMask = static_cast<uint64_t>(kCellIdLimit) - 1;
// 2^48 divided by the golden ratio, made odd.
inline constexpr uint64_t kCellSpread = 0x9E3779B97F4B;

/// A cell of one variable: `i`, `j`, `k` count from the first interior cell, so guard cells have
/// negative ones or >= nxb.
struct CellPlace {
  int64_t block = 0;  ///< global index
  int64_t variable = 0;
  int64_t i = 0, j = 0, k = 0;
  friend bool operator==(const CellPlace&, const CellPlace&) = default;
};

/// Returns the double in [1, 2), or (-2, -1] for a guard cell, that stands for cell number `id`.
/// \pre 0 <= id < kCellIdLimit
inline double value_of_id(int64_t id, bool guard) {
  assert(0 <= id && id < kCellIdLimit);
  const uint64_t fraction = (static_cast<uint64_t>(id) * kCellSpread) & kCellIdMask;
  const uint64_t sign = guard ? uint64_t{1} << 63 : 0;
  return std::bit_cast<double>(sign | (uint64_t{0x3FF} << 52) | (fraction << (52 - kCellIdBits)));
}

/// Returns the number of the first interior cell of a block's variable; numbers run over the padded
/// block, i fastest.
inline int64_t first_interior_id(const WorkloadParameters& p, int64_t block, int64_t variable) {
  const int64_t side = p.padded_side();
  return (block * p.nvar + variable) * p.padded_cells_per_block() + p.guard_cells * (side * side + side + 1);
}

/// Returns the value that must stand in a cell, in memory or in a checkpoint.
double expected_value(const WorkloadParameters& parameters, const CellPlace& place);

/// Says in words which cell a value belongs to, or that it belongs to none.
std::string describe_value(const WorkloadParameters& parameters, double value);

/// Finds the cell that a value stands for; false when no cell has it.
bool decode_value(const WorkloadParameters& parameters, double value, CellPlace* place);

}  // namespace stria::flash
