// The communicator over MPI.
//
// Problem: ranks may outnumber cores. An MPI library that spins in a blocking call then takes the
// core from the very rank that it waits for: a barrier of 8 ranks on two cores takes MPICH 40 ms.
// Method: every operation is the nonblocking call, tested in a loop with polite pauses. Counts
// beyond `int` are cut into pieces.
// Cost: a small collective of 4 ranks on 2 cores takes tens of microseconds.
#pragma once

#include <mpi.h>

#include <memory>

#include "comm/comm.hpp"

namespace stria {

/// Makes a communicator over a duplicate of `parent`, so that the library's messages never meet
/// those of the application. MPI must be initialised (MPI_THREAD_FUNNELED is enough), and the
/// result must be destroyed before MPI_Finalize. Errors inside MPI end the job. Ranks are on one
/// node when they can share memory; ranks in different containers of a machine may not. For tests
/// and experiments on one machine, the environment variable STRIA_RANKS_PER_NODE, above 0 and the
/// same on every rank, divides a node into several of at most so many ranks. Collective: yes; the
/// outcome is the same everywhere.
Result<std::unique_ptr<Comm>> make_mpi_comm(MPI_Comm parent);

/// kInvalidArgument when MPI isn't running, or `parent` is no communicator as far as that can be
/// told: MPI_COMM_NULL, and under Open MPI the null pointer that an unknown integer of Fortran
/// becomes. Local.
Status check_communicator(MPI_Comm parent);

/// Returns the library's communicator for `parent`. It is made at the first call, and kept until
/// `parent` is freed or MPI ends. As with any communicator, all ranks must use it in the same
/// order. Collective: yes; the outcome is the same everywhere.
Result<std::shared_ptr<Comm>> cached_mpi_comm(MPI_Comm parent);

}  // namespace stria
