#include <algorithm>
#include <map>
#include <optional>

#include "access/failure/message_signal.hpp"
#include "access/plan/planner.hpp"
#include "access/together/domains/wanted_stretches.hpp"
#include "access/together/two_phase/aggregation.hpp"
#include "access/together/two_phase/two_phase.hpp"
#include "access/together/window/window_copy.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::access {

namespace {

// Instead of an end of the file: the aggregator has failed. The last word between the two.
constexpr int64_t kFailed = -1;

class TwoPhaseRead {
 public:
  TwoPhaseRead(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, StreamSink& sink,
               KeptBuffers* kept, const GatheredRequests* gathered)
      : context_(context),
        plan_(plan),
        lanes_(lanes),
        sink_(sink),
        copy_(Endpoint::of_read(sink), kAggregatorCopy),
        aggregation_(context, plan, lanes, {.reads = true, .kept = kept, .gathered = gathered}) {}

  Moved run() {
    moved_.status = aggregation_.prepare();
    if (!moved_.status.ok()) {
      return moved_;
    }
    if (aggregation_.is_aggregator() && aggregation_.round_count() > 1) {
      signal_.emplace(context_.comm, aggregation_.memory(), plan_.aggregators);
    }
    for (; round_ < aggregation_.round_count() && !is_over(); ++round_) {
      begin(round_);
      if (aggregation_.is_aggregator()) {
        serve(round_);
      }
      take(round_);
      PhaseTimer timer(context_.times, Phase::kExchange);
      mailbox_.drain();
      exchange_news();
    }
    for (int twin = 0; twin < Aggregation::kTwins; ++twin) {
      collect_taken(twin);
    }
    wait_for_members();
    PhaseTimer timer(context_.times, Phase::kExchange);
    mailbox_.finish();
    if (signal_) {
      moved_.status = signal_->end(moved_.status);
    }
    bool cause_known = !moved_.status.ok() && moved_.status.code() != ErrorCode::kAborted;
    if (aggregation_.memory().ran_out() && !cause_known) {
      moved_.status = aggregation_.memory().status();
    }
    if (!moved_.status.ok()) {
      miss_after_failures();
    }
    moved_.bytes = taken_.bytes(lanes_);
    return moved_;
  }

 private:
  void miss_after_failures() {
    for (int rank : aggregation_.met_ranks()) {
      const auto lost = lost_rounds_.find(rank);
      aggregation_.miss_rounds(rank, lost == lost_rounds_.end() ? round_ : lost->second, taken_);
    }
  }

  void begin(int round) {
    PhaseTimer timer(context_.times, Phase::kExchange);
    if (Status received = aggregation_.begin_round(round, parted_); !received.ok()) {
      moved_.status.update(std::move(received));
      own_end_ = kFailed;
    }
  }

  // Aggregator: tells the others of a failure here, and learns of theirs.
  void exchange_news() {
    if (!signal_) {
      return;
    }
    if (own_end_ == kFailed) {
      signal_->tell();
    } else if (signal_->look()) {
      own_end_ = kFailed;
      note_failure_elsewhere();
    }
  }

  void note_failure_elsewhere() {
    if (moved_.status.ok()) {
      moved_.status = aggregation_.memory().surely([] { return Status(ErrorCode::kAborted, "another rank could not read"); });
    }
  }

  // After a failure of which all have heard: no rank waits for this one in the rounds
  // that are left.
  bool is_over() const { return !moved_.status.ok() && aggregation_.is_parted(parted_); }

  // Aggregator: reads the round's windows and hands them out.
  void serve(int round) {
    std::vector<Share> wanted = aggregation_.contributors(round);
    collect_taken(round);
    std::byte* buffer = aggregation_.buffer(context_.comm.rank(), round);
    own_end_ = own_end_ == kFailed ? kFailed : read_windows(round, wanted, buffer);
    auto& taken_from = readers_[round % Aggregation::kTwins];
    aggregation_.memory().surely([&] { taken_from.reserve(wanted.size()); });
    for_each_speaker(wanted, [&](int speaker, std::span<const Share> shares) {
      if (!parted_.speakers.contains(speaker)) {
        hand_out(speaker, shares, buffer, taken_from);
      }
    });
  }

  void hand_out(int speaker, std::span<const Share> shares, const std::byte* buffer, std::vector<int>& taken_from) {
    const bool shared = shares.front().shared;
    int64_t end = own_end_;
    std::vector<std::byte> message;
    if (shared && end != kFailed) {
      taken_from.push_back(speaker);
    } else if (end != kFailed) {
      end = kFailed;
      aggregation_.memory().attempt([&] {
        message = message_for(shares, buffer);
        end = own_end_;
      });
    }
    mailbox_.post_token(speaker, kFilledTag, end);
    if (end == kFailed) {
      aggregation_.memory().surely([&] { parted_.speakers.insert(speaker); });
    } else if (!shared) {
      mailbox_.post_bytes(std::move(message), speaker, kReadDataTag);
    }
  }

