// Decoded datatypes, kept with the type from which they were decoded.
//
// Problem: small accesses spend longer on decoding their datatype than on moving its bytes. A
// table by handle would describe another type once MPI has reused the freed handle (Latham, Ross
// and Thakur 2007).
// Method: an attribute of the datatype itself, which MPI deletes with it. Basic types can't be
// freed; they have a table.
// Cost: the look-up of an attribute.
#pragma once

#include <mpi.h>

#include "stria/datatype.hpp"

namespace stria::mpiio {

/// Does the same as decode(type), and remembers the result. Also kInvalidArgument for a type that
/// has not been committed; a remembered type has been, and stays so. Any thread that may call MPI.
Result<Datatype> decode_and_keep(MPI_Datatype type);

/// Returns the bytes of an item whose type has no gaps; 0 for any other type. Each thread remembers
/// its last answer until a type goes.
int64_t contiguous_bytes(MPI_Datatype type);

}  // namespace stria::mpiio
