#include <algorithm>
#include <cstring>

#include "access/aggregation.hpp"
#include "access/two_phase.hpp"
#include "trace/phase_timer.hpp"

namespace stria::access {

namespace {

using Share = Aggregation::Share;

constexpr int kFilledTag =
    32020;  // aggregator to contributor: the shared buffer holds the round's bytes up to this end of the file, or kFailed
constexpr int kTakenTag = 32021;  // contributor to aggregator: the shared buffer may be used again
constexpr int kDataTag = 32022;   // aggregator to a rank of another node: the same number, then the packed bytes
constexpr int64_t kFailed = -1;
constexpr int64_t kHeaderBytes = sizeof(int64_t);

class TwoPhaseRead {
 public:
  TwoPhaseRead(Context& context, const TwoPhasePlan& plan, std::span<const Lane> lanes, StreamSink& sink)
      : context_(context), sink_(sink), aggregation_(context, plan, lanes) {}

  Moved run() {
    moved_.status = aggregation_.prepare();
    if (!moved_.status.ok()) {
      return moved_;
    }
    for (int round = 0; round < aggregation_.round_count(); ++round) {
      if (aggregation_.is_aggregator()) {
        serve(round);
      }
      take(round);
      PhaseTimer timer(context_.times, Phase::kExchange);
      aggregation_.drain();
    }
    collect_taken(aggregation_.round_count());
    collect_taken(aggregation_.round_count() + 1);
    aggregation_.finish();
    return moved_;
  }

 private:
  // Aggregator: reads the round's windows and hands them out.
  void serve(int round) {
    std::vector<Share> wanted = aggregation_.contributors(round);
    collect_taken(round);
    std::byte* buffer = aggregation_.buffer(context_.comm.rank(), round);
    int64_t end = read_windows(round, wanted, buffer);
    auto& taken_from = readers_[round % Aggregation::kTwins];
    for (const Share& share : wanted) {
      if (share.own) {
        continue;
      }
      if (share.shared) {
        aggregation_.post_token(share.rank, kFilledTag, end);
        taken_from.push_back(share.rank);
      } else {
        aggregation_.post_bytes(message_for(share, buffer, end), share.rank, kDataTag);
      }
    }
  }

  // Waits until the buffer that `round` will use was read by everybody on the node.
  void collect_taken(int round) {
    PhaseTimer timer(context_.times, Phase::kExchange);
    auto& taken_from = readers_[round % Aggregation::kTwins];
    for (int rank : taken_from) {
      aggregation_.receive_token(rank, kTakenTag);
    }
    taken_from.clear();
  }

  // One read a window: from the first to the last byte that anybody wants; what lies between comes along. Returns where the
  // file was found to end (kNoEnd: not before these bytes), or kFailed.
  int64_t read_windows(int round, const std::vector<Share>& wanted, std::byte* buffer) {
    std::vector<Window> windows = aggregation_.my_windows(round);
    std::vector<storage::ReadSegment> segments;
    for (size_t w = 0; w < windows.size(); ++w) {
      ByteRange hull = wanted_hull(w, windows[w], wanted);
      if (!hull.empty()) {
        segments.push_back({hull.begin, buffer + windows[w].buffer_offset + (hull.begin - windows[w].file.begin), hull.size()});
      }
    }
    if (segments.empty() || own_end_ == kFailed) {
      return own_end_ = own_end_ == kFailed ? kFailed : kNoEnd;
    }
    PhaseTimer timer(context_.times, Phase::kRead);
    auto read_bytes = context_.file->read(segments);
    if (!read_bytes.ok()) {
      moved_.status = read_bytes.status();  // the cause goes before what others report
    }
    return own_end_ = read_bytes.ok() ? file_end(segments, *read_bytes) : kFailed;
  }

