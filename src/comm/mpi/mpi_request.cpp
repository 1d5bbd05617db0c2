#include "comm/mpi/mpi_request.hpp"

#include "comm/pause.hpp"

namespace stria {

MpiMessage::~MpiMessage() {
  for (int attempt = 0; !test(); ++attempt) {
    polite_pause(attempt);
  }
}

void MpiMessage::start_send(MPI_Comm comm, std::span<const std::byte> data, int to, int mpi_tag) {
  for_each_piece(data.size(), [&](size_t first, int bytes) {
    MPI_Isend(data.data() + first, bytes, MPI_BYTE, to, mpi_tag, comm, &pieces_.emplace_back(MPI_REQUEST_NULL));
  });
}

void MpiMessage::start_receive(MPI_Comm comm, std::span<std::byte> data, int from, int mpi_tag) {
  for_each_piece(data.size(), [&](size_t first, int bytes) {
    MPI_Irecv(data.data() + first, bytes, MPI_BYTE, from, mpi_tag, comm, &pieces_.emplace_back(MPI_REQUEST_NULL));
  });
}

bool MpiMessage::test() {
  if (pieces_.empty()) {
    return true;
  }
  int done = 0;
  MPI_Testall(static_cast<int>(pieces_.size()), pieces_.data(), &done, MPI_STATUSES_IGNORE);
  if (done != 0) {
    pieces_.clear();
  }
  return done != 0;
}

void wait_politely(MPI_Request& request, MPI_Status* status) {
  int done = 0;
  MPI_Test(&request, &done, status);
  for (int attempt = 0; done == 0; ++attempt) {
    polite_pause(attempt);
    MPI_Test(&request, &done, status);
  }
}

}  // namespace stria
