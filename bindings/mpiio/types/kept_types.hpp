// Decoded datatypes that stay with the type that they were decoded from.
//
// Problem: small accesses spend longer on decoding their datatype than on moving its bytes; a table
// by handle would describe another type once the handle has been freed and given out again (Latham,
// Ross and Thakur 2007).
// Method: an attribute of the datatype itself, which MPI deletes with it; basic types, which nobody
// can free, have a table.
// Cost: an attribute's look-up.
#pragma once

#include <mpi.h>

#include "stria/datatype.hpp"

namespace stria::mpiio {

/// As decode(type), remembered; kInvalidArgument for a type that has not been committed too. What
/// is remembered has been, and stays so. Any thread that may call MPI.
Result<Datatype> decode_and_keep(MPI_Datatype type);

/// The bytes of an item whose type has no gaps; 0 for any other type. Each thread remembers its
/// last answer until a type goes.
int64_t contiguous_bytes(MPI_Datatype type);

}  // namespace stria::mpiio
