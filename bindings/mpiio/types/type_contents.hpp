// The constructor of an MPI datatype and its arguments, as integers of 64 bits however the
// program gave them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace stria::mpiio {

/// Frees what MPI_Type_get_contents returned, except basic types.
class HeldType {
 public:
  explicit HeldType(MPI_Datatype type) : type_(type) {}
  HeldType(HeldType&& other) noexcept : type_(other.type_) { other.type_ = MPI_DATATYPE_NULL; }
  HeldType(const HeldType&) = delete;
  HeldType& operator=(const HeldType&) = delete;
  ~HeldType() { free(); }
  MPI_Datatype get() const { return type_; }
  void free();

 private:
  MPI_Datatype type_;
};

/// The arguments of a constructor call, in the order of the MPI standard (section 4.1.13): sizes,
/// counts and displacements of every width in `numbers`, each kind in its own order; those of a
/// constructor with MPI_Count arguments are moved to where its namesake has them.
struct TypeContents {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int64_t> integers;
  std::vector<int64_t> addresses;
  std::vector<HeldType> types{};
};

/// Tells whether a type is the MPI's own and can't be freed. F90 types are parametrised, but basic.
bool is_basic(int combiner);
/// \pre type is not MPI_DATATYPE_NULL
int combiner_of(MPI_Datatype type);
/// \pre combiner_of(type) is not MPI_COMBINER_NAMED
TypeContents contents_of(MPI_Datatype type);

}  // namespace stria::mpiio
