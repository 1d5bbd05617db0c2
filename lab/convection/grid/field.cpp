#include "grid/field.hpp"

#include <algorithm>
#include <cassert>

namespace stria::convection {

namespace {

/// A rectangle of a block, ghosts counted in.
struct Patch {
  int64_t j0, j1, i0, i1;
  int64_t cells() const { return (j1 - j0) * (i1 - i0); }
};

void pack(std::initializer_list<Field*> fields, const Patch& patch, std::vector<double>& out) {
  out.clear();
  for (const Field* field : fields) {
    for (int64_t j = patch.j0; j < patch.j1; ++j) {
      for (int64_t i = patch.i0; i < patch.i1; ++i) {
        out.push_back((*field)(j, i));
      }
    }
  }
}

void unpack(std::initializer_list<Field*> fields, const Patch& patch, const std::vector<double>& in) {
  size_t next = 0;
  for (Field* field : fields) {
    for (int64_t j = patch.j0; j < patch.j1; ++j) {
      for (int64_t i = patch.i0; i < patch.i1; ++i) {
        (*field)(j, i) = in[next++];
      }
    }
  }
}

// Sends a patch one way, and takes what comes from the other side.
void shift(const Grid& grid, std::initializer_list<Field*> fields, int to, const Patch& sent, int from, const Patch& taken) {
  std::vector<double> out;
  std::vector<double> in(fields.size() * static_cast<size_t>(taken.cells()));
  pack(fields, sent, out);
  MPI_Sendrecv(out.data(), static_cast<int>(out.size()), MPI_DOUBLE, to, 0, in.data(), static_cast<int>(in.size()), MPI_DOUBLE,
               from, 0, grid.comm, MPI_STATUS_IGNORE);
  if (from != MPI_PROC_NULL) {
    unpack(fields, taken, in);
  }
}

}  // namespace

void exchange(const Grid& grid, std::initializer_list<Field*> fields) {
  assert(std::all_of(fields.begin(), fields.end(), [&](const Field* f) { return f->ghosts() == (*fields.begin())->ghosts(); }));
  const int64_t g = (*fields.begin())->ghosts();
  const int64_t mx = grid.mx;
  const int64_t mz = grid.mz;
  shift(grid, fields, grid.west(), {0, mz, 0, g}, grid.east(), {0, mz, mx, mx + g});
  shift(grid, fields, grid.east(), {0, mz, mx - g, mx}, grid.west(), {0, mz, -g, 0});
  shift(grid, fields, grid.above(), {0, g, 0, mx}, grid.below(), {mz, mz + g, 0, mx});
  shift(grid, fields, grid.below(), {mz - g, mz, 0, mx}, grid.above(), {-g, 0, 0, mx});
}

}  // namespace stria::convection
