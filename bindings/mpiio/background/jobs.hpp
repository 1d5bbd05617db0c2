// Operations in the background: nonblocking calls and split collectives.
//
// Problem: work that isn't MPI's own makes no progress inside MPI, unless MPI_THREAD_MULTIPLE lets
// another thread call it.
// Method: one thread of this library moves the bytes, first come first served, without a call of
// MPI. The requests are generalized requests (job_requests.hpp). The thread that waits or tests
// completes them, in the calls that this library puts before MPI's own (wait_calls.cpp).
// Collective operations need no messages: each rank moves its own bytes, and the ranks of one node
// agree in shared memory (agreements.hpp). Across nodes, the thread also exchanges outcomes with
// the other nodes, without MPI (nodes_board.hpp). There it never waits for a rank to come, because
// that rank may be waiting for this one. Split collectives of several nodes are done by two-phase
// when they begin.
// With the hint stria_async, a collective write is packed into memory of the library first. The
// program's request is then done, and the write goes on as an operation of its own. What reads or
// changes the file on this rank waits for it; its failure is told there, and at the next sync or
// close on every rank.
// Cost: one thread, which starts at the first such call; nothing for programs without such calls.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>

#include "mpiio/transfer/operation.hpp"

namespace stria::mpiio {

struct Job {
  std::shared_ptr<Operation> operation;
  MPI_Request request = MPI_REQUEST_NULL;
  std::atomic<bool> done{false};
  std::atomic<bool> reported{false};  ///< the program has been told
  /// This rank's part of a collective is done; others may be told.
  bool part_done = false;
  bool posted = false;      ///< others have been told
  bool ended_here = false;  ///< all ranks of this node have done their part
  int error_class_here = MPI_SUCCESS;
  std::shared_ptr<Job> finished_before;  ///< the one before, of which MPI may not know either
  bool noted = false;                    ///< MPI completes the request in a call that runs
  std::shared_ptr<Job> noted_before;     ///< the one before in this call (Completions)
  int64_t board_number = kAlone;         ///< a collective whose ranks agree on the boards has one
  static constexpr int64_t kAlone = -1;
};

/// Begins to move the operation's bytes. With a null request, no request is made, and the operation
/// is the begin of a split collective. What can't go on in the background (a registered
/// representation, a split collective of several nodes) is done at once.
std::shared_ptr<Job> start_job(const std::shared_ptr<Operation>& operation, Together together, MPI_Request* request);

/// Waits for the job without burning the processor.
void wait_for_job(Job& job);
/// Waits until this rank's staged writes are in the file. Returns the failure of one, which stays
/// until a sync or the close tells all ranks.
Outcome settle_staged(File& file);
/// Waits for all jobs of a file, and settles its small accesses.
void wait_for_jobs(File& file);
/// Ends the thread. To be called last before MPI ends.
void end_jobs();

/// Waits for the job and tells MPI.
void complete(Job& job);

}  // namespace stria::mpiio
