#include <algorithm>
#include <array>
#include <climits>
#include <optional>

#include "access/failure/message_signal.hpp"
#include "access/together/two_phase/aggregation.hpp"
#include "access/together/two_phase/two_phase.hpp"
#include "access/together/window/window_copy.hpp"
#include "access/together/window/window_writer.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::access {

namespace {

// Instead of a place: the aggregator has failed. This is the last message of the two about it.
constexpr int64_t kClosed = -1;

class TwoPhaseWrite {
 public:
  TwoPhaseWrite(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, StreamSource& source,
                storage::File* direct_file, KeptBuffers* kept, const GatheredRequests* gathered)
      : context_(context),
        plan_(plan),
        source_(source),
        copy_(Endpoint::of_write(source), kAggregatorCopy),
        aggregation_(context, plan, lanes, {.reads = false, .kept = kept, .gathered = gathered}),
        flights_{Flight(context, direct_file), Flight(context, direct_file)} {}

  Status run() {
    STRIA_RETURN_IF_ERROR(aggregation_.prepare());
    prepared_ = true;
    if (aggregation_.is_aggregator() && aggregation_.round_count() > 1) {
      signal_.emplace(context_.comm, aggregation_.memory(), plan_.aggregators);
    }
    for (int round = 0; round < aggregation_.round_count() && !is_over(); ++round) {
      begin(round);
      const std::vector<Share> contributors = aggregation_.contributors(round);
      offer_buffer(round, contributors);
      contribute(round);
      if (aggregation_.is_aggregator()) {
        collect(round, contributors);
        start_write(round, contributors);
      }
      end_round();
      if (aggregation_.is_aggregator()) {
        write_last(round, contributors);
      }
    }
    for (int twin = 0; twin < Aggregation::kTwins; ++twin) {
      finish_write(twin);
    }
    if (signal_) {
      PhaseTimer timer(context_.times, Phase::kExchange);
      exchange_news();
      status_ = signal_->end(status_);
    }
    if (aggregation_.memory().ran_out() && (status_.ok() || status_.code() == ErrorCode::kAborted)) {
      status_ = aggregation_.memory().status();
    }
    if (status_.ok() && !parted_.aggregators.empty()) {
      return another_failed();
    }
    return status_;
  }

  /// After a failure: tells every contributor how far this aggregator came. Returns how many bytes
  /// of this rank's are in the file, counted from its first to the first that an aggregator may not
  /// have written. Collective: yes.
  int64_t settle(std::span<const Lane> lanes) {
    if (!prepared_) {
      return 0;
    }
    PhaseTimer timer(context_.times, Phase::kExchange);
    int me = context_.comm.rank();
    for (int rank : aggregation_.contributor_ranks()) {
      if (rank != me) {
        mailbox_.post_token(rank, kWrittenTag, written_rounds());
      }
    }
    MovedPrefix written;
    for (int rank : aggregation_.met_ranks()) {
      const int64_t rounds = rank == me ? written_rounds() : mailbox_.receive_token(rank, kWrittenTag);
      aggregation_.miss_rounds(rank, static_cast<int>(rounds), written);
    }
    mailbox_.drain();
    return written.bytes(lanes);
  }

 private:
  struct Flight {
    Flight(Context& context, storage::File* direct_file) : writer(context, direct_file) {}
    WindowWriter writer;
    int round = 0;
  };

  void begin(int round) {
    PhaseTimer timer(context_.times, Phase::kExchange);
    Status received = aggregation_.begin_round(round, parted_);
    status_.update(std::move(received));
  }

  // Aggregator: waits for the write that used this round's buffer, then lets the contributors in.
  void offer_buffer(int round, const std::vector<Share>& contributors) {
    if (round < Aggregation::kTwins) {
      return;  // fresh buffers need no token
    }
    if (aggregation_.is_aggregator()) {
      finish_write(round % Aggregation::kTwins);
    }
    for_each_speaker(contributors, [&](int speaker, std::span<const Share>) {
      if (!parted_.speakers.contains(speaker)) {
        mailbox_.post_token(speaker, kGoTag, status_.ok() ? 1 : 0);
        if (!status_.ok()) {
          aggregation_.memory().surely([&] { parted_.speakers.insert(speaker); });
        }
      }
    });
  }

