#include <fmt/format.h>

#include <algorithm>

#include "access/aggregation.hpp"
#include "access/two_phase.hpp"
#include "trace/phase_timer.hpp"

namespace stria::access {

namespace {

using Share = Aggregation::Share;

constexpr int kFilledTag =
    32020;  // aggregator to contributor: the shared buffer holds the round's bytes (1), or reading failed (0)
constexpr int kTakenTag = 32021;  // contributor to aggregator: the shared buffer may be used again
constexpr int kDataTag = 32022;   // aggregator to a rank of another node: one byte of outcome, then the packed bytes

class TwoPhaseRead {
 public:
  TwoPhaseRead(Context& context, const TwoPhasePlan& plan, std::span<const Lane> lanes, StreamSink& sink)
      : context_(context), sink_(sink), aggregation_(context, plan, lanes) {}

  Status run() {
    STRIA_RETURN_IF_ERROR(aggregation_.prepare());
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
    return status_;
  }

 private:
  // Aggregator: reads the round's windows and hands them out.
  void serve(int round) {
    std::vector<Share> wanted = aggregation_.contributors(round);
    collect_taken(round);
    std::byte* buffer = aggregation_.buffer(context_.comm.rank(), round);
    read_windows(round, wanted, buffer);
    auto& taken_from = readers_[round % Aggregation::kTwins];
    for (const Share& share : wanted) {
      if (share.own) {
        continue;
      }
      if (share.shared) {
        aggregation_.post_token(share.rank, kFilledTag, status_.ok() ? 1 : 0);
        taken_from.push_back(share.rank);
      } else {
        aggregation_.post_bytes(message_for(share, buffer), share.rank, kDataTag);
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

  // One read a window: from the first to the last byte that anybody wants; what lies between comes along.
  void read_windows(int round, const std::vector<Share>& wanted, std::byte* buffer) {
    std::vector<Window> windows = aggregation_.my_windows(round);
    std::vector<storage::ReadSegment> segments;
    int64_t wanted_bytes = 0;
    for (size_t w = 0; w < windows.size(); ++w) {
      ByteRange hull = wanted_hull(w, windows[w], wanted);
      if (!hull.empty()) {
        segments.push_back({hull.begin, buffer + windows[w].buffer_offset + (hull.begin - windows[w].file.begin), hull.size()});
        wanted_bytes += hull.size();
      }
    }
    if (segments.empty() || !status_.ok()) {
      return;
    }
    PhaseTimer timer(context_.times, Phase::kRead);
    auto read_bytes = context_.file->read(segments);
    if (!read_bytes.ok()) {
      status_ = read_bytes.status();
    } else if (*read_bytes < wanted_bytes) {
      status_ = Status(ErrorCode::kCorrupted, fmt::format("'{}' ends {} bytes before its data: the file is cut short",
                                                          context_.file->path(), wanted_bytes - *read_bytes));
    }
  }

  static ByteRange wanted_hull(size_t w, const Window& window, const std::vector<Share>& wanted) {
    ByteRange hull{window.file.end, window.file.begin};
    for (const Share& share : wanted) {
      for (const auto& [number, overlap] : share.parts) {
        if (number == w) {
          ByteRange type_hull{overlap.stream->displacement + overlap.stream->file_type.true_lower_bound(),
                              overlap.stream->displacement + overlap.stream->file_type.true_upper_bound()};
          ByteRange part = intersect(type_hull, window.file);
          hull = {std::min(hull.begin, part.begin), std::max(hull.end, part.end)};
        }
      }
    }
    return hull;
  }

  std::vector<std::byte> message_for(const Share& share, const std::byte* buffer) {
    std::vector<std::byte> message(static_cast<size_t>(share.bytes) + 1);
    message[0] = static_cast<std::byte>(status_.ok() ? 1 : 0);
    std::byte* packed = message.data() + 1;
    for (const auto& [w, overlap] : share.parts) {
      if (status_.ok()) {
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
        if (status_.ok()) {
          take_shared(share, aggregation_.buffer(share.rank, round));
        }
      } else if (share.shared) {
        if (arrived(share.rank)) {
          take_shared(share, aggregation_.buffer(share.rank, round));
        }
        aggregation_.post_lasting_token(share.rank, kTakenTag, share.bytes);
      } else {
        take_message(share);
      }
    }
  }

  bool arrived(int from) {
    PhaseTimer timer(context_.times, Phase::kExchange);
    bool filled = aggregation_.receive_token(from, kFilledTag) == 1;
    note_failure(!filled);
    return filled;
  }

  void note_failure(bool failed) {
    if (failed && status_.ok()) {
      status_ = Status(ErrorCode::kAborted, "another rank could not read");
    }
  }

  void take_shared(const Share& share, const std::byte* buffer) {
    PhaseTimer timer(context_.times, Phase::kUnpack);
    std::vector<std::byte> packed(static_cast<size_t>(share.bytes));
    std::byte* at = packed.data();
    for (const auto& [w, overlap] : share.parts) {
      gather_from_window(overlap, share.windows[w], buffer, at);
      at += overlap.end - overlap.begin;
    }
    unpack(share, packed.data());
  }

  void take_message(const Share& share) {
    std::vector<std::byte> message(static_cast<size_t>(share.bytes) + 1);
    {
      PhaseTimer timer(context_.times, Phase::kExchange);
      aggregation_.receive_bytes(message, share.rank, kDataTag);
    }
    bool filled = message[0] == std::byte{1};
    note_failure(!filled);
    if (filled) {
      PhaseTimer timer(context_.times, Phase::kUnpack);
      unpack(share, message.data() + 1);
    }
  }

  void unpack(const Share& share, std::byte* packed) {
    std::vector<StreamPart> parts;
    for (const auto& [w, overlap] : share.parts) {
      parts.push_back({overlap.stream->stream_id, overlap.begin, overlap.end, packed});
      packed += overlap.end - overlap.begin;
    }
    sink_.unpack(parts);
  }

  Context& context_;
  StreamSink& sink_;
  Aggregation aggregation_;
  Status status_;
  std::vector<int> readers_[Aggregation::kTwins];  // who still has to say that it took the buffer's bytes
};

}  // namespace

Status read_two_phase(Context& context, const TwoPhasePlan& plan, std::span<const Lane> lanes, StreamSink& sink) {
  return TwoPhaseRead(context, plan, lanes, sink).run();
}

}  // namespace stria::access
