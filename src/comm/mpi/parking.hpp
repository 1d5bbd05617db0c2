// Keeps what a rank is done with but can't end by itself: messages for which no one waits, and
// communicators.
//
// Problem: freeing a communicator is collective, but an object that has one may be destroyed at any
// time. Destructors run in another order on each rank where an exception passes or a garbage
// collector decides.
// Method: both are kept here. A message is freed once it is done. A communicator is freed when
// another is made, or when MPI ends. The ranks that meet there tell each other which communicators
// they have parked. Those that all of their ranks have parked are freed, in the same order on all.
// Cost: one small reduction whenever a communicator is made; where communicators are parked, also a
// gathering of their numbers.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "comm/comm.hpp"

namespace stria {

/// Takes over a message on `comm`. Local.
void park_message(MPI_Comm comm, std::unique_ptr<CommRequest>&& message);

/// A communicator of the library. All ranks of `world` know it by `number`; `node` is another
/// communicator or the same one.
struct ParkedComm {
  uint64_t number = 0;
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Comm node = MPI_COMM_NULL;
  int ranks = 0;     ///< the ranks of `world`
  int wait_tag = 0;  ///< tag of messages that may not have been received (wait_watch.hpp)
};
void park_communicator(const ParkedComm& comm);

/// Returns a number that no other communicator has, the same on all ranks of `comm`.
/// Collective: over `comm`.
uint64_t number_communicator(MPI_Comm comm);
/// Frees each communicator that all of its ranks have parked, where they are all among the ranks of
/// `comm`. Several threads may do this at once, each with a communicator of its own.
/// Collective: over `comm`.
void free_parked(MPI_Comm comm);
/// Returns how many communicators this rank has parked. Local.
size_t parked_communicator_count();
/// Waits for all messages and frees all communicators. It is called at the end of MPI, which all
/// ranks reach.
void free_all_parked();

}  // namespace stria
