// Holds what the two old ways of output share: numbers in single precision, in files without a
// format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "output/output.hpp"

namespace stria::convection {

/// A rank's block of an array as it is written: bytes of numbers, row by row.
struct RawBlock {
  int64_t element_bytes = 4;
  std::vector<std::byte> bytes;
};

RawBlock raw_floats(const Grid& grid, const Field& field);
RawBlock raw_movie(const ConvectionRun& run, bool floats);
std::vector<RawBlock> raw_state(const ConvectionRun& run);
std::vector<RawBlock> raw_analysis(const ConvectionRun& run);
/// Returns the averages of this rank's rows, one average after another; none but in the first
/// column.
std::vector<std::vector<float>> raw_averages(const ConvectionRun& run);

/// Says what a restart file begins with.
struct RawHeader {
  double time;
  int64_t step;
  int32_t nx, nz;
};
static_assert(sizeof(RawHeader) == 24);
RawHeader raw_header(const ConvectionRun& run);

}  // namespace stria::convection
