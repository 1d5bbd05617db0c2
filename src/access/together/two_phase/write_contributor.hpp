// A rank's side of a collective write that has bytes: it packs them for the aggregators that it
// meets, by itself or through the delegate of its node.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "access/together/two_phase/two_phase_state.hpp"
#include "access/together/window/window_copy.hpp"

namespace stria::access {

class WriteContributor {
 public:
  WriteContributor(TwoPhaseState& state, StreamSource& source);

  /// Brings this rank's bytes of a round, and those that it carries for others, to all aggregators.
  /// Waits for aggregators of this round to let it in, and for nobody to take what it sends.
  void contribute(int round);

 private:
  void bring(const Share& share, int round);
  void take_up(const Load& load, const std::vector<Share>& shares, int round);
  void send_place(int aggregator_rank, const Load::Part& part, bool open);
  void hand_over(const Share& share);
  void deliver(const Load& load, bool packed);
  bool is_let_in(int aggregator_rank, int round);
  template <typename Work>
  bool pack_unless_failed(Work&& work) {
    return !state_.knows_of_failure() && state_.attempt(work);
  }
  void pack_into(const Share& share, std::byte* buffer);
  void pack_behind(const Share& share, std::byte* at);

  TwoPhaseState& state_;
  Context& context_ = state_.context;
  Aggregation& aggregation_ = state_.aggregation;
  Mailbox& mailbox_ = state_.mailbox();
  Parted& parted_ = state_.parted;
  StreamSource& source_;
  WindowCopy copy_;
  // The loads that this rank carries in the current round as a delegate, each with whether bytes of
  // its own are among them.
  std::vector<std::pair<const Load*, bool>> carried_;
  std::vector<StreamPart> parts_;
};

}  // namespace stria::access
