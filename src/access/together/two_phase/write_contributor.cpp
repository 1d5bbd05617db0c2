#include "access/together/two_phase/write_contributor.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"

namespace stria::access {

namespace {

// A delegate sends this instead of a place when the aggregator has failed. It is the last message
// of the two about it.
constexpr int64_t kClosed = -1;

}  // namespace

WriteContributor::WriteContributor(TwoPhaseState& state, StreamSource& source)
    : state_(state), source_(source), copy_(Endpoint::of_write(source), kAggregatorCopy) {}

// A rank that is carried waits for a delegate, which waits only for an aggregator of this round.
// Delegates wait for the ranks that they carry after all have been told where to pack.
void WriteContributor::contribute(int round) {
  const std::vector<Share> shares = aggregation_.my_shares(round);
  const std::vector<Load> loads = aggregation_.loads(round);
  carried_.clear();
  for (const Load& load : loads) {
    take_up(load, shares, round);
  }
  for (const Share& share : shares) {
    if (share.speaker != state_.rank()) {
      hand_over(share);
    } else if (!aggregation_.is_carried(share, loads)) {
      bring(share, round);
    }
  }
  for (const auto& [load, packed] : carried_) {
    deliver(*load, packed);
  }
}

void WriteContributor::bring(const Share& share, int round) {
  if (!share.own && !is_let_in(share.rank, round)) {
    return;
  }
  std::unique_ptr<std::byte[]> message;
  bool packed = pack_unless_failed([&] {
    if (share.shared) {
      pack_into(share, aggregation_.buffer(share.rank, round));
    } else {
      message = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(share.bytes));
      pack_behind(share, message.get());
    }
  });
  if (!share.own) {
    mailbox_.post_token(share.rank, kDoneTag, packed ? 1 : 0);
  } else if (!packed && state_.status.ok()) {
    state_.status = state_.another_failed();
  }
  if (!share.shared && packed) {
    mailbox_.post_payload(std::move(message), share.bytes, share.rank, kWriteDataTag);
  }
}

// A delegate tells the ranks for which it speaks where to pack, and packs its own bytes among
// theirs.
void WriteContributor::take_up(const Load& load, const std::vector<Share>& shares, int round) {
  const int me = state_.rank();
  const int aggregator_rank = aggregation_.rank_of(load);
  const bool open = is_let_in(aggregator_rank, round);
  bool packed = true;
  for (const Load::Part& part : load.parts) {
    if (part.rank != me) {
      send_place(aggregator_rank, part, open);
    } else if (open) {
      const auto share =
          std::find_if(shares.begin(), shares.end(), [=](const Share& mine) { return mine.rank == aggregator_rank; });
      STRIA_CHECK(share != shares.end() && share->bytes == part.bytes, part.bytes, aggregator_rank, round);
      packed = pack_unless_failed([&] { pack_behind(*share, aggregation_.staging(me, part.offset, part.bytes)); });
    }
  }
  if (open) {
    state_.memory().surely([&] { carried_.emplace_back(&load, packed); });
  }
}

void WriteContributor::send_place(int aggregator_rank, const Load::Part& part, bool open) {
  const std::pair pair{aggregator_rank, part.rank};
  if (!parted_.carried.contains(pair)) {
    mailbox_.post_token(part.rank, kWritePlaceTag, open ? part.offset : kClosed);
  }
  if (!open) {
    state_.memory().surely([&] { parted_.carried.insert(pair); });
  }
}

// This rank packs into the staging buffer of the one that speaks for it.
void WriteContributor::hand_over(const Share& share) {
  if (parted_.aggregators.contains(share.rank)) {
    return;
  }
  const int64_t offset = state_.receive(share.speaker, kWritePlaceTag);
  if (offset == kClosed) {
    state_.memory().surely([&] { parted_.aggregators.insert(share.rank); });
    return;
  }
  bool packed = pack_unless_failed([&] { pack_behind(share, aggregation_.staging(share.speaker, offset, share.bytes)); });
  mailbox_.post_token(share.speaker, kPlacedTag, packed ? 1 : 0);
}

// A delegate sends what lies packed in its staging buffer.
void WriteContributor::deliver(const Load& load, bool packed) {
  STRIA_ASSERT(std::accumulate(load.parts.begin(), load.parts.end(), int64_t{0},
                               [](int64_t sum, const Load::Part& part) { return sum + part.bytes; }) == load.bytes,
               load.bytes);
  for (const Load::Part& part : load.parts) {
    if (part.rank != state_.rank()) {
      packed = state_.receive(part.rank, kPlacedTag) != 0 && packed;
    }
  }
  const int aggregator_rank = aggregation_.rank_of(load);
  mailbox_.post_token(aggregator_rank, kDoneTag, packed ? 1 : 0);
  if (packed) {
    const std::byte* bytes = aggregation_.staging(state_.rank(), load.parts.front().offset, load.bytes);
    mailbox_.post_kept_bytes({bytes, static_cast<size_t>(load.bytes)}, aggregator_rank, kWriteDataTag);
  }
}

// False when the aggregator has failed: the two then exchange no more messages.
bool WriteContributor::is_let_in(int aggregator_rank, int round) {
  if (parted_.aggregators.contains(aggregator_rank)) {
    return false;
  }
  bool let_in = round < Aggregation::kTwins || state_.receive(aggregator_rank, kGoTag) != 0;
  if (!let_in) {
    state_.memory().surely([&] { parted_.aggregators.insert(aggregator_rank); });
  }
  return let_in;
}

// Packs straight to where the bytes belong in the aggregator's buffer; all streams of the round in
// one call.
void WriteContributor::pack_into(const Share& share, std::byte* buffer) {
  PhaseTimer timer(context_.times, Phase::kPack);
  copy_.begin();
  for (const auto& [w, overlap] : share.parts) {
    const Window& window = share.windows[w];
    copy_.copy(overlap, buffer + window.buffer_offset, window.file.begin);
  }
  copy_.finish();
}

// Packs one part behind the other, as a message has them.
void WriteContributor::pack_behind(const Share& share, std::byte* at) {
  PhaseTimer timer(context_.times, Phase::kPack);
  parts_.clear();
  const std::byte* const begin = at;
  for (const auto& [w, overlap] : share.parts) {
    parts_.push_back({.stream_id = overlap.stream->stream_id, .begin = overlap.begin, .end = overlap.end, .packed = at});
    at += overlap.end - overlap.begin;
  }
  STRIA_CHECK(at - begin == share.bytes, at - begin, share.bytes, share.rank);
  source_.pack(parts_);
}

}  // namespace stria::access
