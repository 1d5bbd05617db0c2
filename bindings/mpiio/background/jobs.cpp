#include "mpiio/background/jobs.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <thread>

#include "base/check.hpp"
#include "base/held.hpp"
#include "base/signals_blocked.hpp"
#include "comm/pause.hpp"
#include "mpiio/background/agreements.hpp"
#include "mpiio/background/job_requests.hpp"
#include "mpiio/transfer/small_access.hpp"
#include "trace/record/background_timer.hpp"
#include "trace/record/wait_timer.hpp"

namespace stria::mpiio {

namespace {

// How long a thread sleeps between looks at what other ranks have done, and at what MPI has to do.
constexpr auto kBoardPause = std::chrono::microseconds(100);
constexpr auto kMessagePause = std::chrono::milliseconds(1);

struct Jobs {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Job>> waiting;
  Agreements agreements;
  std::thread thread;
  bool ending = false;
};

// They are never destroyed: exit handlers may still look.
Jobs& jobs() {
  static Jobs* instance = new Jobs;
  return *instance;
}

void mark_done(const Held& held, const std::shared_ptr<Job>& job) {
  STRIA_ASSERT(holds(held, jobs().mutex) && !job->done.load(), job->board_number);
  if (job->request != MPI_REQUEST_NULL) {
    note_finished(job);  // first, because a thread that sees the job done tells MPI
  }
  job->done = true;
  UnderWay& under_way = job->operation->file->under_way();
  if (job->operation->staged != nullptr) {
    under_way.keep_failure(job->operation->outcome);
  }
  under_way.end();
  jobs().changed.notify_all();
}

void look_at_others(const Held& held) {
  STRIA_ASSERT(holds(held, jobs().mutex));
  for (const auto& job : jobs().agreements.look()) {
    mark_done(held, job);
  }
}

// This rank's part has been moved.
void end_part(const Held& held, const std::shared_ptr<Job>& job) {
  STRIA_ASSERT(holds(held, jobs().mutex) && !job->part_done, job->board_number);
  if (job->operation->staged != nullptr) {
    UnderWay& under_way = job->operation->file->under_way();
    under_way.keep_failure(job->operation->outcome);
    under_way.end_staged();
  }
  if (job->board_number == Job::kAlone) {
    mark_done(held, job);
    return;
  }
  job->part_done = true;
  look_at_others(held);
  jobs().changed.notify_all();
}

// Another rank may wait for a message before it does its part of an operation, and the message may
// need this rank in a call of MPI. The call must look for messages that have come; with
// MPI_COMM_SELF, MPICH's does not.
void let_messages_go_on() {
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

// Waits without burning the processor.
template <typename Done>
void wait_until(File& file, Done&& done) {
  Held lock(jobs().mutex);
  for (bool begins = true; !jobs().changed.wait_for(lock, kMessagePause, done); begins = false) {
    look_at_others(lock);  // The background thread does so too, where there is one.
    lock.unlock();
    let_messages_go_on();
    file.comm().look_at_wait(begins);
    lock.lock();
  }
}

// Runs `body`. What it throws becomes the operation's outcome.
template <typename Body>
void guard(Operation& operation, const Body& body) {
  try {
    body();
  } catch (const std::bad_alloc&) {
    operation.outcome = outcome_in_words(MPI_ERR_NO_MEM, [&] { return "'" + operation.file->path() + "': out of memory"; });
  } catch (const std::exception& error) {
    operation.outcome = outcome_in_words(MPI_ERR_INTERN, [&] { return "'" + operation.file->path() + "': " + error.what(); });
  }
}

void run_in_background(Operation& operation) {
  guard(operation, [&] {
    trace::BackgroundTimer timer(operation.file->trace().id(),
                                 operation.writes() ? trace::BuiltIn::kBackgroundWrite : trace::BuiltIn::kBackgroundRead,
                                 trace::Counter::kBackgroundNs);
    timer.set_bytes(operation.bytes);
    run_independent(operation, *operation.file->storage().background());
  });
}

void work() {
  Held lock(jobs().mutex);
  const auto has_news = [] { return jobs().ending || !jobs().waiting.empty(); };
  while (true) {
    if (jobs().agreements.empty()) {
      jobs().changed.wait(lock, [&] { return has_news() || !jobs().agreements.empty(); });
    } else {
      jobs().changed.wait_for(lock, kBoardPause, has_news);
    }
    look_at_others(lock);
    if (jobs().waiting.empty()) {
      if (jobs().ending) {
        return;
      }
      continue;
    }
    std::shared_ptr<Job> job = std::move(jobs().waiting.front());
    jobs().waiting.pop_front();
    lock.unlock();
    run_in_background(*job->operation);
    lock.lock();
    end_part(lock, job);
  }
}

void start_thread() {
  if (!jobs().thread.joinable()) {
    const SignalsBlocked blocked;
    jobs().thread = std::thread(work);
  }
}

bool can_wait_in_background(const Operation& operation) {
  return operation.outcome.ok() && operation.view->representation()->kind != Representation::Kind::kRegistered;
}

// False where the system gives no thread or no memory; the caller then does the job itself.
bool enqueue(const std::shared_ptr<Job>& job) {
  try {
    const std::lock_guard lock(jobs().mutex);
    start_thread();
    jobs().waiting.push_back(job);
    jobs().changed.notify_all();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// Ends a job that was done at once. Others may wait to hear of it while this rank is elsewhere; the
// thread tells them. Without a thread they hear of it when this rank waits.
void end_at_once(const std::shared_ptr<Job>& job) {
  const Held lock(jobs().mutex);
  end_part(lock, job);
  try {
    if (!jobs().agreements.empty()) {
      start_thread();
    }
  } catch (const std::exception&) {
    return;
  }
}

// All ranks do the same operations in the same order.
void begin_agreement(const std::shared_ptr<Job>& job) {
  if (job->operation->file->comm().size() > 1) {
    const std::lock_guard lock(jobs().mutex);
    jobs().agreements.begin(job);
  }
}

// Begins, where the operation can be staged, to write it, and returns a job that is done. Else
// null.
std::shared_ptr<Job> start_staged(const std::shared_ptr<Operation>& operation, MPI_Request* request) {
  File& file = *operation->file;
  const auto written = file.staging().is_on && file.storage().background() != nullptr ? stage(*operation) : nullptr;
  if (written == nullptr) {
    return nullptr;
  }
  auto job = std::make_shared<Job>();
  job->operation = operation;
  auto writing = std::make_shared<Job>();
  writing->operation = written;
  file.under_way().begin();
  file.under_way().begin_staged();
  if (request != nullptr) {
    begin_agreement(writing);
  }
  if (!enqueue(writing)) {
    guard(*written, [&] { run_independent(*written); });
    end_at_once(writing);
  }
  operation->moved_bytes = operation->memory_bytes = operation->bytes;
  job->done = true;
  if (request != nullptr) {
    make_request(job, request);
    note_finished(job);
  }
  return job;
}

}  // namespace

std::shared_ptr<Job> start_job(const std::shared_ptr<Operation>& operation, Together together, MPI_Request* request) {
  settle_small(*operation->file);
  const bool collective = together == Together::kCollective;
  if (auto staged = collective ? start_staged(operation, request) : nullptr) {
    return staged;
  }
  auto job = std::make_shared<Job>();
  job->operation = operation;
  File& file = *operation->file;
  file.under_way().begin();
  if (request != nullptr) {
    make_request(job, request);
  }
  // The begin of a split collective may wait for the other ranks; a nonblocking call must not.
  const bool by_messages =
      collective && request == nullptr && file.shared().has_several_nodes() && !(operation->writes() && file.staging().is_on);
  if (collective && request != nullptr) {
    begin_agreement(job);
  }
  if (!by_messages && can_wait_in_background(*operation) && file.storage().background() != nullptr && enqueue(job)) {
    return job;
  }
  static_cast<void>(settle_staged(file).ok());  // its failure stays
  guard(*operation, [&] { by_messages ? run_collective(*operation) : run_independent(*operation); });
  end_at_once(job);
  return job;
}

namespace {

trace::BackgroundTimer wait_timer(File& file) {
  return {file.trace().id(), trace::BuiltIn::kBackgroundWait, trace::Counter::kBackgroundWaitNs};
}

}  // namespace

void wait_for_job(Job& job) {
  if (job.done.load()) {
    return;
  }
  const trace::BackgroundTimer waited = wait_timer(*job.operation->file);
  const trace::WaitTimer timer;
  File& file = *job.operation->file;
  const CallNote note("a nonblocking or split access", file.path(), file.hints_in_force().wait_limits());
  wait_until(file, [&] { return job.done.load(); });
}

Outcome settle_staged(File& file) {
  UnderWay& under_way = file.under_way();
  if (!under_way.concerns_program()) {
    return {};
  }
  if (under_way.any_staged()) {
    const trace::BackgroundTimer waited = wait_timer(file);
    const trace::WaitTimer timer;
    wait_until(file, [&] { return !under_way.any_staged(); });
  }
  return under_way.failure();
}

void wait_for_jobs(File& file) {
  settle_small(file);
  if (file.under_way().any()) {
    const trace::BackgroundTimer waited = wait_timer(file);
    const trace::WaitTimer timer;
    wait_until(file, [&] { return !file.under_way().any(); });
  }
  complete_finished();
}

void end_jobs() {
  {
    std::lock_guard lock(jobs().mutex);
    jobs().ending = true;
    jobs().changed.notify_all();
  }
  if (jobs().thread.joinable()) {
    jobs().thread.join();
  }
}

void complete(Job& job) {
  wait_for_job(job);
  complete_finished();
}

}  // namespace stria::mpiio