  // A rank that is carried waits for a delegate, which waits only for an aggregator of this round.
  // Delegates wait for the ranks that they carry after all have been told where to pack.
  void contribute(int round) {
    const int me = context_.comm.rank();
    const std::vector<Share> shares = aggregation_.my_shares(round);
    const std::vector<Load> loads = aggregation_.loads(round);
    carried_.clear();
    for (const Load& load : loads) {
      take_up(load, shares, round);
    }
    for (const Share& share : shares) {
      if (share.speaker != me) {
        hand_over(share);
      } else if (!aggregation_.is_carried(share, loads)) {
        bring(share, round);
      }
    }
    for (const auto& [load, packed] : carried_) {
      deliver(*load, packed);
    }
  }

  void bring(const Share& share, int round) {
    if (!share.own && !is_let_in(share.rank, round)) {
      return;
    }
    std::vector<std::byte> message;
    bool packed = pack_unless_failed([&] {
      if (share.shared) {
        pack_into(share, aggregation_.buffer(share.rank, round));
      } else {
        message.resize(static_cast<size_t>(share.bytes));
        pack_behind(share, message.data());
      }
    });
    if (!share.own) {
      mailbox_.post_token(share.rank, kDoneTag, packed ? 1 : 0);
    } else if (!packed && status_.ok()) {
      status_ = another_failed();
    }
    if (!share.shared && packed) {
      mailbox_.post_bytes(std::move(message), share.rank, kWriteDataTag);
    }
  }

  // Delegate: tells the ranks for which it speaks where to pack, and packs its own
  // bytes among theirs.
  void take_up(const Load& load, const std::vector<Share>& shares, int round) {
    const int me = context_.comm.rank();
    const int aggregator_rank = aggregation_.rank_of(load);
    const bool open = is_let_in(aggregator_rank, round);
    bool packed = true;
    for (const Load::Part& part : load.parts) {
      if (part.rank != me) {
        send_place(aggregator_rank, part, open);
      } else if (open) {
        const auto share =
            std::find_if(shares.begin(), shares.end(), [=](const Share& mine) { return mine.rank == aggregator_rank; });
        packed = pack_unless_failed([&] { pack_behind(*share, aggregation_.staging(me, part.offset)); });
      }
    }
    if (open) {
      aggregation_.memory().surely([&] { carried_.emplace_back(&load, packed); });
    }
  }

  void send_place(int aggregator_rank, const Load::Part& part, bool open) {
    const std::pair pair{aggregator_rank, part.rank};
    if (!parted_.carried.contains(pair)) {
      mailbox_.post_token(part.rank, kWritePlaceTag, open ? part.offset : kClosed);
    }
    if (!open) {
      aggregation_.memory().surely([&] { parted_.carried.insert(pair); });
    }
  }

  // To the rank that speaks for this one.
  void hand_over(const Share& share) {
    if (parted_.aggregators.contains(share.rank)) {
      return;
    }
    const int64_t offset = receive(share.speaker, kWritePlaceTag);
    if (offset == kClosed) {
      aggregation_.memory().surely([&] { parted_.aggregators.insert(share.rank); });
      return;
    }
    bool packed = pack_unless_failed([&] { pack_behind(share, aggregation_.staging(share.speaker, offset)); });
    mailbox_.post_token(share.speaker, kPlacedTag, packed ? 1 : 0);
  }