  // Waits until all ranks of the node have read the buffer that `round` will use.
  void collect_taken(int round) {
    PhaseTimer timer(context_.times, Phase::kExchange);
    auto& taken_from = readers_[round % Aggregation::kTwins];
    for (int rank : taken_from) {
      mailbox_.receive_token(rank, kTakenTag);
    }
    taken_from.clear();
  }

  // One read of the stretches that any rank wants, with gaps that cost less than another request.
  // Returns where the file was found to end (kNoEnd: not before these bytes), or kFailed.
  int64_t read_windows(int round, const std::vector<Share>& wanted, std::byte* buffer) {
    int64_t end = kFailed;
    aggregation_.memory().attempt([&] {
      std::vector<Window> windows = aggregation_.my_windows(round);
      std::vector<storage::ReadSegment> segments;
      const int64_t most_gap_bytes = request_cost_bytes(context_.file->capabilities());
      for (size_t w = 0; w < windows.size(); ++w) {
        for (const ByteRange stretch : stretches_of(w, wanted, most_gap_bytes)) {
          std::byte* at = buffer + windows[w].buffer_offset + (stretch.begin - windows[w].file.begin);
          segments.push_back({stretch.begin, at, stretch.size()});
        }
      }
      end = segments.empty() ? kNoEnd : read(segments);
    });
    return end;
  }

  int64_t read(const std::vector<storage::ReadSegment>& segments) {
    PhaseTimer timer(context_.times, Phase::kRead);
    auto read_bytes = context_.file->read(segments);
    if (!read_bytes.ok()) {
      moved_.status = read_bytes.status();  // the cause goes before what others report
    }
    return read_bytes.ok() ? file_end(segments, *read_bytes) : kFailed;
  }

  // Bytes that several ranks want come once.
  static std::vector<std::byte> message_for(std::span<const Share> shares, const std::byte* buffer) {
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
    return message;
  }

  // Contributor: takes its bytes of the round from every aggregator that it meets. Delegates first
  // fetch what they carry; for that they wait only for aggregators of this round.
  void take(int round) {
    const std::vector<Share> shares = aggregation_.my_shares(round);
    const std::vector<Load> loads = aggregation_.loads(round);
    if (!loads.empty()) {
      wait_for_members();
    }
    for (const Load& load : loads) {
      fetch(load, shares);
    }
    for (const Share& share : shares) {
      if (share.speaker != context_.comm.rank()) {
        take_from_delegate(share);
      } else if (!aggregation_.is_carried(share, loads)) {
        take_directly(share, round);
      }
    }
    take_arrivals();
  }

  // Delegate: waits until the ranks for which it speaks have taken what is in its staging buffer.
  void wait_for_members() {
    PhaseTimer timer(context_.times, Phase::kExchange);
    for (int rank : members_) {
      mailbox_.receive_token(rank, kEmptiedTag);
    }
    members_.clear();
  }

  // Delegate: receives what its node wants of an aggregator, tells the others, and
  // takes its own part.
  void fetch(const Load& load, const std::vector<Share>& shares) {
    const int me = context_.comm.rank();
    const int aggregator_rank = aggregation_.rank_of(load);
    const int64_t end = parted_.aggregators.contains(aggregator_rank) ? kFailed : arrived(aggregator_rank);
    if (end == kFailed) {
      fail(aggregator_rank);
    } else {
      PhaseTimer timer(context_.times, Phase::kExchange);
      mailbox_.receive({aggregation_.staging(me, load.offset), static_cast<size_t>(load.bytes)}, aggregator_rank, kReadDataTag);
    }
    for (const Load::Part& part : load.parts) {
      if (part.rank != me) {
        send_place(aggregator_rank, part, end);
      }
    }
    for (const Load::Part& part : load.parts) {
      if (part.rank == me && end != kFailed) {
        const auto share =
            std::find_if(shares.begin(), shares.end(), [=](const Share& mine) { return mine.rank == aggregator_rank; });
        take_packed(*share, aggregation_.staging(me, part.offset), end);
      }
    }
  }

  void send_place(int aggregator_rank, const Load::Part& part, int64_t end) {
    const std::pair pair{aggregator_rank, part.rank};
    if (!parted_.carried.contains(pair)) {
      const int64_t place[] = {end, part.offset};
      mailbox_.post_numbers(part.rank, kReadPlaceTag, place);
    }
    if (end == kFailed) {
      aggregation_.memory().surely([&] { parted_.carried.insert(pair); });
    } else {
      aggregation_.memory().surely([&] { members_.push_back(part.rank); });
    }
  }

