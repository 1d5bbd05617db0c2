// What is left to do before MPI ends, in an order of ours.
//
// Problem: libraries hear of the end of MPI by an attribute of MPI_COMM_SELF, the one place where they may still communicate,
// last set first called; that order would depend on what a program happened to call first. Method: one attribute, and stages.
#pragma once

namespace stria {

enum class MpiEnd {
  kFiles,          ///< those still open are left: others may be waiting for this rank
  kTrace,          ///< the ranks' traces are merged
  kCommunicators,  ///< ours are freed
};

/// Has `call` called in its stage when MPI_Finalize begins. One call a stage. \pre MPI is initialised
void at_end_of_mpi(MpiEnd stage, void (*call)());

/// Whether MPI can be called: it has been initialised and has not ended.
bool is_mpi_running();

/// Waits until the messages that nobody waits for (parking.hpp) are done, but no longer than so many seconds, where they aren't
/// negative. Local.
void wait_for_parked_messages(double seconds);

}  // namespace stria
