// Sends rank 0 what every rank has gathered while packing, while the last data are still
// being written.
//
// Problem: rank 0 can finish the metadata only when it knows the extrema and sums of all ranks. If
// these came with the ranks' outcomes, all ranks would wait for rank 0.
// Method: they are known when the last batch is packed, and are sent before it is written, so that
// no rank waits. Pieces go in messages of bounded size, so that even without memory for them rank 0
// can still receive them.
// Cost: two small messages per rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/comm.hpp"

namespace stria::file {

class PartExchange {
 public:
  /// Sends `part` to rank 0, which keeps its own. Never blocks; once. Every rank must call this and
  /// then finish().
  void start(Comm& comm, std::vector<std::byte> part);
  bool started() const { return comm_ != nullptr; }
  /// Waits until the part was sent, or on rank 0 until all have come.
  void finish();
  /// Rank 0, when it is done: the part of each rank, or kResourceExhausted where there was no
  /// room for them.
  Result<std::vector<std::vector<std::byte>>> take();

 private:
  static constexpr size_t kMessageBytes = 2048;

  void receive_part(int from);
  void make_room(int from, int64_t bytes);
  void note_no_memory(int rank);

  Comm* comm_ = nullptr;

  // Other ranks.
  int64_t part_bytes_ = 0;
  std::vector<std::byte> part_;
  std::unique_ptr<CommRequest> size_send_;
  std::vector<std::unique_ptr<CommRequest>> sends_;

  // Rank 0: ranks are served one after another.
  std::vector<std::vector<std::byte>> parts_;
  Status status_;
};

}  // namespace stria::file
