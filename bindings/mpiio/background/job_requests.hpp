// The MPI requests of nonblocking file calls: generalized requests, each for a job in
// the background.
//
// Problem: programs wait for thousands of requests in calls that name all of them.
// Method: a table by request serves calls that name one. For lists, MPI itself says which requests
// a call has completed, by the callback that asks for their status. So no call goes through all
// requests here.
// Cost: a lock and a look-up per request. Thread-safe.
#pragma once

#include <mpi.h>

#include <memory>

#include "mpiio/background/jobs.hpp"

namespace stria::mpiio {

/// Makes the job's request.
void make_request(const std::shared_ptr<Job>& job, MPI_Request* request);
/// Notes that the job is done; the next complete_finished() tells MPI. Any thread.
void note_finished(const std::shared_ptr<Job>& job) noexcept;

/// True when there are jobs' requests for which the program has not waited.
bool have_requests();
/// Returns the job of a request; null for one of MPI's own.
std::shared_ptr<Job> job_of(MPI_Request request);
/// Tells whether any of these belongs to a job.
bool has_job(int count, const MPI_Request* requests);
/// Tells MPI of the jobs that are done.
void complete_finished();

/// While it lives, notes the jobs whose requests MPI completes in this thread. One at a time. It
/// allocates nothing, because MPI's callback must not throw.
class Completions {
 public:
  Completions();
  ~Completions();
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;

  /// Returns the last one noted; the others by `noted_before`. Null when there is none.
  const std::shared_ptr<Job>& last() const { return last_; }
  void add(const std::shared_ptr<Job>& job) noexcept;

 private:
  std::shared_ptr<Job> last_;
};

}  // namespace stria::mpiio
