#include "comm/mpi/sparse_sizes.hpp"

#include <algorithm>
#include <vector>

namespace stria {

/// Receives the size of one message that is announced to this rank; false when there is none.
bool SparseSizes::receive(int tag, Announced& announced) const {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  MPI_Improbe(MPI_ANY_SOURCE, tag, world_, &found, &message, &status);
  if (found == 0) {
    return false;
  }
  int64_t bytes = 0;
  MPI_Mrecv(&bytes, 1, MPI_INT64_T, &message, MPI_STATUS_IGNORE);
  announced.coming.emplace_back(status.MPI_SOURCE, bytes);
  return true;
}

SparseSizes::Announced SparseSizes::exchange(Comm& comm, const Comm::Messages& outgoing) {
  Announced announced;
  int64_t largest = 0;
  const int tag = tags_[exchanges_++ % tags_.size()];
  std::vector<int64_t> sizes(outgoing.size());
  std::vector<MPI_Request> announcements(outgoing.size(), MPI_REQUEST_NULL);
  for (size_t i = 0; i < outgoing.size(); ++i) {
    sizes[i] = static_cast<int64_t>(outgoing[i].second.size());
    largest = std::max(largest, sizes[i]);
    if (outgoing[i].first != comm.rank()) {
      MPI_Issend(&sizes[i], 1, MPI_INT64_T, outgoing[i].first, tag, world_, &announcements[i]);
    }
  }
  MPI_Request reduction = MPI_REQUEST_NULL;
  bool in_reduction = false;
  for (int attempt = 0;; ++attempt) {
    while (receive(tag, announced)) {
      attempt = 0;
    }
    int done = 0;
    if (in_reduction) {
      MPI_Test(&reduction, &done, MPI_STATUS_IGNORE);
      if (done != 0) {
        return announced;
      }
    } else {
      MPI_Testall(static_cast<int>(announcements.size()), announcements.data(), &done, MPI_STATUSES_IGNORE);
      if (done != 0) {
        MPI_Iallreduce(&largest, &announced.largest, 1, MPI_INT64_T, MPI_MAX, world_, &reduction);
        in_reduction = true;
      }
    }
    comm.pause(attempt);
  }
}

}  // namespace stria
