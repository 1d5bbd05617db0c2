#include "comm/mpi/sparse_sizes.hpp"

#include <vector>

namespace stria {

/// Receives the size of one message that is announced to this rank; false when there is none.
bool SparseSizes::receive(int tag, Comm::Messages& incoming) const {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  MPI_Improbe(MPI_ANY_SOURCE, tag, world_, &found, &message, &status);
  if (found == 0) {
    return false;
  }
  int64_t bytes = 0;
  MPI_Mrecv(&bytes, 1, MPI_INT64_T, &message, MPI_STATUS_IGNORE);
  incoming.emplace_back(status.MPI_SOURCE, std::vector<std::byte>(static_cast<size_t>(bytes)));
  return true;
}

Comm::Messages SparseSizes::exchange(Comm& comm, const Comm::Messages& outgoing) {
  Comm::Messages incoming;
  const int tag = tags_[exchanges_++ % tags_.size()];
  std::vector<int64_t> sizes(outgoing.size());
  std::vector<MPI_Request> announcements(outgoing.size(), MPI_REQUEST_NULL);
  for (size_t i = 0; i < outgoing.size(); ++i) {
    sizes[i] = static_cast<int64_t>(outgoing[i].second.size());
    if (outgoing[i].first != comm.rank()) {
      MPI_Issend(&sizes[i], 1, MPI_INT64_T, outgoing[i].first, tag, world_, &announcements[i]);
    }
  }
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool in_barrier = false;
  for (int attempt = 0;; ++attempt) {
    while (receive(tag, incoming)) {
      attempt = 0;
    }
    int done = 0;
    if (in_barrier) {
      MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
      if (done != 0) {
        return incoming;
      }
    } else {
      MPI_Testall(static_cast<int>(announcements.size()), announcements.data(), &done, MPI_STATUSES_IGNORE);
      if (done != 0) {
        MPI_Ibarrier(world_, &barrier);
        in_barrier = true;
      }
    }
    comm.pause(attempt);
  }
}

}  // namespace stria
