// A datatype and the list of its bytes, which is what the naive oracle knows about it.
//
// Each maker calls one MPI_Type_create_* and, separately, loops over the definition in the MPI
// standard (4.1, "Datatypes"; darray: "Distributed Array Datatype Constructor") to list the offset
// of every byte. It is meant for sizes of a few thousand bytes only.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mpiio {

struct Shape {
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< committed
  /// Offset of each data byte of one copy, in the order of the type map.
  std::vector<int64_t> bytes;
  int64_t lb = 0;
  int64_t extent = 0;  ///< the extent of one copy, as MPI gives it
  std::string text;    ///< for messages
  std::shared_ptr<void> owner;

  int64_t size() const { return static_cast<int64_t>(bytes.size()); }
  /// Offset of data byte `position`, over as many copies as needed.
  int64_t at(int64_t position) const { return position / size() * extent + bytes[static_cast<size_t>(position % size())]; }
};

/// Returns a predefined type; `bytes` is the offset of each of its bytes: not 0, 1, 2 … for pair
/// types with gaps.
Shape named(MPI_Datatype type, std::string text, std::vector<int64_t> bytes);
/// Returns a predefined type of `size` bytes without gaps.
Shape named(MPI_Datatype type, std::string text, int64_t size);

Shape contiguous(int count, const Shape& of);
Shape vector(int count, int length, int stride, const Shape& of);
Shape hvector(int count, int length, int64_t stride_bytes, const Shape& of);
Shape indexed(const std::vector<int>& lengths, const std::vector<int>& places, const Shape& of);
Shape hindexed(const std::vector<int>& lengths, const std::vector<MPI_Aint>& place_bytes, const Shape& of);
Shape indexed_block(int length, const std::vector<int>& places, const Shape& of);
Shape hindexed_block(int length, const std::vector<MPI_Aint>& place_bytes, const Shape& of);
Shape structure(const std::vector<int>& lengths, const std::vector<MPI_Aint>& place_bytes, const std::vector<Shape>& of);
/// order: MPI_ORDER_C or MPI_ORDER_FORTRAN.
Shape subarray(const std::vector<int>& sizes, const std::vector<int>& subsizes, const std::vector<int>& starts, int order,
               const Shape& of);

/// The arguments of MPI_Type_create_darray, one entry per dimension.
struct Distribution {
  std::vector<int> sizes;
  std::vector<int> kinds;  ///< MPI_DISTRIBUTE_BLOCK, _CYCLIC or _NONE
  std::vector<int> arguments;
  std::vector<int> grid;
  int order = MPI_ORDER_C;
};
Shape darray(int rank_count, int rank, const Distribution& distribution, const Shape& of);
Shape resized(int64_t lb, int64_t extent, const Shape& of);
Shape duplicate(const Shape& of);

}  // namespace mpiio
