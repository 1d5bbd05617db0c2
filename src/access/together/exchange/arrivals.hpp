// Data from ranks of other nodes, received side by side.
//
// Problem: long data begin to travel when their receive is posted. A rank that received from one
// after the other would let all others wait.
// Method: receives are posted as far as the memory for them reaches, and taken in that order.
// Cost: memory for the longest message, and for up to kAheadBytes where there are several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "access/failure/memory_reserve.hpp"
#include "access/together/domains/share.hpp"
#include "comm/comm.hpp"
#include "comm/private_memory.hpp"

namespace stria::access {

class Arrivals {
 public:
  static constexpr int64_t kAheadBytes = int64_t{4} << 20;

  struct Arrival {
    std::span<const Share> shares;  ///< what the message holds
    int64_t note = 0;               ///< whatever the caller wants to know again
    std::span<std::byte> bytes = {};
    std::unique_ptr<CommRequest> request = {};
  };

  Arrivals(Comm& comm, MemoryReserve& memory) : comm_(comm), memory_(memory) {}

  /// Takes the memory for messages of a round: at most `messages`, of at most `longest_bytes` each
  /// and `all_bytes` together. May throw std::bad_alloc.
  Status allocate(size_t messages, int64_t longest_bytes, int64_t all_bytes);
  /// Tells whether a message of so many bytes can be expected before the others are taken.
  bool has_room(int64_t bytes) const;
  /// Posts the receive of a message. \pre has_room(bytes); `arrival` has no bytes or request yet
  void expect(Arrival arrival, int64_t bytes, int from, int tag);

  /// Returns those that are expected and not yet cleared, in order.
  std::span<const Arrival> expected() const { return expected_; }
  void wait_for(const Arrival& arrival) { comm_.wait(*arrival.request); }
  /// Lets the memory be used again. The caller has waited for all of them.
  void clear();

 private:
  Comm& comm_;
  MemoryReserve& memory_;
  PrivateMemory memory_for_messages_;
  size_t used_bytes_ = 0;
  std::vector<Arrival> expected_;
};

}  // namespace stria::access
