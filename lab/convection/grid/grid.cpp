#include "grid/grid.hpp"

#include <fmt/format.h>

#include <cassert>

#include "stria/status.hpp"

namespace stria::convection {

int Grid::west() const {
  return row() * columns + (column() + columns - 1) % columns;
}
int Grid::east() const {
  return row() * columns + (column() + 1) % columns;
}
int Grid::above() const {
  return at_top() ? MPI_PROC_NULL : rank - columns;
}
int Grid::below() const {
  return at_bottom() ? MPI_PROC_NULL : rank + columns;
}

Grid Grid::divide(MPI_Comm comm, int64_t nx, int64_t nz) {
  if (nx <= 0 || nz <= 0 || nx % kUnit != 0 || nz % kUnit != 0) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} x {} cells: both numbers must be multiples of {}", nx, nz, kUnit));
  }
  int ranks = 1;
  Grid grid;
  grid.comm = comm;
  MPI_Comm_rank(comm, &grid.rank);
  MPI_Comm_size(comm, &ranks);
  const int64_t wide = nx / kUnit;
  const int64_t high = nz / kUnit;
  int64_t least = INT64_MAX;  // half the outline of a block, in products that have no remainder
  for (int rows = 1; rows <= ranks; ++rows) {
    const int columns = ranks / rows;
    if (columns * rows != ranks || columns > wide || rows > high) {
      continue;
    }
    const int64_t outline = wide * rows + high * columns;
    if (outline < least) {
      least = outline;
      grid.rows = rows;
      grid.columns = columns;
    }
  }
  if (least == INT64_MAX) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} ranks can't divide {} x {} cells into blocks of multiples of {}: take fewer ranks or more cells", ranks,
                    nx, nz, kUnit));
  }
  grid.nx = nx;
  grid.nz = nz;
  grid.x0 = wide * grid.column() / grid.columns * kUnit;
  grid.z0 = high * grid.row() / grid.rows * kUnit;
  grid.mx = wide * (grid.column() + 1) / grid.columns * kUnit - grid.x0;
  grid.mz = high * (grid.row() + 1) / grid.rows * kUnit - grid.z0;
  return grid;
}

Grid Grid::whole(int64_t nx, int64_t nz) {
  Grid grid;
  grid.nx = grid.mx = nx;
  grid.nz = grid.mz = nz;
  return grid;
}

Grid Grid::coarser() const {
  assert((nx | nz | x0 | z0 | mx | mz) % 2 == 0);
  Grid half = *this;
  for (int64_t* size : {&half.nx, &half.nz, &half.x0, &half.z0, &half.mx, &half.mz}) {
    *size /= 2;
  }
  return half;
}

}  // namespace stria::convection
