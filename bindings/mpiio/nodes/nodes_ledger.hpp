// Describes what rank 0 keeps for a communicator of several nodes: its shared file pointers, and
// how far each node is with the operations in the background. It does not communicate;
// nodes_server.hpp does. Only the pointers are thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "mpiio/nodes/nodes_message.hpp"

namespace stria::mpiio {

class NodesLedger {
 public:
  /// `pointers`: `pointer_count` of them; ranks of rank 0's node change them too.
  NodesLedger(std::atomic<int64_t>* pointers, int pointer_count, int node_count);

  /// Adds to a pointer and returns its old value. The same question again gets the same answer.
  /// Nothing for a question that is older than the rank's last, or invalid.
  std::optional<int64_t> add(int rank, int64_t sequence, int64_t pointer, int64_t bytes);

  /// Takes what is new in the report. True if more operations are now finished on all nodes.
  bool take(const NodesReport& report);
  /// Returns what is known beyond `report.known`.
  NodesAnswer answer(const NodesReport& report) const;

 private:
  struct Last {
    int64_t sequence = 0;
    int64_t before = 0;
  };

  std::atomic<int64_t>* pointers_;
  int pointer_count_;
  std::map<int, Last> last_;             ///< additions of each rank
  std::vector<int64_t> finished_;        ///< operations of each node
  int64_t everywhere_ = 0;               ///< the least of them
  int behind_;                           ///< nodes that have finished no more than that
  std::map<int64_t, int64_t> failures_;  ///< the first error class of each operation that failed
};

/// Puts failures of the operations [first, end) into a message, as many as fit. Returns up to which
/// operation the message is complete: `end` if all failures fit.
int64_t list_failures(const std::map<int64_t, int64_t>& failures, int64_t first, int64_t end,
                      std::array<NodesFailure, kNodesFailures>& list, int64_t& count);

}  // namespace stria::mpiio
