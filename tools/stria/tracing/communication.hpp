// The messages and collective operations in a trace, for viewers that draw them.
//
// A send without its receive, or a collective operation that some members lack, would make other
// tools wait for the missing half. So only complete ones are given. Messages are matched by sender,
// receiver, tag and file. Each file has a communicator: the ranks that used it. Its collective
// operations count when every member has recorded the same ones in the same order.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "trace/format/trace_file.hpp"

namespace stria::tool {

enum class Communicating : uint8_t { kNone, kSend, kReceive, kBarrier, kBroadcast, kReduce, kGather };

class Communication {
 public:
  /// Keeps a reference to `trace`.
  explicit Communication(const trace::TraceFile& trace);

  /// Returns the ranks of each communicator; the first holds all ranks of the run.
  const std::vector<std::vector<uint64_t>>& communicators() const { return communicators_; }
  /// Returns what the event is, provided that its other ends are in the trace too.
  Communicating role(const trace::Event& event) const;
  /// Returns the communicator of a message or collective operation.
  uint32_t communicator(const trace::Event& event) const;
  /// Returns the place of a rank of the run in a communicator that it belongs to.
  uint32_t rank_in(uint32_t communicator, int rank) const;

 private:
  using MessageKey = std::tuple<int32_t, int32_t, int64_t, int32_t>;  ///< from, to, tag, file
  Communicating kind_of(const trace::Event& event) const { return kinds_[event.kind]; }
  static MessageKey key_of(const trace::Event& event, Communicating role);
  void match_messages();
  void match_collectives();

  const trace::TraceFile& trace_;
  std::vector<Communicating> kinds_;         ///< by kind
  std::map<MessageKey, int64_t> unmatched_;  ///< sends less receives
  /// The communicator of each file whose collective operations are whole.
  std::map<int32_t, uint32_t> communicator_of_file_;
  std::vector<std::vector<uint64_t>> communicators_;
};

}  // namespace stria::tool