  // Delegate: sends what lies packed in its staging buffer.
  void deliver(const Load& load, bool packed) {
    for (const Load::Part& part : load.parts) {
      if (part.rank != context_.comm.rank()) {
        packed = receive(part.rank, kPlacedTag) != 0 && packed;
      }
    }
    const int aggregator_rank = aggregation_.rank_of(load);
    mailbox_.post_token(aggregator_rank, kDoneTag, packed ? 1 : 0);
    if (packed) {
      const std::byte* bytes = aggregation_.staging(context_.comm.rank(), load.parts.front().offset);
      mailbox_.post_kept_bytes({bytes, static_cast<size_t>(load.bytes)}, aggregator_rank, kWriteDataTag);
    }
  }

  // False when the aggregator has failed: the two then exchange no more messages.
  bool is_let_in(int aggregator_rank, int round) {
    if (parted_.aggregators.contains(aggregator_rank)) {
      return false;
    }
    bool let_in = round < Aggregation::kTwins || receive(aggregator_rank, kGoTag) != 0;
    if (!let_in) {
      aggregation_.memory().surely([&] { parted_.aggregators.insert(aggregator_rank); });
    }
    return let_in;
  }

  int64_t receive(int from, int tag) {
    PhaseTimer timer(context_.times, Phase::kExchange);
    return mailbox_.receive_token(from, tag);
  }

  template <typename Work>
  bool pack_unless_failed(Work&& work) {
    return !knows_of_failure() && attempt(work);
  }

  // False where memory runs out; this rank's writing then ends.
  template <typename Work>
  bool attempt(Work&& work) {
    bool done = false;
    aggregation_.memory().attempt([&] {
      work();
      done = true;
    });
    if (!done && status_.ok()) {
      status_ = aggregation_.memory().status();
    }
    return done;
  }

  // Aggregator: tells the others of a failure here, and learns of theirs.
  void exchange_news() {
    if (!signal_) {
      return;
    }
    if (knows_of_failure()) {
      signal_->tell();
    } else if (signal_->look()) {
      status_ = another_failed();
    }
  }

  Status another_failed() {
    return aggregation_.memory().surely([] { return Status(ErrorCode::kAborted, "another rank could not write"); });
  }

  // After a failure of which all have heard: no rank waits for this one in the rounds
  // that are left.
  bool is_over() const { return knows_of_failure() && aggregation_.is_parted(parted_); }

  // From then on a rank brings nothing to any aggregator, so that ranks that have not heard of it
  // stop within two rounds.
  bool knows_of_failure() const { return !status_.ok() || !parted_.aggregators.empty(); }

  // Packs straight to where the bytes belong in the aggregator's buffer; all streams of the
  // round in one call.
  void pack_into(const Share& share, std::byte* buffer) {
    PhaseTimer timer(context_.times, Phase::kPack);
    copy_.begin();
    for (const auto& [w, overlap] : share.parts) {
      const Window& window = share.windows[w];
      copy_.copy(overlap, buffer + window.buffer_offset, window.file.begin);
    }
    copy_.finish();
  }

  // One part behind the other, as a message has them.
  void pack_behind(const Share& share, std::byte* at) {
    PhaseTimer timer(context_.times, Phase::kPack);
    parts_.clear();
    for (const auto& [w, overlap] : share.parts) {
      parts_.push_back({overlap.stream->stream_id, overlap.begin, overlap.end, at});
      at += overlap.end - overlap.begin;
    }
    source_.pack(parts_);
  }

  // Aggregator: takes in what the contributors bring, in their order. Those of other nodes send
  // side by side.
  void collect(int round, const std::vector<Share>& contributors) {
    PhaseTimer timer(context_.times, Phase::kExchange);
    std::byte* buffer = aggregation_.buffer(context_.comm.rank(), round);
    Arrivals& arrivals = aggregation_.arrivals();
    for_each_speaker(contributors, [&](int speaker, std::span<const Share> shares) {
      if (parted_.speakers.contains(speaker)) {
        return;
      }
      if (mailbox_.receive_token(speaker, kDoneTag) == 0) {
        status_ = status_.ok() ? Status(ErrorCode::kAborted, "another rank could not pack") : status_;
      } else if (!shares.front().shared) {
        int64_t bytes = 0;
        for (const Share& share : shares) {
          bytes += share.bytes;
        }
        if (!arrivals.has_room(bytes)) {
          scatter_arrivals(buffer);
        }
        arrivals.expect({.shares = shares}, bytes, speaker, kWriteDataTag);
      }
    });
    scatter_arrivals(buffer);
  }

