// Brings what every rank gathered while packing to rank 0, while the last data are still being written.
//
// Problem: rank 0 can finish the metadata only when it knows the extrema and sums of all ranks; if they come with the ranks'
// outcomes, everybody waits for it. Method: they are known when the last batch is packed, before it is written, and travel
// then; nobody waits. Pieces go in messages of bounded size, so that a rank without memory for them can still take them off
// the others. Cost: two small messages a rank.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/comm.hpp"

namespace stria::file {

class PartExchange {
 public:
  /// Sends `part` to rank 0, which keeps its own. Never blocks; once. Every rank must call this and then finish().
  void start(Comm& comm, std::vector<std::byte> part);
  bool started() const { return comm_ != nullptr; }
  /// True once the part was sent, or on rank 0 once all have come. Never blocks.
  bool test();
  /// Waits for that.
  void finish();
  /// Rank 0, when it is done: the part of each rank, or kResourceExhausted where there was no room for them.
  Result<std::vector<std::vector<std::byte>>> take();

 private:
  static constexpr size_t kMessageBytes = 2048;

  bool advance(bool wait);
  bool is_done(CommRequest& request, bool wait);
  bool end_sends(bool wait);
  bool receive_parts(bool wait);
  void make_room();
  void note_no_memory(int rank);
  void keep_message();
  size_t message_bytes() const;

  Comm* comm_ = nullptr;
  int64_t part_bytes_ = 0;  // of the part that goes, or comes

  // Other ranks.
  std::vector<std::byte> part_;
  std::unique_ptr<CommRequest> size_send_;
  std::vector<std::unique_ptr<CommRequest>> sends_;

  // Rank 0: ranks are served one after another.
  std::vector<std::vector<std::byte>> parts_;
  Status status_;
  int from_ = 1;             // whose part is coming
  bool size_known_ = false;  // of that part
  int64_t left_bytes_ = 0;   // of that part
  std::unique_ptr<CommRequest> arriving_;
  std::array<std::byte, kMessageBytes> message_{};
};

}  // namespace stria::file
