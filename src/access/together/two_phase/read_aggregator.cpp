#include "access/together/two_phase/read_aggregator.hpp"

#include <algorithm>
#include <utility>

#include "access/plan/planner.hpp"
#include "access/together/domains/wanted_stretches.hpp"
#include "base/check.hpp"

namespace stria::access {

namespace {

// Packs what one speaker's ranks want. Bytes that several of them want come once.
std::vector<std::byte> message_for(std::span<const Share> shares, const std::byte* buffer) {
  STRIA_CHECK(!shares.front().repeats, shares.front().rank);
  STRIA_ASSERT(std::adjacent_find(shares.begin(), shares.end(), [](const Share& before, const Share& share) {
                 return share.repeats && share.bytes != before.bytes;
               }) == shares.end());
  int64_t bytes = 0;
  for (const Share& share : shares) {
    bytes += share.repeats ? 0 : share.bytes;
  }
  std::vector<std::byte> message(static_cast<size_t>(bytes));
  std::byte* packed = message.data();
  for (const Share& share : shares) {
    if (share.repeats) {
      continue;
    }
    gather_from_windows(share, buffer, packed);
    packed += share.bytes;
  }
  STRIA_CHECK(packed == message.data() + message.size(), bytes, shares.front().speaker);
  return message;
}

}  // namespace

void ReadAggregator::begin(const ThroughAggregators& plan) {
  if (aggregation_.is_aggregator() && aggregation_.round_count() > 1) {
    signal_.emplace(context_.comm, state_.memory(), plan.aggregators);
  }
}

void ReadAggregator::serve(int round) {
  if (!aggregation_.is_aggregator()) {
    return;
  }
  std::vector<Share> wanted = aggregation_.contributors(round);
  collect_taken(round);
  std::byte* buffer = aggregation_.buffer(state_.rank(), round);
  end_ = end_ == kReadFailed ? kReadFailed : read_windows(round, wanted, buffer);
  auto& taken_from = readers_[static_cast<size_t>(round % Aggregation::kTwins)];
  state_.memory().surely([&] { taken_from.reserve(wanted.size()); });
  for_each_speaker(wanted, [&](int speaker, std::span<const Share> shares) {
    if (!state_.parted.speakers.contains(speaker)) {
      hand_out(speaker, shares, buffer, taken_from);
    }
  });
}

void ReadAggregator::hand_out(int speaker, std::span<const Share> shares, const std::byte* buffer,
                              std::vector<int>& taken_from) {
  const bool shared = shares.front().shared;
  STRIA_ASSERT(std::all_of(shares.begin(), shares.end(), [&](const Share& share) { return share.shared == shared; }), speaker);
  int64_t end = end_;
  std::vector<std::byte> message;
  if (shared && end != kReadFailed) {
    taken_from.push_back(speaker);
  } else if (end != kReadFailed) {
    end = kReadFailed;
    state_.memory().attempt([&] {
      message = message_for(shares, buffer);
      end = end_;
    });
  }
  mailbox_.post_token(speaker, kFilledTag, end);
  if (end == kReadFailed) {
    state_.memory().surely([&] { state_.parted.speakers.insert(speaker); });
  } else if (!shared) {
    mailbox_.post_bytes(std::move(message), speaker, kReadDataTag);
  }
}

// Waits until all have taken their bytes of the buffer that `round` will use, which is then filled
// again.
void ReadAggregator::collect_taken(int round) {
  PhaseTimer timer(context_.times, Phase::kExchange);
  auto& taken_from = readers_[static_cast<size_t>(round % Aggregation::kTwins)];
  for (int rank : taken_from) {
    mailbox_.receive_token(rank, kTakenTag);
  }
  taken_from.clear();
}

void ReadAggregator::collect_all_taken() {
  for (int twin = 0; twin < Aggregation::kTwins; ++twin) {
    collect_taken(twin);
  }
}

// Reads at once the stretches that any rank wants, with gaps that cost less than another request.
int64_t ReadAggregator::read_windows(int round, const std::vector<Share>& wanted, std::byte* buffer) {
  int64_t end = kReadFailed;
  state_.memory().attempt([&] {
    std::vector<Window> windows = aggregation_.my_windows(round);
    std::vector<storage::ReadSegment> segments;
    const int64_t most_gap_bytes = request_cost_bytes(context_.file->capabilities());
    for (size_t w = 0; w < windows.size(); ++w) {
      for (const ByteRange stretch : stretches_of(w, wanted, most_gap_bytes)) {
        STRIA_CHECK(intersect(stretch, windows[w].file) == stretch, stretch.begin, stretch.end, windows[w].file.begin,
                    windows[w].file.end);
        std::byte* at = buffer + windows[w].buffer_offset + (stretch.begin - windows[w].file.begin);
        segments.push_back({stretch.begin, at, stretch.size()});
      }
    }
    end = segments.empty() ? kNoEnd : read(segments);
  });
  return end;
}

int64_t ReadAggregator::read(const std::vector<storage::ReadSegment>& segments) {
  PhaseTimer timer(context_.times, Phase::kRead);
  auto read_bytes = context_.file->read(segments);
  if (!read_bytes.ok()) {
    state_.status = read_bytes.status();  // the cause goes before what others report
  }
  return read_bytes.ok() ? file_end(segments, *read_bytes) : kReadFailed;
}

void ReadAggregator::exchange_news() {
  if (!signal_) {
    return;
  }
  if (end_ == kReadFailed) {
    signal_->tell();
  } else if (signal_->look()) {
    fail();
    state_.note_failure_elsewhere();
  }
}

void ReadAggregator::finish() {
  if (signal_) {
    state_.status = signal_->end(std::move(state_.status));
  }
}

}  // namespace stria::access
