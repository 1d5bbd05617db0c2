// MPI's calls that wait for requests or test them. The thread that calls completes the requests of
// files, and their errors reach the program through the file's handler. Without requests of files,
// each is MPI's own call.
#include <algorithm>
#include <numeric>
#include <span>
#include <unordered_map>
#include <vector>

#include "comm/pause.hpp"
#include "mpiio/background/job_requests.hpp"
#include "mpiio/file/handles.hpp"
#include "mpiio/mpi/real_mpi.hpp"
#include "mpiio/transfer/small_access.hpp"

namespace stria::mpiio {

namespace {

// Returns the code of a call that completed one request.
int code_of(int code, const std::shared_ptr<Job>& job) {
  if (code != MPI_SUCCESS || job == nullptr || job->reported.exchange(true)) {
    return code;
  }
  const Operation& operation = *job->operation;
  return report(operation.file->handler(), handle_of(*operation.file), operation.outcome);
}

int code_of_one(int code, const Completions& known) {
  return code_of(code, known.last());
}

// A list of requests as it was before the call, and the requests that the call completed.
class ListCall {
 public:
  ListCall(int count, const MPI_Request* requests) : before_(requests, requests + std::max(count, 0)) {}

  // Returns the code of a call that completed those at `indices`, one after the other in
  // `statuses`.
  int code(int code, std::span<const int> indices, MPI_Status* statuses) const {
    const auto failed = failed_jobs();
    if (failed.empty()) {
      return code;
    }
    for (size_t i = 0; i < indices.size(); ++i) {
      const auto job = failed.find(before_[static_cast<size_t>(indices[i])]);
      const int own = job == failed.end() ? MPI_SUCCESS : code_of(MPI_SUCCESS, job->second);
      if (statuses != MPI_STATUSES_IGNORE && (own != MPI_SUCCESS || code == MPI_SUCCESS)) {
        statuses[i].MPI_ERROR = own;
      }
    }
    return MPI_ERR_IN_STATUS;
  }

  int code_of_all(int code, MPI_Status* statuses) const {
    if (failed_jobs().empty()) {
      return code;
    }
    std::vector<int> all(before_.size());
    std::iota(all.begin(), all.end(), 0);
    return this->code(code, all, statuses);
  }

 private:
  std::unordered_map<MPI_Request, std::shared_ptr<Job>> failed_jobs() const {
    std::unordered_map<MPI_Request, std::shared_ptr<Job>> failed;
    for (auto job = completions_.last(); job != nullptr; job = job->noted_before) {
      if (!job->operation->outcome.ok() && !job->reported) {
        failed.emplace(job->request, job);
      }
    }
    return failed;
  }

