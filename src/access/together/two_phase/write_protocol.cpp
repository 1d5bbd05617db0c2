// A collective write, round by round: contributors pack, aggregators write.
#include "access/together/two_phase/two_phase.hpp"
#include "access/together/two_phase/write_aggregator.hpp"
#include "access/together/two_phase/write_contributor.hpp"
#include "base/check.hpp"

namespace stria::access {

namespace {

class TwoPhaseWrite {
 public:
  TwoPhaseWrite(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, StreamSource& source,
                const TwoPhaseAids& aids)
      : plan_(plan),
        state_{.context = context,
               .aggregation = Aggregation(context, plan, lanes, {.reads = false, .kept = aids.kept, .gathered = aids.gathered}),
               .failure_elsewhere = "another rank could not write"},
        contributor_(state_, source),
        aggregator_(state_, aids.direct_file) {}

  Status run() {
    STRIA_RETURN_IF_ERROR(aggregation_.prepare());
    prepared_ = true;
    aggregator_.begin(plan_);
    for (int round = 0; round < aggregation_.round_count() && !is_over(); ++round) {
      begin(round);
      const std::vector<Share> contributors = aggregation_.contributors(round);
      aggregator_.offer_buffer(round, contributors);
      contributor_.contribute(round);
      aggregator_.collect(round, contributors);
      aggregator_.start_write(round, contributors);
      end_round();
      aggregator_.write_last(round, contributors);
    }
    aggregator_.finish();
    return outcome();
  }

  /// Tells every contributor, after a failure, how far this aggregator came. Returns how many bytes
  /// of this rank's are in the file, counted from its first to the first that an aggregator may not
  /// have written. Collective: yes.
  int64_t settle(std::span<const Lane> lanes) {
    if (!prepared_) {
      return 0;
    }
    PhaseTimer timer(state_.context.times, Phase::kExchange);
    Mailbox& mailbox = state_.mailbox();
    const int me = state_.rank();
    for (int rank : aggregation_.contributor_ranks()) {
      if (rank != me) {
        mailbox.post_token(rank, kWrittenTag, aggregator_.written_rounds());
      }
    }
    MovedPrefix written;
    for (int rank : aggregation_.met_ranks()) {
      const int64_t rounds = rank == me ? aggregator_.written_rounds() : mailbox.receive_token(rank, kWrittenTag);
      STRIA_CHECK(0 <= rounds && rounds <= aggregation_.round_count(), rounds, aggregation_.round_count(), rank);
      aggregation_.miss_rounds(rank, static_cast<int>(rounds), written);
    }
    mailbox.drain();
    return written.bytes(lanes);
  }

 private:
  void begin(int round) {
    PhaseTimer timer(state_.context.times, Phase::kExchange);
    Status received = aggregation_.begin_round(round, state_.parted);
    state_.status.update(std::move(received));
  }

  void end_round() {
    PhaseTimer timer(state_.context.times, Phase::kExchange);
    state_.mailbox().drain();
    aggregator_.exchange_news();
  }

  // All have heard of the failure, so that no rank waits for this one in the rounds that are left.
  bool is_over() const { return state_.knows_of_failure() && aggregation_.is_parted(state_.parted); }

  Status outcome() {
    const Status& status = state_.status;
    if (state_.memory().ran_out() && (status.ok() || status.code() == ErrorCode::kAborted)) {
      return state_.memory().status();
    }
    return status.ok() && !state_.parted.aggregators.empty() ? state_.another_failed() : status;
  }

  const ThroughAggregators& plan_;
  TwoPhaseState state_;
  Aggregation& aggregation_ = state_.aggregation;
  WriteContributor contributor_;
  WriteAggregator aggregator_;
  bool prepared_ = false;
};

}  // namespace

Status write_two_phase(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, StreamSource& source,
                       const TwoPhaseAids& aids) {
  return TwoPhaseWrite(context, plan, lanes, source, aids).run();
}

Moved write_two_phase_agreed(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes,
                             StreamSource& source, const TwoPhaseAids& aids) {
  TwoPhaseWrite write(context, plan, lanes, source, aids);
  Moved moved;
  moved.status = context.comm.agree(write.run());
  moved.bytes = moved.status.ok() ? total_bytes(lanes) : write.settle(lanes);
  return moved;
}

}  // namespace stria::access
