// MPI's calls that wait for requests or test them, so that those of files are completed by the thread that asks, and their
// errors reach the program through the file's handler. Without requests of files each is MPI's own call.
#include <algorithm>
#include <vector>

#include "comm/pause.hpp"
#include "handles.hpp"
#include "jobs.hpp"
#include "real_mpi.hpp"

namespace stria::mpiio {

namespace {

using JobList = std::vector<std::shared_ptr<Job>>;

JobList jobs_of(int count, const MPI_Request* requests) {
  JobList list(static_cast<size_t>(std::max(count, 0)));
  for (size_t i = 0; i < list.size(); ++i) {
    list[i] = job_of(requests[i]);
  }
  return list;
}

bool any(const JobList& list) {
  return std::any_of(list.begin(), list.end(), [](const auto& job) { return job != nullptr; });
}

// The code of a call that completed one request.
int code_of(int code, const std::shared_ptr<Job>& job) {
  if (code != MPI_SUCCESS || job == nullptr || job->reported.exchange(true)) {
    return code;
  }
  const Operation& operation = *job->operation;
  return report(operation.file->handler, handle_of(*operation.file), operation.outcome);
}

// The code of a call that completed those of `list` at `indices`, one after the other in `statuses`.
int code_of_many(int code, const JobList& list, const std::vector<size_t>& indices, MPI_Status* statuses) {
  bool failed = false;
  for (size_t index : indices) {
    const auto& job = list[index];
    failed = failed || (job != nullptr && !job->operation->outcome.ok() && !job->reported);
  }
  if (!failed) {
    return code;
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    const int own = code_of(MPI_SUCCESS, list[indices[i]]);
    if (statuses != MPI_STATUSES_IGNORE && (own != MPI_SUCCESS || code == MPI_SUCCESS)) {
      statuses[i].MPI_ERROR = own;
    }
  }
  return MPI_ERR_IN_STATUS;
}

std::vector<size_t> all_indices(int count) {
  std::vector<size_t> indices(static_cast<size_t>(std::max(count, 0)));
  for (size_t i = 0; i < indices.size(); ++i) {
    indices[i] = i;
  }
  return indices;
}

int code_of_some(int code, const JobList& list, int done_count, const int* done, MPI_Status* statuses) {
  std::vector<size_t> indices;
  for (int i = 0; done_count != MPI_UNDEFINED && i < done_count; ++i) {
    indices.push_back(static_cast<size_t>(done[i]));
  }
  return code_of_many(code, list, indices, statuses);
}

int wait_one(decltype(MPI_Wait)& next, MPI_Request* request, MPI_Status* status) {
  auto job = have_requests() ? job_of(*request) : nullptr;
  if (job != nullptr) {
    complete(*job);
  }
  return code_of(next(request, status), job);
}

int test_one(decltype(MPI_Test)& next, MPI_Request* request, int* flag, MPI_Status* status) {
  if (!have_requests()) {
    return next(request, flag, status);
  }
  complete_finished();
  auto job = job_of(*request);
  const int code = next(request, flag, status);
  return code == MPI_SUCCESS && *flag != 0 ? code_of(code, job) : code;
}

int wait_all(decltype(MPI_Waitall)& next, int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (!have_requests()) {
    return next(count, requests, statuses);
  }
  const JobList list = jobs_of(count, requests);
  for (const auto& job : list) {
    if (job != nullptr) {
      complete(*job);
    }
  }
  const int code = next(count, requests, statuses);
  return code_of_many(code, list, all_indices(count), statuses);
}

int test_all(decltype(MPI_Testall)& next, int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (!have_requests()) {
    return next(count, requests, flag, statuses);
  }
  complete_finished();
  const JobList list = jobs_of(count, requests);
  const int code = next(count, requests, flag, statuses);
  return *flag != 0 ? code_of_many(code, list, all_indices(count), statuses) : code;
}

int test_any(decltype(MPI_Testany)& next, int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (!have_requests()) {
    return next(count, requests, index, flag, status);
  }
  complete_finished();
  const JobList list = jobs_of(count, requests);
  const int code = next(count, requests, index, flag, status);
  const bool one = code == MPI_SUCCESS && *flag != 0 && *index != MPI_UNDEFINED;
  return one ? code_of(code, list[static_cast<size_t>(*index)]) : code;
}

int wait_any(decltype(MPI_Waitany)& next, int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (!have_requests() || !any(jobs_of(count, requests))) {
    return next(count, requests, index, status);
  }
  for (int attempt = 0;; ++attempt) {
    int flag = 0;
    const int code = test_any(STRIA_MPIIO_REAL(Testany), count, requests, index, &flag, status);
    if (code != MPI_SUCCESS || flag != 0) {
      return code;
    }
    stria::polite_pause(attempt);
  }
}

int test_some(decltype(MPI_Testsome)& next, int count, MPI_Request requests[], int* done_count, int done[],
              MPI_Status statuses[]) {
  if (!have_requests()) {
    return next(count, requests, done_count, done, statuses);
  }
  complete_finished();
  const JobList list = jobs_of(count, requests);
  const int code = next(count, requests, done_count, done, statuses);
  return code_of_some(code, list, *done_count, done, statuses);
}

int wait_some(decltype(MPI_Waitsome)& next, int count, MPI_Request requests[], int* done_count, int done[],
              MPI_Status statuses[]) {
  if (!have_requests() || !any(jobs_of(count, requests))) {
    return next(count, requests, done_count, done, statuses);
  }
  for (int attempt = 0;; ++attempt) {
    const int code = test_some(STRIA_MPIIO_REAL(Testsome), count, requests, done_count, done, statuses);
    if (code != MPI_SUCCESS || *done_count != 0) {
      return code;
    }
    stria::polite_pause(attempt);
  }
}

int get_status(decltype(MPI_Request_get_status)& next, MPI_Request request, int* flag, MPI_Status* status) {
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
