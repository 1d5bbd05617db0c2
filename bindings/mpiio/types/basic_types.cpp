#include "mpiio/types/basic_types.hpp"

#include <array>
#include <cfloat>

#include "base/byte_range.hpp"
#include "mpiio/types/type_contents.hpp"

namespace stria::mpiio {

namespace {

int64_t memory_bytes(MPI_Datatype basic) {
  MPI_Count bytes = 0;
  MPI_Type_size_x(basic, &bytes);
  return bytes;
}

struct Known {
  MPI_Datatype type;
  NumberKind kind;
  int64_t external32_bytes;  // 0: as many as in memory
};

// Handles are addresses or constants of the MPI, so the table is made at its first use. Types that
// this MPI lacks are MPI_DATATYPE_NULL there.
const auto& known_types() {
  using enum NumberKind;
  static const std::array kTable = {
      Known{MPI_BYTE, kBytes, 0},
      Known{MPI_PACKED, kBytes, 0},
      Known{MPI_CHAR, kBytes, 0},
      Known{MPI_CHARACTER, kBytes, 0},
      Known{MPI_SIGNED_CHAR, kInteger, 0},
      Known{MPI_UNSIGNED_CHAR, kUnsigned, 0},
      Known{MPI_WCHAR, kWideChar, 2},
      Known{MPI_SHORT, kInteger, 0},
      Known{MPI_UNSIGNED_SHORT, kUnsigned, 0},
      Known{MPI_INT, kInteger, 0},
      Known{MPI_UNSIGNED, kUnsigned, 0},
      Known{MPI_LONG, kInteger, 4},
      Known{MPI_UNSIGNED_LONG, kUnsigned, 4},
      Known{MPI_LONG_LONG, kInteger, 0},
      Known{MPI_UNSIGNED_LONG_LONG, kUnsigned, 0},
      Known{MPI_FLOAT, kFloating, 0},
      Known{MPI_DOUBLE, kFloating, 0},
      Known{MPI_LONG_DOUBLE, kFloating, 16},
      Known{MPI_C_BOOL, kBoolean, 1},
      Known{MPI_INT8_T, kInteger, 0},
      Known{MPI_INT16_T, kInteger, 0},
      Known{MPI_INT32_T, kInteger, 0},
      Known{MPI_INT64_T, kInteger, 0},
      Known{MPI_UINT8_T, kUnsigned, 0},
      Known{MPI_UINT16_T, kUnsigned, 0},
      Known{MPI_UINT32_T, kUnsigned, 0},
      Known{MPI_UINT64_T, kUnsigned, 0},
      Known{MPI_AINT, kInteger, 8},
      Known{MPI_COUNT, kInteger, 8},
      Known{MPI_OFFSET, kInteger, 8},
      Known{MPI_C_COMPLEX, kComplex, 0},
      Known{MPI_C_DOUBLE_COMPLEX, kComplex, 0},
      Known{MPI_C_LONG_DOUBLE_COMPLEX, kComplex, 32},
      Known{MPI_CXX_BOOL, kBoolean, 1},
      Known{MPI_CXX_FLOAT_COMPLEX, kComplex, 0},
      Known{MPI_CXX_DOUBLE_COMPLEX, kComplex, 0},
      Known{MPI_CXX_LONG_DOUBLE_COMPLEX, kComplex, 32},
      Known{MPI_LOGICAL, kBoolean, 4},
      Known{MPI_INTEGER, kInteger, 4},
      Known{MPI_REAL, kFloating, 4},
      Known{MPI_DOUBLE_PRECISION, kFloating, 8},
      Known{MPI_COMPLEX, kComplex, 8},
      Known{MPI_DOUBLE_COMPLEX, kComplex, 16},
      Known{MPI_INTEGER1, kInteger, 0},
      Known{MPI_INTEGER2, kInteger, 0},
      Known{MPI_INTEGER4, kInteger, 0},
      Known{MPI_INTEGER8, kInteger, 0},
      Known{MPI_REAL4, kFloating, 0},
      Known{MPI_REAL8, kFloating, 0},
      Known{MPI_REAL16, kQuad, 16},
      Known{MPI_COMPLEX8, kComplex, 0},
      Known{MPI_COMPLEX16, kComplex, 0},
      Known{MPI_COMPLEX32, kQuadComplex, 32},
  };
  return kTable;
}

// Tells whether a Fortran type with a precision has more digits than long double.
bool is_quad(MPI_Datatype with_precision) {
  const int64_t digits = contents_of(with_precision).integers.at(0);
  return digits != MPI_UNDEFINED && digits > LDBL_DIG;
}

}  // namespace

std::optional<PairMembers> pair_members(MPI_Datatype basic) {
  struct Pair {
    MPI_Datatype type;
    MPI_Datatype first;
    MPI_Datatype second;
  };
  static const std::array kPairs = {
      Pair{MPI_FLOAT_INT, MPI_FLOAT, MPI_INT},      Pair{MPI_DOUBLE_INT, MPI_DOUBLE, MPI_INT},
      Pair{MPI_LONG_INT, MPI_LONG, MPI_INT},        Pair{MPI_2INT, MPI_INT, MPI_INT},
      Pair{MPI_SHORT_INT, MPI_SHORT, MPI_INT},      Pair{MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, MPI_INT},
      Pair{MPI_2REAL, MPI_REAL, MPI_REAL},          Pair{MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION},
      Pair{MPI_2INTEGER, MPI_INTEGER, MPI_INTEGER},
  };
  for (const Pair& pair : kPairs) {
    if (pair.type == basic && basic != MPI_DATATYPE_NULL) {
      // A C compiler lays it out like struct { first; int; }.
      return PairMembers{pair.first, pair.second, align_up(memory_bytes(pair.first), alignof(int))};
    }
  }
  return std::nullopt;
}

std::optional<Number> number_of(MPI_Datatype basic) {
  if (basic == MPI_DATATYPE_NULL) {
    return std::nullopt;
  }
  const int64_t bytes = memory_bytes(basic);
  for (const Known& known : known_types()) {
    if (known.type == basic) {
      return Number{known.kind, bytes, known.external32_bytes == 0 ? bytes : known.external32_bytes};
    }
  }
  switch (combiner_of(basic)) {
    case MPI_COMBINER_F90_REAL:
      return Number{is_quad(basic) ? NumberKind::kQuad : NumberKind::kFloating, bytes, bytes};
    case MPI_COMBINER_F90_COMPLEX:
      return Number{is_quad(basic) ? NumberKind::kQuadComplex : NumberKind::kComplex, bytes, bytes};
    case MPI_COMBINER_F90_INTEGER:
      return Number{NumberKind::kInteger, bytes, bytes};
    default:
      return std::nullopt;
  }
}

}  // namespace stria::mpiio
