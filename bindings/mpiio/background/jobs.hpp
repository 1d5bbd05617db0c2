// Operations in the background: nonblocking calls and split collectives.
//
// Problem: an MPI library tells a program nothing of work that isn't its own unless
// MPI_THREAD_MULTIPLE lets another thread speak to it.
// Method: one thread of this library moves the bytes, first come first served, without a call of
// MPI; the requests are generalized requests (job_requests.hpp), completed by the thread that waits
// or tests, in the calls that this library puts before MPI's own (wait_calls.cpp). Collective
// operations need no messages: each rank moves its own bytes, and those of one node agree in shared
// memory (agreements.hpp). Of several nodes, the thread also tells the others how the operation
// went and hears it of them, past MPI (nodes_board.hpp): nobody waits there for a rank to come,
// which may itself be waiting for this one. Split collectives of several nodes are done by
// two-phase when they begin.
// Cost: one thread, begun at the first such call; nothing for programs without.
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
  /// This rank's part of a collective is, which others may learn.
  bool part_done = false;
  bool posted = false;            ///< they can
  int64_t board_number = kAlone;  ///< of a collective whose ranks agree on the boards
  static constexpr int64_t kAlone = -1;
};

/// Begins to move the operation's bytes; null request: none is made, and the operation is the first
/// half of a split collective. What can't go on in the background (a registered representation, a
/// split collective of several nodes) is done at once.
std::shared_ptr<Job> start_job(const std::shared_ptr<Operation>& operation, Together together, MPI_Request* request);

/// Waits for the job without burning the processor.
void wait_for_job(Job& job);
/// Waits for all of a file.
void wait_for_jobs(File& file);
/// Ends the thread. The last thing that is done before MPI ends.
void end_jobs();

/// Waits for the job and tells MPI.
void complete(Job& job);

}  // namespace stria::mpiio
