#include "access/together/two_phase/write_aggregator.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace stria::access {

WriteAggregator::WriteAggregator(TwoPhaseState& state, storage::File* direct_file)
    : state_(state), flights_{Flight(state.context, direct_file), Flight(state.context, direct_file)} {}

void WriteAggregator::begin(const ThroughAggregators& plan) {
  if (aggregation_.is_aggregator() && aggregation_.round_count() > 1) {
    signal_.emplace(context_.comm, state_.memory(), plan.aggregators);
  }
}

void WriteAggregator::offer_buffer(int round, const std::vector<Share>& contributors) {
  if (round < Aggregation::kTwins) {
    return;  // fresh buffers need no token
  }
  if (aggregation_.is_aggregator()) {
    finish_flight(round % Aggregation::kTwins);
  }
  for_each_speaker(contributors, [&](int speaker, std::span<const Share>) {
    if (!state_.parted.speakers.contains(speaker)) {
      mailbox_.post_token(speaker, kGoTag, state_.status.ok() ? 1 : 0);
      if (!state_.status.ok()) {
        state_.memory().surely([&] { state_.parted.speakers.insert(speaker); });
      }
    }
  });
}

void WriteAggregator::collect(int round, const std::vector<Share>& contributors) {
  if (!aggregation_.is_aggregator()) {
    return;
  }
  PhaseTimer timer(context_.times, Phase::kExchange);
  Arrivals& arrivals = aggregation_.arrivals();
  for_each_speaker(contributors, [&](int speaker, std::span<const Share> shares) {
    if (state_.parted.speakers.contains(speaker)) {
      return;
    }
    STRIA_ASSERT(std::all_of(shares.begin(), shares.end(), [&](const Share& s) { return s.shared == shares.front().shared; }),
                 speaker);
    if (mailbox_.receive_token(speaker, kDoneTag) == 0) {
      state_.status = state_.status.ok() ? Status(ErrorCode::kAborted, "another rank could not pack") : state_.status;
    } else if (!shares.front().shared) {
      int64_t bytes = 0;
      for (const Share& share : shares) {
        bytes += share.bytes;
      }
      if (!arrivals.has_room(bytes)) {
        scatter_arrivals(buffer(round));
      }
      arrivals.expect({.shares = shares}, bytes, speaker, kWriteDataTag);
    }
  });
  scatter_arrivals(buffer(round));
}

void WriteAggregator::scatter_arrivals(std::byte* buffer) {
  for (const Arrivals::Arrival& arrival : aggregation_.arrivals().expected()) {
    aggregation_.arrivals().wait_for(arrival);
    const std::byte* packed = arrival.bytes.data();
    state_.attempt([&] {
      for (const Share& share : arrival.shares) {
        STRIA_CHECK(share.bytes <= arrival.bytes.data() + arrival.bytes.size() - packed, share.bytes, share.rank,
                    arrival.bytes.size());
        scatter_to_windows(share, packed, buffer);
        packed += share.bytes;
      }
    });
  }
  aggregation_.arrivals().clear();
}

void WriteAggregator::start_write(int round, const std::vector<Share>& contributors) {
  if (writes(round, false)) {
    state_.attempt([&] { begin_flight(round).start(aggregation_.my_windows(round), contributors, buffer(round)); });
  }
}

void WriteAggregator::write_last(int round, const std::vector<Share>& contributors) {
  if (writes(round, true)) {
    state_.attempt([&] { begin_flight(round).write(aggregation_.my_windows(round), contributors, buffer(round)); });
  }
}

bool WriteAggregator::writes(int round, bool last) const {
  const bool is_last = round + 1 == aggregation_.round_count();
  return aggregation_.is_aggregator() && state_.status.ok() && is_last == last;
}

WindowWriter& WriteAggregator::begin_flight(int round) {
  STRIA_CHECK(round >= begun_rounds_, round, begun_rounds_);
  Flight& flight = flights_[static_cast<size_t>(round % Aggregation::kTwins)];
  flight.round = round;
  begun_rounds_ = round + 1;
  return flight.writer;
}

void WriteAggregator::exchange_news() {
  if (!signal_) {
    return;
  }
  if (state_.knows_of_failure()) {
    signal_->tell();
  } else if (signal_->look()) {
    state_.status = state_.another_failed();
  }
}

void WriteAggregator::finish() {
  for (int twin = 0; twin < Aggregation::kTwins; ++twin) {
    finish_flight(twin);
  }
  if (signal_) {
    PhaseTimer timer(context_.times, Phase::kExchange);
    exchange_news();
    state_.status = signal_->end(std::move(state_.status));
  }
}

void WriteAggregator::finish_flight(int twin) {
  Flight& flight = flights_[static_cast<size_t>(twin)];
  Status outcome;
  if (!state_.attempt([&] { outcome = flight.writer.finish(); })) {
    outcome = state_.memory().status();
  }
  if (!outcome.ok()) {
    lost_round_ = std::min(lost_round_, flight.round);
  }
  state_.status.update(std::move(outcome));
}

}  // namespace stria::access