  static ByteRange wanted_hull(size_t w, const Window& window, const std::vector<Share>& wanted) {
    ByteRange hull{window.file.end, window.file.begin};
    for (const Share& share : wanted) {
      for (const auto& [number, overlap] : share.parts) {
        if (number == w) {
          ByteRange part = intersect(hull_of(*overlap.stream), window.file);
          hull = {std::min(hull.begin, part.begin), std::max(hull.end, part.end)};
        }
      }
    }
    return hull;
  }

  std::vector<std::byte> message_for(const Share& share, const std::byte* buffer, int64_t end) {
    std::vector<std::byte> message(static_cast<size_t>(share.bytes + kHeaderBytes));
    std::memcpy(message.data(), &end, kHeaderBytes);
    std::byte* packed = message.data() + kHeaderBytes;
    for (const auto& [w, overlap] : share.parts) {
      if (end != kFailed) {
        gather_from_window(overlap, share.windows[w], buffer, packed);
      }
      packed += overlap.end - overlap.begin;
    }
    return message;
  }

  // Contributor: takes its bytes of the round from every aggregator that it meets.
  void take(int round) {
    for (const Share& share : aggregation_.my_shares(round)) {
      if (share.own) {
        take_shared(share, aggregation_.buffer(share.rank, round), own_end_);
      } else if (share.shared) {
        take_shared(share, aggregation_.buffer(share.rank, round), arrived(share.rank));
        aggregation_.post_lasting_token(share.rank, kTakenTag, share.bytes);
      } else {
        take_message(share);
      }
    }
  }

  int64_t arrived(int from) {
    PhaseTimer timer(context_.times, Phase::kExchange);
    return aggregation_.receive_token(from, kFilledTag);
  }

  void take_shared(const Share& share, const std::byte* buffer, int64_t end) {
    if (!filled(end)) {
      return;
    }
    PhaseTimer timer(context_.times, Phase::kUnpack);
    std::vector<std::byte> packed(static_cast<size_t>(share.bytes));
    std::byte* at = packed.data();
    for (const auto& [w, overlap] : share.parts) {
      gather_from_window(overlap, share.windows[w], buffer, at);
      at += overlap.end - overlap.begin;
    }
    unpack(share, packed.data(), end);
  }

  void take_message(const Share& share) {
    std::vector<std::byte> message(static_cast<size_t>(share.bytes + kHeaderBytes));
    {
      PhaseTimer timer(context_.times, Phase::kExchange);
      aggregation_.receive_bytes(message, share.rank, kDataTag);
    }
    int64_t end = 0;
    std::memcpy(&end, message.data(), kHeaderBytes);
    if (filled(end)) {
      PhaseTimer timer(context_.times, Phase::kUnpack);
      unpack(share, message.data() + kHeaderBytes, end);
    }
  }

  bool filled(int64_t end) {
    if (end == kFailed && moved_.status.ok()) {
      moved_.status = Status(ErrorCode::kAborted, "another rank could not read");
    }
    return end != kFailed;
  }

  // What lies past the end of the file stays as it is in memory.
  void unpack(const Share& share, std::byte* packed, int64_t end) {
    std::vector<StreamPart> parts;
    for (const auto& [w, overlap] : share.parts) {
      int64_t stop = end == kNoEnd ? overlap.end : std::min(overlap.end, position_of(*overlap.stream, end));
      if (overlap.begin < stop) {
        parts.push_back({overlap.stream->stream_id, overlap.begin, stop, packed});
        moved_.bytes += stop - overlap.begin;
      }
      packed += overlap.end - overlap.begin;
    }
    sink_.unpack(parts);
  }

  Context& context_;
  StreamSink& sink_;
  Aggregation aggregation_;
  Moved moved_;
  int64_t own_end_ = kNoEnd;                       // where this aggregator found the file to end in the round, or kFailed
  std::vector<int> readers_[Aggregation::kTwins];  // who still has to say that it took the buffer's bytes
};

}  // namespace

Moved read_two_phase(Context& context, const TwoPhasePlan& plan, std::span<const Lane> lanes, StreamSink& sink) {
  return TwoPhaseRead(context, plan, lanes, sink).run();
}

}  // namespace stria::access
