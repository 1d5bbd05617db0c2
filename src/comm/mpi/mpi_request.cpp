#include "comm/mpi/mpi_request.hpp"

#include "base/check.hpp"
#include "comm/pause.hpp"

namespace stria {

namespace {

std::vector<std::weak_ptr<Attendant>>& attendants() {
  thread_local std::vector<std::weak_ptr<Attendant>> all;
  return all;
}

// A rank that waits for its node may be asked by one that this node waits for.
void pause_and_attend(int attempt) {
  for (const std::weak_ptr<Attendant>& each : attendants()) {
    if (const auto attendant = each.lock(); attendant != nullptr) {
      attendant->attend();
    }
  }
  polite_pause(attempt);
}

}  // namespace

void attend_in_waits(const std::shared_ptr<Attendant>& attendant) {
  std::erase_if(attendants(), [](const auto& each) { return each.expired(); });
  attendants().push_back(attendant);
}

MpiMessage::~MpiMessage() {
  for (int attempt = 0; !test(); ++attempt) {
    pause_and_attend(attempt);
  }
}

void MpiMessage::start_send(MPI_Comm comm, std::span<const std::byte> data, int to, int mpi_tag) {
  for_each_piece(data.size(), [&](size_t first, int bytes) {
    MPI_Isend(data.data() + first, bytes, MPI_BYTE, to, mpi_tag, comm, &pieces_.emplace_back().request);
  });
}

void MpiMessage::start_receive(MPI_Comm comm, std::span<std::byte> data, int from, int mpi_tag) {
  for_each_piece(data.size(), [&](size_t first, int bytes) {
    Piece& piece = pieces_.emplace_back();
    piece.awaited_bytes = bytes;
    MPI_Irecv(data.data() + first, bytes, MPI_BYTE, from, mpi_tag, comm, &piece.request);
  });
}

// MPI itself ends the job when a message is longer than its receive, and says nothing when it is
// shorter.
bool MpiMessage::test() {
  while (!pieces_.empty()) {
    Piece& piece = pieces_.back();
    int done = 0;
    MPI_Status status;
    MPI_Test(&piece.request, &done, &status);
    if (done == 0) {
      return false;
    }
    if (piece.awaited_bytes != kSends) {
      int bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      STRIA_CHECK(bytes == piece.awaited_bytes, bytes, piece.awaited_bytes, status.MPI_SOURCE, status.MPI_TAG);
    }
    pieces_.pop_back();
  }
  return true;
}

void wait_politely(MPI_Request& request, MPI_Status* status) {
  int done = 0;
  MPI_Test(&request, &done, status);
  for (int attempt = 0; done == 0; ++attempt) {
    pause_and_attend(attempt);
    MPI_Test(&request, &done, status);
  }
}

}  // namespace stria
