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
  if (code != MPI_SUCCESS || job == nullptr) {
    return code;
  }
  const Operation& operation = *job->operation;
  return report(operation.file->handler, handle_of(*operation.file), operation.outcome);
}

// The code of a call that completed those of `list` at `indices`, one after the other in `statuses`.
int code_of_many(int code, const JobList& list, const std::vector<size_t>& indices, MPI_Status* statuses) {
  bool failed = false;
  for (size_t index : indices) {
    failed = failed || (list[index] != nullptr && !list[index]->operation->outcome.ok());
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

}  // namespace

}  // namespace stria::mpiio

using namespace stria::mpiio;  // NOLINT: the calls below are this file's purpose

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  auto job = have_requests() ? job_of(*request) : nullptr;
  if (job != nullptr) {
    complete(*job);
  }
  return code_of(STRIA_MPIIO_REAL(Wait)(request, status), job);
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (!have_requests()) {
    return STRIA_MPIIO_REAL(Test)(request, flag, status);
  }
  complete_finished();
  auto job = job_of(*request);
  const int code = STRIA_MPIIO_REAL(Test)(request, flag, status);
  return code == MPI_SUCCESS && *flag != 0 ? code_of(code, job) : code;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (!have_requests()) {
    return STRIA_MPIIO_REAL(Waitall)(count, requests, statuses);
  }
  const JobList list = jobs_of(count, requests);
  for (const auto& job : list) {
    if (job != nullptr) {
      complete(*job);
    }
  }
  const int code = STRIA_MPIIO_REAL(Waitall)(count, requests, statuses);
  return code_of_many(code, list, all_indices(count), statuses);
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (!have_requests()) {
    return STRIA_MPIIO_REAL(Testall)(count, requests, flag, statuses);
  }
  complete_finished();
  const JobList list = jobs_of(count, requests);
  const int code = STRIA_MPIIO_REAL(Testall)(count, requests, flag, statuses);
  return *flag != 0 ? code_of_many(code, list, all_indices(count), statuses) : code;
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (!have_requests()) {
    return STRIA_MPIIO_REAL(Testany)(count, requests, index, flag, status);
  }
  complete_finished();
  const JobList list = jobs_of(count, requests);
  const int code = STRIA_MPIIO_REAL(Testany)(count, requests, index, flag, status);
  const bool one = code == MPI_SUCCESS && *flag != 0 && *index != MPI_UNDEFINED;
  return one ? code_of(code, list[static_cast<size_t>(*index)]) : code;
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (!have_requests() || !any(jobs_of(count, requests))) {
    return STRIA_MPIIO_REAL(Waitany)(count, requests, index, status);
  }
  for (int attempt = 0;; ++attempt) {
    int flag = 0;
    const int code = MPI_Testany(count, requests, index, &flag, status);
    if (code != MPI_SUCCESS || flag != 0) {
      return code;
    }
    stria::polite_pause(attempt);
  }
}

int MPI_Testsome(int count, MPI_Request requests[], int* done_count, int done[], MPI_Status statuses[]) {
  if (!have_requests()) {
    return STRIA_MPIIO_REAL(Testsome)(count, requests, done_count, done, statuses);
  }
  complete_finished();
  const JobList list = jobs_of(count, requests);
  const int code = STRIA_MPIIO_REAL(Testsome)(count, requests, done_count, done, statuses);
  return code_of_some(code, list, *done_count, done, statuses);
}

int MPI_Waitsome(int count, MPI_Request requests[], int* done_count, int done[], MPI_Status statuses[]) {
  if (!have_requests() || !any(jobs_of(count, requests))) {
    return STRIA_MPIIO_REAL(Waitsome)(count, requests, done_count, done, statuses);
  }
  for (int attempt = 0;; ++attempt) {
    const int code = MPI_Testsome(count, requests, done_count, done, statuses);
    if (code != MPI_SUCCESS || *done_count != 0) {
      return code;
    }
    stria::polite_pause(attempt);
  }
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  if (have_requests()) {
    complete_finished();
  }
  return STRIA_MPIIO_REAL(Request_get_status)(request, flag, status);
}

STRIA_MPIIO_TWIN(Wait);
STRIA_MPIIO_TWIN(Test);
STRIA_MPIIO_TWIN(Waitall);
STRIA_MPIIO_TWIN(Testall);
STRIA_MPIIO_TWIN(Waitany);
STRIA_MPIIO_TWIN(Testany);
STRIA_MPIIO_TWIN(Waitsome);
STRIA_MPIIO_TWIN(Testsome);
STRIA_MPIIO_TWIN(Request_get_status);

}  // extern "C"
