// Nonblocking MPI messages of any size, cut into pieces that fit the `int` counts of MPI.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <vector>

#include "comm/comm.hpp"

namespace stria {

/// The largest piece that one MPI call moves. Both ends cut in the same way, and pieces with one
/// tag arrive in order.
inline constexpr size_t kMpiPieceBytes = size_t{1} << 30;

/// Calls `body(first, bytes)` for every piece of a message of `bytes`; for an empty message once,
/// with zero bytes.
template <typename Body>
void for_each_piece(size_t bytes, Body body) {
  size_t first = 0;
  do {
    const size_t piece = bytes - first < kMpiPieceBytes ? bytes - first : kMpiPieceBytes;
    body(first, static_cast<int>(piece));
    first += piece;
  } while (first < bytes);
}

/// A send or receive under way, complete when every piece is.
class MpiMessage : public CommRequest {
 public:
  MpiMessage() = default;
  MpiMessage(const MpiMessage&) = delete;
  MpiMessage& operator=(const MpiMessage&) = delete;
  /// Waits for what is still under way. MPI would otherwise write into memory that no
  /// longer exists.
  ~MpiMessage() override;

  void start_send(MPI_Comm comm, std::span<const std::byte> data, int to, int mpi_tag);
  void start_receive(MPI_Comm comm, std::span<std::byte> data, int from, int mpi_tag);
  bool test() override;

 private:
  static constexpr int kSends = -1;
  struct Piece {
    MPI_Request request = MPI_REQUEST_NULL;
    int awaited_bytes = kSends;
  };

  std::vector<Piece> pieces_;
};

/// Makes all waits of this thread attend to the others too, whatever communicator they are for.
void attend_in_waits(const std::shared_ptr<Attendant>& attendant);

/// Waits for one MPI request, with polite pauses, and gives its status.
void wait_politely(MPI_Request& request, MPI_Status* status = MPI_STATUS_IGNORE);

}  // namespace stria
