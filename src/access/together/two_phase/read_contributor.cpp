#include "access/together/two_phase/read_contributor.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace stria::access {

ReadContributor::ReadContributor(TwoPhaseState& state, StreamSink& sink)
    : state_(state), sink_(sink), copy_(Endpoint::of_read(sink), kAggregatorCopy) {}

// Delegates first fetch what they carry; for that they wait only for aggregators of this round.
void ReadContributor::take(int round, int64_t own_end) {
  round_ = round;
  const std::vector<Share> shares = aggregation_.my_shares(round);
  const std::vector<Load> loads = aggregation_.loads(round);
  if (!loads.empty()) {
    wait_for_members();
  }
  for (const Load& load : loads) {
    fetch(load);
  }
  pass_on_fetched(shares);
  for (const Share& share : shares) {
    if (share.speaker != state_.rank()) {
      take_from_delegate(share);
    } else if (!aggregation_.is_carried(share, loads)) {
      take_directly(share, own_end);
    }
  }
  take_arrivals();
}

void ReadContributor::wait_for_members() {
  PhaseTimer timer(context_.times, Phase::kExchange);
  for (int rank : members_) {
    mailbox_.receive_token(rank, kEmptiedTag);
  }
  members_.clear();
}

// A delegate begins to receive what its node wants of an aggregator. Aggregators send side by side.
void ReadContributor::fetch(const Load& load) {
  const int aggregator_rank = aggregation_.rank_of(load);
  Fetched fetched{.load = &load, .end = kReadFailed};
  if (!parted_.aggregators.contains(aggregator_rank)) {
    fetched.end = arrived(aggregator_rank);
  }
  if (fetched.end == kReadFailed) {
    fail(aggregator_rank);
  } else {
    const std::span bytes(aggregation_.staging(state_.rank(), load.offset, load.bytes), static_cast<size_t>(load.bytes));
    fetched.request = state_.memory().surely([&] { return context_.comm.receive(bytes, aggregator_rank, kReadDataTag); });
  }
  state_.memory().surely([&] { fetched_.push_back(std::move(fetched)); });
}

// A delegate tells the others where their parts are, and takes its own ones.
void ReadContributor::pass_on_fetched(const std::vector<Share>& shares) {
  for (const auto& [load, end, request] : fetched_) {
    const int aggregator_rank = aggregation_.rank_of(*load);
    if (request != nullptr) {
      PhaseTimer timer(context_.times, Phase::kExchange);
      context_.comm.wait(*request);
    }
    for (const Load::Part& part : load->parts) {
      if (part.rank != state_.rank()) {
        send_place(aggregator_rank, part, end);
      }
    }
    for (const Load::Part& part : load->parts) {
      if (part.rank == state_.rank() && end != kReadFailed) {
        const auto share = std::find_if(shares.begin(), shares.end(),
                                        [rank = aggregator_rank](const Share& mine) { return mine.rank == rank; });
        STRIA_CHECK(share != shares.end() && share->bytes == part.bytes, part.bytes, aggregator_rank, round_);
        take_packed(*share, aggregation_.staging(state_.rank(), part.offset, part.bytes), end);
      }
    }
  }
  fetched_.clear();
}

void ReadContributor::send_place(int aggregator_rank, const Load::Part& part, int64_t end) {
  const std::pair pair{aggregator_rank, part.rank};
  if (!parted_.carried.contains(pair)) {
    const int64_t place[] = {end, part.offset};
    mailbox_.post_numbers(part.rank, kReadPlaceTag, place);
  }
  if (end == kReadFailed) {
    state_.memory().surely([&] { parted_.carried.insert(pair); });
  } else {
    state_.memory().surely([&] { members_.push_back(part.rank); });
  }
}

void ReadContributor::take_from_delegate(const Share& share) {
  if (parted_.aggregators.contains(share.rank)) {
    return;
  }
  int64_t place[] = {0, 0};  // the end of the file, and the offset
  {
    PhaseTimer timer(context_.times, Phase::kExchange);
    mailbox_.receive(std::as_writable_bytes(std::span(place)), share.speaker, kReadPlaceTag);
  }
  STRIA_CHECK(place[0] >= kReadFailed, place[0], place[1], share.speaker, share.rank);
  if (place[0] == kReadFailed) {
    fail(share.rank);
    return;
  }
  take_packed(share, aggregation_.staging(share.speaker, place[1], share.bytes), place[0]);
  mailbox_.post_lasting_token(share.speaker, kEmptiedTag, share.bytes);
}

