// Selections as MPI's datatypes.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <vector>

#include "workload/workload.hpp"

namespace stria::bench {

/// Types that are freed together.
class MpiTypes {
 public:
  MpiTypes() = default;
  ~MpiTypes();
  MpiTypes(const MpiTypes&) = delete;
  MpiTypes& operator=(const MpiTypes&) = delete;

  /// Returns an element of so many bytes: an int, doubles, or bytes.
  MPI_Datatype element(int64_t bytes);
  /// Returns the elements of a selection, from the first byte of the array on: a subarray, a vector
  /// or a list of blocks.
  MPI_Datatype selected(const Selection& selection, int64_t element_bytes);
  /// Returns all parts of a call at their places in a plain file, or in memory.
  MPI_Datatype file_type(const Workload& workload, const Call& call);
  MPI_Datatype memory_type(const Workload& workload, const Call& call);
  /// Returns the type with another extent.
  MPI_Datatype resized(MPI_Datatype type, int64_t extent_bytes);

 private:
  MPI_Datatype keep(MPI_Datatype type);
  MPI_Datatype together(const std::vector<MPI_Datatype>& types, const std::vector<MPI_Aint>& places);
  std::vector<MPI_Datatype> owned_;
  std::map<int64_t, MPI_Datatype> elements_;  ///< by bytes
};

/// Throws stria::Error (kIo, or kUnsupported) with MPI's own words unless `code` is success.
void require_mpi(int code, const std::string& what);

}  // namespace stria::bench