  void take_from_delegate(const Share& share) {
    if (parted_.aggregators.contains(share.rank)) {
      return;
    }
    int64_t place[] = {0, 0};  // the end of the file, and the offset
    {
      PhaseTimer timer(context_.times, Phase::kExchange);
      mailbox_.receive(std::as_writable_bytes(std::span(place)), share.speaker, kReadPlaceTag);
    }
    if (place[0] == kFailed) {
      fail(share.rank);
      return;
    }
    take_packed(share, aggregation_.staging(share.speaker, place[1]), place[0]);
    mailbox_.post_lasting_token(share.speaker, kEmptiedTag, share.bytes);
  }

  void fail(int aggregator_rank) {
    note_failure_elsewhere();
    aggregation_.memory().surely([&] {
      parted_.aggregators.insert(aggregator_rank);
      lost_rounds_.emplace(aggregator_rank, round_);
    });
  }

  void take_directly(const Share& share, int round) {
    if (parted_.aggregators.contains(share.rank)) {
      return;
    }
    int64_t end = share.own ? own_end_ : arrived(share.rank);
    if (end == kFailed) {
      fail(share.rank);
      return;
    }
    if (share.shared) {
      attempt_to_take(share, [&] { take_shared(share, aggregation_.buffer(share.rank, round), end); });
    } else {
      expect_message(share, end);
    }
    if (share.shared && !share.own) {
      mailbox_.post_lasting_token(share.rank, kTakenTag, share.bytes);
    }
  }

  int64_t arrived(int from) {
    PhaseTimer timer(context_.times, Phase::kExchange);
    return mailbox_.receive_token(from, kFilledTag);
  }

  // Unpacks straight from the aggregator's buffer; all streams of the round in one call.
  void take_shared(const Share& share, std::byte* buffer, int64_t file_end) {
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
  void expect_message(const Share& share, int64_t file_end) {
    if (!aggregation_.arrivals().has_room(share.bytes)) {
      take_arrivals();
    }
    aggregation_.arrivals().expect({.shares = {&share, 1}, .note = file_end}, share.bytes, share.rank, kReadDataTag);
  }

  void take_arrivals() {
    for (const Arrivals::Arrival& arrival : aggregation_.arrivals().expected()) {
      {
        PhaseTimer timer(context_.times, Phase::kExchange);
        aggregation_.arrivals().wait_for(arrival);
      }
      take_packed(arrival.shares.front(), arrival.bytes.data(), arrival.note);
    }
    aggregation_.arrivals().clear();
  }

  void take_packed(const Share& share, std::byte* packed, int64_t file_end) {
    PhaseTimer timer(context_.times, Phase::kUnpack);
    attempt_to_take(share, [&] {
      parts_.clear();
      for (const auto& [w, whole] : share.parts) {
        Overlap overlap = before(whole, file_end);
        if (overlap.begin < overlap.end) {
          parts_.push_back({overlap.stream->stream_id, overlap.begin, overlap.end, packed});
        }
        packed += whole.end - whole.begin;
      }
      sink_.unpack(parts_);
    });
  }

  template <typename Work>
  void attempt_to_take(const Share& share, Work&& work) {
    bool done = false;
    aggregation_.memory().attempt([&] {
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
  Overlap before(Overlap overlap, int64_t file_end) {
    const int64_t end = file_end == kNoEnd ? overlap.end : position_of(*overlap.stream, file_end);
    if (end < overlap.end) {
      overlap.end = end;
      taken_.miss(*overlap.stream, std::max(overlap.begin, end));
    }
    return overlap;
  }

  Context& context_;
  const ThroughAggregators& plan_;
  std::span<const Lane> lanes_;
  StreamSink& sink_;
  WindowCopy copy_;
  Aggregation aggregation_;
  Mailbox& mailbox_ = aggregation_.mailbox();
  std::optional<MessageSignal> signal_;  // of an aggregator, where a failure can spare rounds
  Parted parted_;
  std::vector<int> members_;  // ranks that still have to take bytes out of the staging buffer
  int round_ = 0;
  // Of aggregators that failed: the first that this rank did not get.
  std::map<int, int> lost_rounds_;
  MovedPrefix taken_;
  Moved moved_;
  std::vector<StreamPart> parts_;
  // Where this aggregator found the file to end in the round, or kFailed.
  int64_t own_end_ = kNoEnd;
  // Ranks that still have to say that they took the buffer's bytes.
  std::vector<int> readers_[Aggregation::kTwins];
};

}  // namespace

Moved read_two_phase(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, StreamSink& sink,
                     KeptBuffers* kept, const GatheredRequests* gathered) {
  return TwoPhaseRead(context, plan, lanes, sink, kept, gathered).run();
}

}  // namespace stria::access
