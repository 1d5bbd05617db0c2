// A sparse exchange between ranks of one process: each hears how many messages come, and from whom,
// through memory that the ranks share, where real ones probe for messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "comm/comm.hpp"

namespace stria {

/// Shared by the ranks, of which one runs at a time.
class AnnouncedMessages {
 public:
  /// Comm::sparse_exchange() by a barrier, sends and receives of `comm`. `number` is how many the
  /// rank has made before. Collective: yes.
  Comm::Messages exchange(Comm& comm, int64_t number, const Comm::Messages& outgoing);

 private:
  /// The messages for a rank in its n-th exchange, with sender and size.
  std::map<std::pair<int, int64_t>, std::vector<std::pair<int, size_t>>> announced_;
};

}  // namespace stria
