// What a rank is done with but can't end alone: messages that nobody waits for, and communicators.
//
// Problem: freeing a communicator is collective, and an object that has one may go at any time: destructors run in another
// order on each rank where an exception passes or a garbage collector decides. Method: both are kept. A message goes once it is
// done. A communicator goes when another is made, or when MPI ends: the ranks that meet there tell each other which ones they
// have parked, and those that all of their ranks have parked are freed, in the same order on all. Cost: one small reduction
// whenever a communicator is made; where there are parked ones their numbers, gathered.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "comm/comm.hpp"

namespace stria {

/// Takes over a message on `comm`. Local.
void park_message(MPI_Comm comm, std::unique_ptr<CommRequest>&& message);

/// Ours: all ranks of `world` know it by `number`; `node` is another or the same. Local.
struct ParkedComm {
  uint64_t number = 0;
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Comm node = MPI_COMM_NULL;
  int wait_tag = 0;  ///< of messages that nobody may have taken (wait_watch.hpp)
};
void park_communicator(const ParkedComm& comm);

/// A number for a communicator that no other has, the same on all of its ranks. Collective: over `comm`.
uint64_t number_communicator(MPI_Comm comm);
/// Frees what all ranks of a parked communicator have parked, as far as those are among the ranks of `comm`. Collective: over
/// `comm`.
void free_parked(MPI_Comm comm);
/// How many communicators of this rank are parked. Local.
size_t parked_communicator_count();
/// As MPI ends, which all ranks do: waits for all messages and frees all communicators.
void free_all_parked();

}  // namespace stria
