// Whether a datatype has been committed, which MPI asks of every datatype that moves bytes.
//
// Problem: MPI has no call that tells, the types may have been committed before this library could
// watch, and the handles of MPI libraries keep it where only they may look.
// Method: packing no item of the type is an error of class MPI_ERR_TYPE until the type is
// committed, in every MPI that checks arguments. It is asked on a communicator of one rank that
// returns errors. An MPI that was told not to check arguments lets uncommitted types pass, here as
// with its own MPI-IO.
// Cost: one call without bytes; nothing for basic types.
#pragma once

#include <mpi.h>

namespace stria::mpiio {

/// False only where MPI itself refuses the type. Any thread that may call MPI. \pre type is not
/// MPI_DATATYPE_NULL
bool is_committed(MPI_Datatype type);

/// Frees what is_committed() asks on. As MPI ends: types count as committed from then on.
void stop_asking_for_commits();

}  // namespace stria::mpiio
