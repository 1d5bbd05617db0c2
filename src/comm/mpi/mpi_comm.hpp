// The communicator over MPI.
//
// Problem: ranks may outnumber cores, and an MPI library that spins in a blocking call then steals the core from the very rank
// that it waits for (an 8-rank barrier of MPICH on two cores takes 40 ms). Method: every operation is the nonblocking call,
// tested in a loop with polite pauses between. Counts beyond `int` are cut into pieces. Cost: a small collective of 4 ranks on
// 2 cores takes tens of microseconds.
#pragma once

#include <mpi.h>

#include <memory>

#include "comm/comm.hpp"

namespace stria {

/// Makes a communicator over a duplicate of `parent`, so that no message of ours ever meets one of the application's. MPI must
/// be initialised (MPI_THREAD_FUNNELED is enough) and the result must go before MPI_Finalize. Errors inside MPI are fatal to
/// the job. Ranks are of one node when they can share memory: those of different containers on a machine may not. Where the
/// environment variable STRIA_RANKS_PER_NODE is a number above 0, the same on every rank, a node's ranks are taken for several
/// nodes of at most so many: for tests and experiments on one machine. Collective: yes; the outcome is the same everywhere.
Result<std::unique_ptr<Comm>> make_mpi_comm(MPI_Comm parent);

/// The communicator of ours that belongs to `parent`: made at the first call, kept until `parent` is freed or MPI ends. Its
/// users must call in the same order on every rank, as for any communicator. Collective: yes; the outcome is the same
/// everywhere.
Result<std::shared_ptr<Comm>> cached_mpi_comm(MPI_Comm parent);

}  // namespace stria