  Completions completions_;
  std::vector<MPI_Request> before_;
};

int wait_one(decltype(MPI_Wait)& next, MPI_Request* request, MPI_Status* status) {
  const OrderingCall orders;
  auto job = have_requests() ? job_of(*request) : nullptr;
  if (job != nullptr) {
    complete(*job);
  }
  return code_of(next(request, status), job);
}

int test_one(decltype(MPI_Test)& next, MPI_Request* request, int* flag, MPI_Status* status) {
  const OrderingCall orders;
  if (!have_requests()) {
    return next(request, flag, status);
  }
  complete_finished();
  Completions known;
  const int code = next(request, flag, status);
  return code_of_one(code, known);
}

int wait_all(decltype(MPI_Waitall)& next, int count, MPI_Request requests[], MPI_Status statuses[]) {
  const OrderingCall orders;
  if (!have_requests()) {
    return next(count, requests, statuses);
  }
  for (int i = 0; i < count; ++i) {
    if (const auto job = job_of(requests[i])) {
      complete(*job);
    }
  }
  ListCall call(count, requests);
  return call.code_of_all(next(count, requests, statuses), statuses);
}

int test_all(decltype(MPI_Testall)& next, int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  const OrderingCall orders;
  if (!have_requests()) {
    return next(count, requests, flag, statuses);
  }
  complete_finished();
  ListCall call(count, requests);
  const int code = next(count, requests, flag, statuses);
  return *flag != 0 ? call.code_of_all(code, statuses) : code;
}

int test_any(decltype(MPI_Testany)& next, int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  const OrderingCall orders;
  if (!have_requests()) {
    return next(count, requests, index, flag, status);
  }
  complete_finished();
  Completions known;
  const int code = next(count, requests, index, flag, status);
  return code_of_one(code, known);
}

int test_some(decltype(MPI_Testsome)& next, int count, MPI_Request requests[], int* done_count, int done[],
              MPI_Status statuses[]) {
  const OrderingCall orders;
  if (!have_requests()) {
    return next(count, requests, done_count, done, statuses);
  }
  complete_finished();
  ListCall call(count, requests);
  const int code = next(count, requests, done_count, done, statuses);
  const int some = *done_count == MPI_UNDEFINED ? 0 : *done_count;
  return call.code(code, std::span<const int>(done, static_cast<size_t>(some)), statuses);
}

// Waits by testing, because MPI's own waiting call would not look after requests of files.
int wait_any(decltype(MPI_Waitany)& next, int count, MPI_Request requests[], int* index, MPI_Status* status) {
  const OrderingCall orders;
  for (int attempt = 0; have_requests(); ++attempt) {
    int flag = 0;
    const int code = test_any(STRIA_MPIIO_REAL(Testany), count, requests, index, &flag, status);
    if (code != MPI_SUCCESS || flag != 0) {
      return code;
    }
    if (attempt == 0 && !has_job(count, requests)) {
      break;
    }
    stria::polite_pause(attempt);
  }
  return next(count, requests, index, status);
}

int wait_some(decltype(MPI_Waitsome)& next, int count, MPI_Request requests[], int* done_count, int done[],
              MPI_Status statuses[]) {
  const OrderingCall orders;
  for (int attempt = 0; have_requests(); ++attempt) {
    const int code = test_some(STRIA_MPIIO_REAL(Testsome), count, requests, done_count, done, statuses);
    if (code != MPI_SUCCESS || *done_count != 0) {
      return code;
    }
    if (attempt == 0 && !has_job(count, requests)) {
      break;
    }
    stria::polite_pause(attempt);
  }
  return next(count, requests, done_count, done, statuses);
}

int get_status(decltype(MPI_Request_get_status)& next, MPI_Request request, int* flag, MPI_Status* status) {
  const OrderingCall orders;
  if (have_requests()) {
    complete_finished();
  }
  return next(request, flag, status);
}

}  // namespace

}  // namespace stria::mpiio

using namespace stria::mpiio;  // NOLINT: the calls below are this file's purpose

STRIA_MPIIO_ADD_TO(Wait, wait_one, (MPI_Request * request, MPI_Status* status), request, status)
STRIA_MPIIO_ADD_TO(Test, test_one, (MPI_Request * request, int* flag, MPI_Status* status), request, flag, status)
STRIA_MPIIO_ADD_TO(Waitall, wait_all, (int count, MPI_Request requests[], MPI_Status statuses[]), count, requests, statuses)
STRIA_MPIIO_ADD_TO(Testall, test_all, (int count, MPI_Request requests[], int* flag, MPI_Status statuses[]), count, requests,
                   flag, statuses)
STRIA_MPIIO_ADD_TO(Testany, test_any, (int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status), count,
                   requests, index, flag, status)
STRIA_MPIIO_ADD_TO(Waitany, wait_any, (int count, MPI_Request requests[], int* index, MPI_Status* status), count, requests,
                   index, status)
STRIA_MPIIO_ADD_TO(Testsome, test_some, (int count, MPI_Request requests[], int* done_count, int done[], MPI_Status statuses[]),
                   count, requests, done_count, done, statuses)
STRIA_MPIIO_ADD_TO(Waitsome, wait_some, (int count, MPI_Request requests[], int* done_count, int done[], MPI_Status statuses[]),
                   count, requests, done_count, done, statuses)
STRIA_MPIIO_ADD_TO(Request_get_status, get_status, (MPI_Request request, int* flag, MPI_Status* status), request, flag, status)
