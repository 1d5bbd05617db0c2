// Random datatypes for memory, and random file views for all ranks, which share a
// file but no bytes.
#pragma once

#include <vector>

#include "mpiio/support/shape.hpp"
#include "mpiio/support/suite.hpp"

namespace mpiio {

/// Returns a predefined or small derived type without holes that can serve as etype: MPI_BYTE,
/// MPI_INT, MPI_DOUBLE, contiguous, struct.
Shape random_etype(Random& random);

/// Returns a datatype for memory of one or more `leaf`: any constructor, nested up to `depth`, in
/// any order, with any bounds. No byte occurs twice, even when `copies` of it follow each other.
Shape random_memory(Random& random, const Shape& leaf, int depth, int copies);

/// Says what one rank sees of the file.
struct View {
  int64_t displacement = 0;
  Shape etype;
  Shape filetype;

  /// Returns the offset in the file of data byte `position` of the view.
  int64_t offset_of(int64_t position) const { return displacement + filetype.at(position); }
};

/// Views of ranks 0 … rank_count - 1 on one file that don't overlap; the same on every rank for the
/// same seed. They are random types side by side in a repeated tile, elements dealt to ranks or to
/// none, a darray, a subarray, or one region per rank.
std::vector<View> random_views(uint64_t seed, int rank_count);

/// Returns one view that all ranks can share, as shared file pointers need.
View random_common_view(Random& random);

}  // namespace mpiio
