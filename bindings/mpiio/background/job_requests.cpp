#include "mpiio/background/job_requests.hpp"

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace stria::mpiio {

namespace {

struct Requests {
  std::mutex mutex;
  std::unordered_map<MPI_Request, std::shared_ptr<Job>> jobs;  // until MPI frees them
  std::atomic<int> count{0};
  std::shared_ptr<Job> finished;  // the last; MPI may not know of it, and of those before
  std::atomic<bool> any_finished{false};
};

// They are never destroyed: exit handlers may still look.
Requests& requests() {
  static Requests* instance = new Requests;
  return *instance;
}

constinit thread_local Completions* completions __attribute__((tls_model("initial-exec"))) = nullptr;

// MPI calls this when a call of the program completes the request.
int query(void* state, MPI_Status* status) {
  const auto& job = *static_cast<std::shared_ptr<Job>*>(state);
  if (completions != nullptr) {
    completions->add(job);
  }
  MPI_Status_set_elements_x(status, MPI_BYTE, job->operation->memory_bytes);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  // The call that waits reports the error. MPI would treat it as a communicator's error, whose
  // handler ends the program.
  return MPI_SUCCESS;
}

int release(void* state) {
  auto* job = static_cast<std::shared_ptr<Job>*>(state);
  {
    const std::lock_guard lock(requests().mutex);
    requests().jobs.erase((*job)->request);
    --requests().count;
  }
  delete job;
  return MPI_SUCCESS;
}

int cancel(void*, int) {
  return MPI_SUCCESS;  // too late: what has begun is finished
}

}  // namespace

void make_request(const std::shared_ptr<Job>& job, MPI_Request* request) {
  MPI_Grequest_start(query, release, cancel, new std::shared_ptr<Job>(job), request);
  job->request = *request;
  const std::lock_guard lock(requests().mutex);
  requests().jobs[*request] = job;
  ++requests().count;
}

void note_finished(const std::shared_ptr<Job>& job) noexcept {
  const std::lock_guard lock(requests().mutex);
  job->finished_before = std::exchange(requests().finished, job);
  requests().any_finished = true;
}

bool have_requests() {
  return requests().count.load(std::memory_order_relaxed) > 0;
}

std::shared_ptr<Job> job_of(MPI_Request request) {
  const std::lock_guard lock(requests().mutex);
  const auto entry = requests().jobs.find(request);
  return entry == requests().jobs.end() ? nullptr : entry->second;
}

bool has_job(int count, const MPI_Request* list) {
  const std::lock_guard lock(requests().mutex);
  for (int i = 0; i < count; ++i) {
    if (list[i] != MPI_REQUEST_NULL && requests().jobs.contains(list[i])) {
      return true;
    }
  }
  return false;
}

void complete_finished() {
  if (!requests().any_finished.load()) {
    return;
  }
  std::shared_ptr<Job> job;
  {
    const std::lock_guard lock(requests().mutex);
    job = std::exchange(requests().finished, nullptr);
    requests().any_finished = false;
  }
  while (job != nullptr) {
    MPI_Grequest_complete(job->request);
    job = std::exchange(job->finished_before, nullptr);
  }
}

Completions::Completions() {
  completions = this;
}

Completions::~Completions() {
  completions = nullptr;
  while (last_ != nullptr) {
    last_->noted = false;
    last_ = std::exchange(last_->noted_before, nullptr);
  }
}

void Completions::add(const std::shared_ptr<Job>& job) noexcept {
  if (!std::exchange(job->noted, true)) {
    job->noted_before = std::exchange(last_, job);
  }
}

}  // namespace stria::mpiio
