// An aggregator's side of a collective read: it reads what the ranks want of its windows, and hands
// it out.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "access/failure/message_signal.hpp"
#include "access/together/two_phase/two_phase_state.hpp"

namespace stria::access {

/// An aggregator that has failed sends this instead of an end of the file. It is the last word
/// between the two.
inline constexpr int64_t kReadFailed = -1;

class ReadAggregator {
 public:
  explicit ReadAggregator(TwoPhaseState& state) : state_(state) {}
  /// Must be called once, when the aggregators are known: from then on they hear of each other's
  /// failures where that can spare rounds. Collective: yes, over the aggregators.
  void begin(const ThroughAggregators& plan);

  // These do nothing on ranks that are no aggregators.
  /// Reads the round's windows and hands them out, in place on this node, by messages elsewhere.
  void serve(int round);
  /// Returns where the file was found to end in the round (kNoEnd: not before these bytes), or
  /// kReadFailed.
  int64_t end() const { return end_; }
  /// This aggregator hands out nothing from now on.
  void fail() { end_ = kReadFailed; }
  /// Tells the other aggregators of a failure here, and learns of theirs.
  void exchange_news();
  /// Waits until all ranks of the node have read this aggregator's buffers.
  void collect_all_taken();
  /// Waits until all aggregators have ended.
  void finish();

 private:
  void hand_out(int speaker, std::span<const Share> shares, const std::byte* buffer, std::vector<int>& taken_from);
  void collect_taken(int round);
  int64_t read_windows(int round, const std::vector<Share>& wanted, std::byte* buffer);
  int64_t read(const std::vector<storage::ReadSegment>& segments);

  TwoPhaseState& state_;
  Context& context_ = state_.context;
  Aggregation& aggregation_ = state_.aggregation;
  Mailbox& mailbox_ = state_.mailbox();
  std::optional<MessageSignal> signal_;  // where a failure can spare rounds
  int64_t end_ = kNoEnd;
  // Ranks that still have to say that they took the buffer's bytes.
  std::array<std::vector<int>, Aggregation::kTwins> readers_;
};

}  // namespace stria::access
