// MPI datatypes as the engine's: decoded from what MPI_Type_get_envelope and
// MPI_Type_get_contents tell.
//
// Problem: a flattened type that is kept by its handle describes another type once MPI has reused
// the freed handle, and data are corrupted silently (Latham, Ross and Thakur 2007).
// Method: nothing is kept here (kept_types.hpp keeps it with the type itself). A description is as
// small as the program made it.
// Cost: O(entries of the constructors), independent of the number of pieces.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "mpiio/mpi/outcome.hpp"
#include "stria/datatype.hpp"

namespace stria::mpiio {

/// Says how basic types lie somewhere: in memory, or in a file of another data representation.
using ElementBytes = std::function<Result<int64_t>(MPI_Datatype basic)>;

/// Decodes the bytes of one item of `type`, with its bounds, as they lie in memory. Fails with
/// kInvalidArgument for MPI_DATATYPE_NULL and kUnsupported for a constructor that is not known.
Result<Datatype> decode(MPI_Datatype type);

/// Does the same with basic types of other sizes; displacements that count bytes stay as they are,
/// others follow the sizes.
Result<Datatype> decode_as(MPI_Datatype type, const ElementBytes& element_bytes);

/// Stands for `count` equal basic elements in the order of a type map.
struct SignatureRun {
  MPI_Datatype basic;
  int64_t count;
};

/// Returns the type signature of one item, run-length encoded; pair types come as their two
/// members, complex types whole.
/// Cost: O(runs).
Result<std::vector<SignatureRun>> signature_of(MPI_Datatype type);

}  // namespace stria::mpiio
