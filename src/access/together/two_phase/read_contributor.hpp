// A rank's side of a collective read that wants bytes: it takes them from the aggregators that it
// meets, by itself or through the delegate of its node.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "access/together/two_phase/read_aggregator.hpp"
#include "access/together/window/window_copy.hpp"

namespace stria::access {

class ReadContributor {
 public:
  ReadContributor(TwoPhaseState& state, StreamSink& sink);

  /// Takes this rank's bytes of a round, and fetches those that it carries for others. `own_end`:
  /// ReadAggregator::end() of this rank.
  void take(int round, int64_t own_end);
  /// Waits, on a delegate, until the ranks for which it speaks have taken what is in its staging
  /// buffer.
  void wait_for_members();
  /// Counts as missed what aggregators did not hand out, after a failure and `done_rounds` rounds.
  void miss_after_failures(int done_rounds);
  const MovedPrefix& taken() const { return taken_; }

 private:
  struct Fetched {
    const Load* load = nullptr;
    int64_t end = 0;                            // the end of the file, or kReadFailed
    std::unique_ptr<CommRequest> request = {};  // null after a failure
  };
  void fetch(const Load& load);
  void pass_on_fetched(const std::vector<Share>& shares);
  void send_place(int aggregator_rank, const Load::Part& part, int64_t end);
  void take_from_delegate(const Share& share);
  void take_directly(const Share& share, int64_t own_end);
  void take_shared(const Share& share, std::byte* buffer, int64_t file_end);
  void expect_message(const Share& share, int64_t file_end);
  void take_arrivals();
  void take_packed(const Share& share, std::byte* packed, int64_t file_end);
  template <typename Work>
  void attempt_to_take(const Share& share, Work&& work);
  int64_t arrived(int from);
  void fail(int aggregator_rank);
  Overlap before(Overlap overlap, int64_t file_end);

  TwoPhaseState& state_;
  Context& context_ = state_.context;
  Aggregation& aggregation_ = state_.aggregation;
  Mailbox& mailbox_ = state_.mailbox();
  Parted& parted_ = state_.parted;
  StreamSink& sink_;
  WindowCopy copy_;
  int round_ = 0;
  std::vector<Fetched> fetched_;
  std::vector<int> members_;  // ranks that still have to take bytes out of the staging buffer
  // The first round of each failed aggregator that this rank did not get.
  std::map<int, int> lost_rounds_;
  MovedPrefix taken_;
  std::vector<StreamPart> parts_;
};

}  // namespace stria::access
