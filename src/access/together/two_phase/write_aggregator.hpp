// An aggregator's side of a collective write: it lets the contributors in, takes what they bring,
// and writes one buffer while they fill its twin.
#pragma once

#include <array>
#include <climits>
#include <optional>
#include <vector>

#include "access/failure/message_signal.hpp"
#include "access/together/two_phase/two_phase_state.hpp"
#include "access/together/window/window_writer.hpp"

namespace stria::access {

class WriteAggregator {
 public:
  /// `direct_file`: the same file past the page cache, or null.
  WriteAggregator(TwoPhaseState& state, storage::File* direct_file);
  /// Must be called once, when the aggregators are known: from then on they hear of each other's
  /// failures where that can spare rounds. Collective: yes, over the aggregators.
  void begin(const ThroughAggregators& plan);

  // The next functions are called in each round, in this order; they do nothing on ranks that are
  // no aggregators. This one waits for the write that used this round's buffer, then lets the
  // contributors in.
  /// Waits for the write that used this round's buffer, then lets the contributors in.
  void offer_buffer(int round, const std::vector<Share>& contributors);
  /// Takes in what the contributors bring, in their order. Those of other nodes send side by side.
  void collect(int round, const std::vector<Share>& contributors);
  /// Writes the buffer while the next round is packed; not that of the last round.
  void start_write(int round, const std::vector<Share>& contributors);
  /// Tells the other aggregators of a failure here, and learns of theirs.
  void exchange_news();
  /// Writes the last round's buffer. Nothing is packed meanwhile, so it begins when no rank waits
  /// for a message of this one.
  void write_last(int round, const std::vector<Share>& contributors);

  /// Waits for all that was started, and until all aggregators have ended.
  void finish();
  /// Counts the rounds that are in the file; they are the first ones.
  int written_rounds() const { return std::min(begun_rounds_, lost_round_); }

 private:
  struct Flight {
    Flight(Context& context, storage::File* direct_file) : writer(context, direct_file) {}
    WindowWriter writer;
    int round = 0;
  };
  void scatter_arrivals(std::byte* buffer);
  WindowWriter& begin_flight(int round);
  void finish_flight(int twin);
  bool writes(int round, bool last) const;
  std::byte* buffer(int round) const { return aggregation_.buffer(state_.rank(), round); }

  TwoPhaseState& state_;
  Context& context_ = state_.context;
  Aggregation& aggregation_ = state_.aggregation;
  Mailbox& mailbox_ = state_.mailbox();
  std::array<Flight, Aggregation::kTwins> flights_;
  std::optional<MessageSignal> signal_;  // where a failure can spare rounds
  int begun_rounds_ = 0;                 // rounds that it began to write
  int lost_round_ = INT_MAX;             // the first of them that failed
};

}  // namespace stria::access
