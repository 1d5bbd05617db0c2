// Facts about MPI's basic types: pairs with gaps, and the kinds of numbers for conversion.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

namespace stria::mpiio {

/// The members of a pair type (MPI_DOUBLE_INT and its like); second at `offset_bytes` in memory.
struct PairMembers {
  MPI_Datatype first;
  MPI_Datatype second;
  int64_t offset_bytes;
};
std::optional<PairMembers> pair_members(MPI_Datatype basic);

/// Says what a basic type holds, as the data representation "external32" tells kinds apart (MPI
/// 3.1, section 13.5.2).
enum class NumberKind {
  kBytes,     ///< moved as it is: MPI_BYTE, MPI_PACKED, characters
  kWideChar,  ///< 4 bytes in memory, 2 in external32
  kBoolean,   ///< a boolean of C or Fortran: one byte, or an integer
  kInteger,
  kUnsigned,
  kFloating,
  kComplex,      ///< two floating numbers
  kQuad,         ///< binary128 in memory, whatever C's long double is: Fortran's REAL*16
  kQuadComplex,  ///< two of them
};
struct Number {
  NumberKind kind = NumberKind::kBytes;
  int64_t memory_bytes = 1;
  int64_t external32_bytes = 1;
};
/// Returns nothing for a pair type and for types that hold no number.
std::optional<Number> number_of(MPI_Datatype basic);

}  // namespace stria::mpiio
