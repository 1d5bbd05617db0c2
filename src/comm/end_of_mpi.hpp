// Describes what the library must do before MPI ends, in a fixed order.
//
// Problem: an attribute of MPI_COMM_SELF tells a library that MPI ends, and only its callback may
// still communicate. MPI calls the attribute that was set last first, so the order would depend on
// what a program happened to call first.
// Method: one attribute, and stages.
#pragma once

namespace stria {

enum class MpiEnd {
  kFiles,          ///< leaves the files that are still open: others may be waiting for this rank
  kTrace,          ///< merges the ranks' traces
  kCommunicators,  ///< frees the library's own
};

/// Makes MPI_Finalize call `call` at its beginning, in this stage. Each stage has one call. \pre
/// MPI is initialised
void at_end_of_mpi(MpiEnd stage, void (*call)());

/// Tells whether MPI can be called: it has been initialised and has not ended.
bool is_mpi_running();

/// Ends all ranks of the job by MPI_Abort with `code`, after a moment in which the launcher can
/// take what this rank has written to its standard error. MPICH's Hydra drops what it has not read
/// by then. Local.
[[noreturn]] void abort_job(int code);

/// Waits until all parked messages (parking.hpp) are done, for at most `seconds` where that isn't
/// negative. Local.
void wait_for_parked_messages(double seconds);

}  // namespace stria