  void scatter_arrivals(std::byte* buffer) {
    for (const Arrivals::Arrival& arrival : aggregation_.arrivals().expected()) {
      aggregation_.arrivals().wait_for(arrival);
      const std::byte* packed = arrival.bytes.data();
      attempt([&] {
        for (const Share& share : arrival.shares) {
          scatter_to_windows(share, packed, buffer);
          packed += share.bytes;
        }
      });
    }
    aggregation_.arrivals().clear();
  }

  // Aggregator: writes while the next round is packed.
  void start_write(int round, const std::vector<Share>& contributors) {
    if (status_.ok() && !is_last(round)) {
      attempt([&] { begin_flight(round).start(aggregation_.my_windows(round), contributors, own_buffer(round)); });
    }
  }

  // Nothing is packed meanwhile; so it begins when no rank waits for a message of this one.
  void write_last(int round, const std::vector<Share>& contributors) {
    if (status_.ok() && is_last(round)) {
      attempt([&] { begin_flight(round).write(aggregation_.my_windows(round), contributors, own_buffer(round)); });
    }
  }

  WindowWriter& begin_flight(int round) {
    Flight& flight = flights_[static_cast<size_t>(round % Aggregation::kTwins)];
    flight.round = round;
    begun_rounds_ = round + 1;
    return flight.writer;
  }

  bool is_last(int round) const { return round + 1 == aggregation_.round_count(); }
  std::byte* own_buffer(int round) const { return aggregation_.buffer(context_.comm.rank(), round); }

  void end_round() {
    PhaseTimer timer(context_.times, Phase::kExchange);
    mailbox_.drain();
    exchange_news();
  }

  // So many rounds of this aggregator, the first ones, are in the file.
  int written_rounds() const { return std::min(begun_rounds_, lost_round_); }

  void finish_write(int twin) {
    Flight& flight = flights_[static_cast<size_t>(twin)];
    Status outcome;
    if (!attempt([&] { outcome = flight.writer.finish(); })) {
      outcome = aggregation_.memory().status();
    }
    if (!outcome.ok()) {
      lost_round_ = std::min(lost_round_, flight.round);
    }
    status_.update(std::move(outcome));
  }

  Context& context_;
  const ThroughAggregators& plan_;
  StreamSource& source_;
  WindowCopy copy_;
  Aggregation aggregation_;
  Mailbox& mailbox_ = aggregation_.mailbox();
  std::optional<MessageSignal> signal_;  // of an aggregator, where a failure can spare rounds
  bool prepared_ = false;
  Status status_;  // of this aggregator's writing
  Parted parted_;
  // Of this round, and whether this rank's own bytes are in it.
  std::vector<std::pair<const Load*, bool>> carried_;
  int begun_rounds_ = 0;      // of this aggregator, that it began to write
  int lost_round_ = INT_MAX;  // the first of them that failed
  std::vector<StreamPart> parts_;
  std::array<Flight, Aggregation::kTwins> flights_;
};

}  // namespace

Status write_two_phase(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, StreamSource& source,
                       storage::File* direct_file) {
  return TwoPhaseWrite(context, plan, lanes, source, direct_file, nullptr, nullptr).run();
}

Moved write_two_phase_agreed(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes,
                             StreamSource& source, KeptBuffers* kept, const GatheredRequests* gathered) {
  TwoPhaseWrite write(context, plan, lanes, source, nullptr, kept, gathered);
  Moved moved;
  moved.status = context.comm.agree(write.run());
  moved.bytes = moved.status.ok() ? total_bytes(lanes) : write.settle(lanes);
  return moved;
}

}  // namespace stria::access
