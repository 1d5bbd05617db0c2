#include "jobs.hpp"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "comm/pause.hpp"
#include "trace/recorder.hpp"
#include "trace/span.hpp"
#include "trace/wait_timer.hpp"

namespace stria::mpiio {

namespace {

// How long to sleep between looks at what other ranks have done, and at what MPI has to do.
constexpr auto kBoardPause = std::chrono::microseconds(100);
constexpr auto kMessagePause = std::chrono::milliseconds(1);

struct Jobs {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Job>> waiting;
  std::deque<std::shared_ptr<Job>> agreeing;  // this rank's part is done, the others' perhaps not
  std::deque<std::shared_ptr<Job>> away;      // this node's part is done, that of other nodes perhaps not
  std::atomic<int> away_count{0};
  std::mutex away_mutex;                                 // one thread looks at other nodes
  std::map<MPI_Request, std::shared_ptr<Job>> requests;  // until MPI frees them
  std::atomic<int> request_count{0};
  std::thread thread;
  bool ending = false;
};

// Never destroyed: exit handlers may still look.
Jobs& jobs() {
  static Jobs* instance = new Jobs;
  return *instance;
}

// \pre the mutex is held
void mark_done(Job& job) {
  job.done = true;
  --job.operation->file->pending;
  jobs().changed.notify_all();
}

JobBoard& board_of(const Job& job) {
  return *job.operation->file->channel->shared->board();
}

NodesBoard* nodes_of(const File& file) {
  return file.channel->shared->nodes();
}

// Keeps this rank's own failure, which says more.
void note_failure_elsewhere(Job& job, int error_class) {
  Operation& operation = *job.operation;
  if (operation.outcome.ok() && error_class != MPI_SUCCESS) {
    operation.outcome = {error_class, "'" + operation.file->path + "': another rank of the collective operation failed"};
  }
}

// This rank's part has been moved. \pre the mutex is held
void part_done(const std::shared_ptr<Job>& job) {
  if (job->board_number == Job::kAlone) {
    mark_done(*job);
    return;
  }
  board_of(*job).post(job->board_number, job->operation->outcome.error_class());
  jobs().agreeing.push_back(job);
  jobs().changed.notify_all();
}

// \pre the mutex is held
void look_at_boards() {
  std::erase_if(jobs().agreeing, [](const std::shared_ptr<Job>& job) {
    int error_class = MPI_SUCCESS;
    if (!board_of(*job).complete(job->board_number, error_class)) {
      return false;
    }
    note_failure_elsewhere(*job, error_class);
    if (NodesBoard* nodes = nodes_of(*job->operation->file)) {
      nodes->publish(job->board_number, error_class);
      jobs().away.push_back(job);
      ++jobs().away_count;
    } else {
      mark_done(*job);
    }
    return true;
  });
}

// Only the program's own threads may ask MPI.
void look_at_other_nodes() {
  if (jobs().away_count.load() == 0) {
    return;
  }
  const std::unique_lock looking(jobs().away_mutex, std::try_to_lock);
  if (!looking.owns_lock()) {
    return;
  }
  std::vector<std::shared_ptr<Job>> away;
  {
    const std::lock_guard lock(jobs().mutex);
    away.assign(jobs().away.begin(), jobs().away.end());
  }
  for (const std::shared_ptr<Job>& job : away) {
    int error_class = MPI_SUCCESS;
    if (nodes_of(*job->operation->file)->complete(job->board_number, error_class)) {
      const std::lock_guard lock(jobs().mutex);
      std::erase(jobs().away, job);
      --jobs().away_count;
      note_failure_elsewhere(*job, error_class);
      mark_done(*job);
    }
  }
}

// What others wait for before they do their part of an operation may need this rank in a call of MPI: a message that has begun,
// what it exposes in a window. The call is one that looks at what has come, which with MPI_COMM_SELF MPICH's does not.
void let_messages_go_on() {
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

// Waits without burning the processor.
template <typename Done>
void wait_until(const File& file, Done&& done) {
  if (nodes_of(file) == nullptr) {
    std::unique_lock lock(jobs().mutex);
    while (!jobs().changed.wait_for(lock, kMessagePause, done)) {
      lock.unlock();
      let_messages_go_on();
      lock.lock();
    }
    return;
  }
  for (int attempt = 0; !done(); ++attempt) {
    look_at_other_nodes();
    let_messages_go_on();
    polite_pause(attempt);
  }
}

void run_in_background(Operation& operation) {
  static const trace::Kind kWrite = trace::Recorder::instance().define_kind("background write", trace::Layer::kEngine);
  static const trace::Kind kRead = trace::Recorder::instance().define_kind("background read", trace::Layer::kEngine);
  trace::FileSpan span(operation.writes() ? kWrite : kRead, operation.file->trace_id);
  span->set_bytes(operation.bytes);
  run_independent(operation, *operation.file->background);
}

void work() {
  std::unique_lock lock(jobs().mutex);
  const auto has_news = [] { return jobs().ending || !jobs().waiting.empty(); };
  while (true) {
    if (jobs().agreeing.empty()) {
      jobs().changed.wait(lock, [&] { return has_news() || !jobs().agreeing.empty(); });
    } else {
      jobs().changed.wait_for(lock, kBoardPause, has_news);
    }
    look_at_boards();
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
    part_done(job);
  }
}

// The program's signals are not for this thread.
void start_thread() {
  if (jobs().thread.joinable()) {
    return;
  }
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  jobs().thread = std::thread(work);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool open_background(File& file) {
  if (file.background == nullptr) {
    storage::OpenOptions options;
    options.mode = file.storage_mode();
    auto opened = file.driver->open(file.path, options);
    if (!opened.ok()) {
      return false;  // its name is gone, for instance
    }
    file.background = std::move(*opened);
  }
  return true;
}

bool can_wait_in_background(const Operation& operation) {
  return operation.outcome.ok() && operation.view->representation()->kind != Representation::Kind::kRegistered;
}

// ---- the generalized request

int query(void* state, MPI_Status* status) {
  const auto& job = *static_cast<std::shared_ptr<Job>*>(state);
  MPI_Status_set_elements_x(status, MPI_BYTE, job->operation->memory_bytes);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  // An error is reported by the call that waits: MPI would take it for one of a communicator, whose handler ends the program.
  return MPI_SUCCESS;
}

int release(void* state) {
  auto* job = static_cast<std::shared_ptr<Job>*>(state);
  {
    std::lock_guard lock(jobs().mutex);
    jobs().requests.erase((*job)->request);
    --jobs().request_count;
  }
  delete job;
  return MPI_SUCCESS;
}

int cancel(void*, int) {
  return MPI_SUCCESS;  // too late: what has begun is finished
}

void make_request(const std::shared_ptr<Job>& job, MPI_Request* request) {
  MPI_Grequest_start(query, release, cancel, new std::shared_ptr<Job>(job), request);
  job->request = *request;
  std::lock_guard lock(jobs().mutex);
  jobs().requests[*request] = job;
  ++jobs().request_count;
}

}  // namespace

std::shared_ptr<Job> start_job(const std::shared_ptr<Operation>& operation, bool collective, MPI_Request* request) {
  auto job = std::make_shared<Job>();
  job->operation = operation;
  File& file = *operation->file;
  ++file.pending;
  if (request != nullptr) {
    make_request(job, request);
  }
  JobBoard* board = file.channel->shared->board();
  // The first half of a split collective may wait for the other ranks; a nonblocking call must not.
  const bool by_messages = collective && request == nullptr && nodes_of(file) != nullptr;
  if (collective && request != nullptr && file.comm().size() > 1) {
    job->board_number = board->begin([] {
      look_at_other_nodes();
      let_messages_go_on();
    });
  }
  if (!by_messages && can_wait_in_background(*operation) && open_background(file)) {
    std::lock_guard lock(jobs().mutex);
    start_thread();
    jobs().waiting.push_back(job);
    jobs().changed.notify_all();
    return job;
  }
  if (by_messages) {
    run_collective(*operation);
  } else {
    run_independent(*operation);
  }
  std::lock_guard lock(jobs().mutex);
  if (job->board_number != Job::kAlone) {
    start_thread();
  }
  part_done(job);
  return job;
}

void wait_for_job(Job& job) {
  if (job.done.load()) {
    return;
  }
  static const trace::Kind kWait = trace::Recorder::instance().define_kind("background wait", trace::Layer::kEngine);
  const trace::FileSpan span(kWait, job.operation->file->trace_id);
  const trace::WaitTimer timer;
  wait_until(*job.operation->file, [&] { return job.done.load(); });
}

void wait_for_jobs(File& file) {
  if (file.pending.load() > 0) {
    const trace::WaitTimer timer;
    wait_until(file, [&] { return file.pending.load() == 0; });
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

bool have_requests() {
  return jobs().request_count.load(std::memory_order_relaxed) > 0;
}

std::shared_ptr<Job> job_of(MPI_Request request) {
  std::lock_guard lock(jobs().mutex);
  auto entry = jobs().requests.find(request);
  return entry == jobs().requests.end() ? nullptr : entry->second;
}

void complete_finished() {
  look_at_other_nodes();
  std::vector<std::shared_ptr<Job>> finished;
  {
    std::lock_guard lock(jobs().mutex);
    for (const auto& [request, job] : jobs().requests) {
      if (job->done && !job->completed.exchange(true)) {
        finished.push_back(job);
      }
    }
  }
  for (const auto& job : finished) {
    MPI_Grequest_complete(job->request);
  }
}

void complete(Job& job) {
  wait_for_job(job);
  if (!job.completed.exchange(true)) {
    MPI_Grequest_complete(job.request);
  }
}

}  // namespace stria::mpiio
