// Finds out whether a datatype has been committed, which MPI asks of every datatype that moves
// bytes.
//
// Problem: MPI has no call that tells. Types may have been committed before this library could
// watch, and what the MPI library knows is private to it.
// Method: packing no item of the type is an error of class MPI_ERR_TYPE until the type is
// committed, in every MPI that checks arguments. The question is asked on a communicator of one
// rank that returns errors. An MPI that does not check arguments lets uncommitted types pass, here
// as in its own MPI-IO.
// Cost: one call without bytes; nothing for basic types.
#pragma once

#include <mpi.h>

namespace stria::mpiio {

/// False only where MPI itself refuses the type. Any thread that may call MPI. \pre type is not
/// MPI_DATATYPE_NULL
bool is_committed(MPI_Datatype type);

/// Frees the communicator of is_committed(), when MPI ends. From then on, all types
/// count as committed.
void stop_asking_for_commits();

}  // namespace stria::mpiio
