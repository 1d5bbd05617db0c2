// A collective read, round by round: aggregators read and hand out, contributors take.
#include "access/together/two_phase/read_aggregator.hpp"
#include "access/together/two_phase/read_contributor.hpp"
#include "access/together/two_phase/two_phase.hpp"

namespace stria::access {

namespace {

class TwoPhaseRead {
 public:
  TwoPhaseRead(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, StreamSink& sink,
               const TwoPhaseAids& aids)
      : plan_(plan),
        lanes_(lanes),
        state_{.context = context,
               .aggregation = Aggregation(context, plan, lanes, {.reads = true, .kept = aids.kept, .gathered = aids.gathered}),
               .failure_elsewhere = "another rank could not read"},
        aggregator_(state_),
        contributor_(state_, sink) {}

  Moved run() {
    Status prepared = aggregation_.prepare();
    if (!prepared.ok()) {
      return {.status = prepared};
    }
    aggregator_.begin(plan_);
    int round = 0;
    for (; round < aggregation_.round_count() && !is_over(); ++round) {
      begin(round);
      aggregator_.serve(round);
      contributor_.take(round, aggregator_.end());
      end_round();
    }
    aggregator_.collect_all_taken();
    contributor_.wait_for_members();
    finish();
    if (!state_.status.ok()) {
      contributor_.miss_after_failures(round);
    }
    return {.status = state_.status, .bytes = contributor_.taken().bytes(lanes_)};
  }

 private:
  void begin(int round) {
    PhaseTimer timer(state_.context.times, Phase::kExchange);
    if (Status received = aggregation_.begin_round(round, state_.parted); !received.ok()) {
      state_.status.update(std::move(received));
      aggregator_.fail();
    }
  }

  void end_round() {
    PhaseTimer timer(state_.context.times, Phase::kExchange);
    state_.mailbox().drain();
    aggregator_.exchange_news();
  }

  void finish() {
    PhaseTimer timer(state_.context.times, Phase::kExchange);
    state_.mailbox().finish();
    aggregator_.finish();
    const bool cause_known = !state_.status.ok() && state_.status.code() != ErrorCode::kAborted;
    if (state_.memory().ran_out() && !cause_known) {
      state_.status = state_.memory().status();
    }
  }

  // All have heard of the failure, so that no rank waits for this one in the rounds that are left.
  bool is_over() const { return !state_.status.ok() && aggregation_.is_parted(state_.parted); }

  const ThroughAggregators& plan_;
  std::span<const Lane> lanes_;
  TwoPhaseState state_;
  Aggregation& aggregation_ = state_.aggregation;
  ReadAggregator aggregator_;
  ReadContributor contributor_;
};

}  // namespace

Moved read_two_phase(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, StreamSink& sink,
                     const TwoPhaseAids& aids) {
  return TwoPhaseRead(context, plan, lanes, sink, aids).run();
}

}  // namespace stria::access