void ReadContributor::take_directly(const Share& share, int64_t own_end) {
  if (parted_.aggregators.contains(share.rank)) {
    return;
  }
  int64_t end = share.own ? own_end : arrived(share.rank);
  STRIA_CHECK(end >= kReadFailed, end, share.rank, round_);
  if (end == kReadFailed) {
    fail(share.rank);
    return;
  }
  if (share.shared) {
    attempt_to_take(share, [&] { take_shared(share, aggregation_.buffer(share.rank, round_), end); });
  } else {
    expect_message(share, end);
  }
  if (share.shared && !share.own) {
    mailbox_.post_lasting_token(share.rank, kTakenTag, share.bytes);
  }
}

int64_t ReadContributor::arrived(int from) {
  PhaseTimer timer(context_.times, Phase::kExchange);
  return mailbox_.receive_token(from, kFilledTag);
}

void ReadContributor::fail(int aggregator_rank) {
  state_.note_failure_elsewhere();
  state_.memory().surely([&] {
    parted_.aggregators.insert(aggregator_rank);
    lost_rounds_.emplace(aggregator_rank, round_);
  });
}

void ReadContributor::miss_after_failures(int done_rounds) {
  for (int rank : aggregation_.met_ranks()) {
    const auto lost = lost_rounds_.find(rank);
    aggregation_.miss_rounds(rank, lost == lost_rounds_.end() ? done_rounds : lost->second, taken_);
  }
}

// Unpacks straight from the aggregator's buffer; all streams of the round in one call.
void ReadContributor::take_shared(const Share& share, std::byte* buffer, int64_t file_end) {
  PhaseTimer timer(context_.times, Phase::kUnpack);
  copy_.begin();
  for (const auto& [w, whole] : share.parts) {
    const Window& window = share.windows[w];
    const Overlap overlap = before(whole, file_end);
    if (overlap.begin < overlap.end) {
      copy_.copy(overlap, buffer + window.buffer_offset, window.file.begin);
    }
  }
  copy_.finish();
}

// Aggregators of other nodes send side by side.
void ReadContributor::expect_message(const Share& share, int64_t file_end) {
  if (!aggregation_.arrivals().has_room(share.bytes)) {
    take_arrivals();
  }
  aggregation_.arrivals().expect({.shares = {&share, 1}, .note = file_end}, share.bytes, share.rank, kReadDataTag);
}

void ReadContributor::take_arrivals() {
  for (const Arrivals::Arrival& arrival : aggregation_.arrivals().expected()) {
    {
      PhaseTimer timer(context_.times, Phase::kExchange);
      aggregation_.arrivals().wait_for(arrival);
    }
    take_packed(arrival.shares.front(), arrival.bytes.data(), arrival.note);
  }
  aggregation_.arrivals().clear();
}

void ReadContributor::take_packed(const Share& share, std::byte* packed, int64_t file_end) {
  PhaseTimer timer(context_.times, Phase::kUnpack);
  attempt_to_take(share, [&] {
    parts_.clear();
    const std::byte* const begin = packed;
    for (const auto& [w, whole] : share.parts) {
      Overlap overlap = before(whole, file_end);
      if (overlap.begin < overlap.end) {
        parts_.push_back(
            {.stream_id = overlap.stream->stream_id, .begin = overlap.begin, .end = overlap.end, .packed = packed});
      }
      packed += whole.end - whole.begin;
    }
    STRIA_CHECK(packed - begin == share.bytes, packed - begin, share.bytes, share.rank);
    sink_.unpack(parts_);
  });
}

template <typename Work>
void ReadContributor::attempt_to_take(const Share& share, Work&& work) {
  bool done = false;
  state_.memory().attempt([&] {
    work();
    done = true;
  });
  if (done) {
    return;
  }
  for (const auto& [w, overlap] : share.parts) {
    taken_.miss(*overlap.stream, overlap.begin);
  }
}

// What lies past the end of the file stays as it is in memory.
Overlap ReadContributor::before(Overlap overlap, int64_t file_end) {
  const int64_t end = file_end == kNoEnd ? overlap.end : position_of(*overlap.stream, file_end);
  if (end < overlap.end) {
    overlap.end = end;
    taken_.miss(*overlap.stream, std::max(overlap.begin, end));
  }
  return overlap;
}

}  // namespace stria::access
