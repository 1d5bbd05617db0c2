#include "access/independent.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "access/buffer.hpp"
#include "access/description.hpp"
#include "access/failure_news.hpp"
#include "access/moved_prefix.hpp"
#include "access/write_lock.hpp"
#include "trace/phase_timer.hpp"

namespace stria::access {

namespace {

// Requests of memory that needs no packing are cut, too, so that a failure half-way still tells what went before.
constexpr int64_t kLargestBatchBytes = 64 << 20;

// A window that is locked, read and written back must save more requests than it makes.
constexpr int64_t kLeastPiecesToSieve = 6;

int64_t longest_stream(std::span<const Lane> lanes) {
  int64_t most = 0;
  for (const Lane& lane : lanes) {
    for (const Stream& stream : lane.streams) {
      most = std::max(most, stream.size());
    }
  }
  return most;
}

/// The buffers of one transfer, made when they are first needed.
class Buffers {
 public:
  Buffers(int64_t staging_bytes, int64_t window_bytes) : staging_bytes_(staging_bytes), window_bytes_(window_bytes) {}
  std::byte* staging() { return of(staging_, staging_bytes_); }
  std::byte* window() { return of(window_, window_bytes_); }
  int64_t staging_bytes() const { return staging_bytes_; }
  int64_t window_bytes() const { return window_bytes_; }

 private:
  static std::byte* of(std::unique_ptr<Buffer>& buffer, int64_t bytes) {
    if (buffer == nullptr) {
      buffer = std::make_unique<Buffer>(bytes);
    }
    return buffer->data();
  }
  int64_t staging_bytes_;
  int64_t window_bytes_;
  std::unique_ptr<Buffer> staging_;
  std::unique_ptr<Buffer> window_;
};

Buffers make_buffers(const Context& context, std::span<const Lane> lanes, const SpanMethod& method) {
  int64_t staging_bytes = std::clamp<int64_t>(longest_stream(lanes), 1, std::max<int64_t>(context.hints.staging_bytes, 1));
  return Buffers(staging_bytes, std::max<int64_t>(method.window_bytes, 1));
}

class SpanReader {
 public:
  SpanReader(Context& context, std::span<const Lane> lanes, StreamSink& sink, const SpanMethod& method)
      : context_(context), sink_(sink), method_(method), buffers_(make_buffers(context, lanes, method)) {}

  /// Reads one stream as far as the file goes; `done` becomes the end of what was read.
  Status read(const Stream& stream, int64_t& done) {
    std::byte* target = sink_.direct_target(stream.stream_id);
    int64_t packed_bytes = target != nullptr ? kLargestBatchBytes : buffers_.staging_bytes();
    SpanWalker walker(stream, 0, stream.size(), method_.rule, {packed_bytes, buffers_.window_bytes()});
    while (walker.next(spans_)) {
      STRIA_RETURN_IF_ERROR(failure_elsewhere(context_));
      int64_t begin = spans_.front().begin;
      int64_t end = spans_.back().end;
      std::byte* packed = target != nullptr ? target + begin : buffers_.staging();
      list_segments(packed);
      int64_t file_end = kNoEnd;
      STRIA_RETURN_IF_ERROR(read_segments(file_end));
      int64_t stop = file_end == kNoEnd ? end : std::clamp(position_of(stream, file_end), begin, end);
      PhaseTimer timer(context_.times, Phase::kUnpack);
      pick_out(stream, packed, stop);
      if (stop > begin) {
        hand_over(stream.stream_id, begin, stop, packed, target != nullptr);
      }
      done = stop;
      if (stop < end) {
        return Status();
      }
    }
    return Status();
  }

 private:
  // Spans without holes go straight to their packed place, the others into the window.
  void list_segments(std::byte* packed) {
    segments_.clear();
    std::byte* in_window = nullptr;
    for (const Span& span : spans_) {
      if (!span.has_holes()) {
        segments_.push_back({span.file.begin, packed + (span.begin - spans_.front().begin), span.file.size()});
        continue;
      }
      in_window = in_window == nullptr ? buffers_.window() : in_window;
      segments_.push_back({span.file.begin, in_window, span.file.size()});
      in_window += span.file.size();
    }
  }

  Status read_segments(int64_t& end) {
    PhaseTimer timer(context_.times, Phase::kRead);
    std::span<const storage::ReadSegment> all(segments_);
    size_t step = method_.one_request_a_span ? 1 : all.size();
    for (size_t i = 0; i < all.size() && end == kNoEnd; i += step) {
      STRIA_ASSIGN_OR_RETURN(int64_t read_bytes, context_.file->read(all.subspan(i, step)));
      end = file_end(all.subspan(i, step), read_bytes);
    }
    return Status();
  }

  void pick_out(const Stream& stream, std::byte* packed, int64_t stop) {
    for (size_t i = 0; i < spans_.size(); ++i) {
      const Span& span = spans_[i];
      if (span.has_holes() && span.begin < stop) {
        gather_pieces(stream, span.begin, std::min(span.end, stop), segments_[i].data, span.file.begin,
                      packed + (span.begin - spans_.front().begin));
      }
    }
  }

  void hand_over(int stream_id, int64_t begin, int64_t end, std::byte* packed, bool is_direct) {
    if (is_direct) {
      sink_.passed_direct(stream_id, begin, end);
    } else {
      StreamPart part{stream_id, begin, end, packed};
      sink_.unpack(std::span(&part, 1));
    }
  }

  Context& context_;
  StreamSink& sink_;
  const SpanMethod& method_;
  Buffers buffers_;
  std::vector<Span> spans_;
  std::vector<storage::ReadSegment> segments_;
};

class SpanWriter {
 public:
  SpanWriter(Context& context, std::span<const Lane> lanes, StreamSource& source, const SpanMethod& method)
      : context_(context), source_(source), method_(method), buffers_(make_buffers(context, lanes, method)) {}

  /// Writes one stream; everything before `done` was written for sure.
  Status write(const Stream& stream, int64_t& done) {
    const std::byte* direct = source_.direct_source(stream.stream_id);
    int64_t packed_bytes = direct != nullptr ? kLargestBatchBytes : buffers_.staging_bytes();
    SpanWalker walker(stream, 0, stream.size(), method_.rule, {packed_bytes, buffers_.window_bytes()});
    std::vector<Span> spans;
    while (walker.next(spans)) {
      STRIA_RETURN_IF_ERROR(failure_elsewhere(context_));
      int64_t begin = spans.front().begin;
      const std::byte* packed = pack(stream.stream_id, begin, spans.back().end, direct);
      PhaseTimer timer(context_.times, Phase::kWrite);
      STRIA_RETURN_IF_ERROR(write_batch(stream, spans, packed, done));
    }
    return Status();
  }

 private:
  const std::byte* pack(int stream_id, int64_t begin, int64_t end, const std::byte* direct) {
    PhaseTimer timer(context_.times, Phase::kPack);
    if (direct != nullptr) {
      source_.passed_direct(stream_id, begin, end);
      return direct + begin;
    }
    StreamPart part{stream_id, begin, end, buffers_.staging()};
    source_.pack(std::span(&part, 1));
    return buffers_.staging();
  }

  // `packed` is the place of the first span's first byte.
  Status write_batch(const Stream& stream, std::span<const Span> spans, const std::byte* packed, int64_t& done) {
    segments_.clear();
    done = spans.front().begin;
    int64_t reached = done;
    Status status = write_each(stream, spans, packed, reached);
    // What is left of the list lies before the span at which writing ended, or in it.
    done += segments_.empty() ? reached - done : segments_.front().data - packed;
    return status;
  }

  // `reached` becomes the beginning of the span that can't be written, or the end. What is left in the list is not written.
  Status write_each(const Stream& stream, std::span<const Span> spans, const std::byte* packed, int64_t& reached) {
    for (const Span& span : spans) {
      reached = span.begin;
      const std::byte* data = packed + (span.begin - spans.front().begin);
      if (!span.has_holes()) {
        segments_.push_back({span.file.begin, data, span.file.size()});
        continue;
      }
      if (span.pieces < kLeastPiecesToSieve && method_.rule.kind == JoinRule::Kind::kCheap) {
        STRIA_RETURN_IF_ERROR(write_as_list(stream, span, data));
        continue;
      }
      STRIA_RETURN_IF_ERROR(write_window(stream, span, data));
    }
    reached = spans.back().end;
    return write_segments();
  }

  // Reads the span, changes its pieces and writes it back, locked.
  Status write_window(const Stream& stream, const Span& span, const std::byte* data) {
    auto lock = WriteLock::window(context_, span.file);
    if (lock.status().code() == ErrorCode::kUnsupported) {
      return write_as_list(stream, span, data);
    }
    STRIA_RETURN_IF_ERROR(lock.status());
    std::byte* window = buffers_.window();
    storage::ReadSegment whole{span.file.begin, window, span.file.size()};
    STRIA_ASSIGN_OR_RETURN(int64_t read_bytes, context_.file->read(std::span(&whole, 1)));
    std::memset(window + read_bytes, 0, static_cast<size_t>(whole.bytes - read_bytes));
    scatter_pieces(stream, span.begin, span.end, data, window, span.file.begin);
    storage::WriteSegment changed{span.file.begin, window, span.file.size()};
    return context_.file->write(std::span(&changed, 1));
  }

  // Adds the pieces of a span to the list, which is written whenever it is full.
  Status write_as_list(const Stream& stream, const Span& span, const std::byte* data) {
    SpanWalker walker(stream, span.begin, span.end, {JoinRule::Kind::kTouching}, {span.end - span.begin, 1});
    std::vector<Span> pieces;
    while (walker.next(pieces)) {
      for (const Span& piece : pieces) {
        segments_.push_back({piece.file.begin, data + (piece.begin - span.begin), piece.file.size()});
      }
      if (segments_.size() >= BatchLimits().spans) {
        STRIA_RETURN_IF_ERROR(write_segments());
      }
    }
    return Status();
  }

  // Leaves in the list what could not be written.
  Status write_segments() {
    if (segments_.empty()) {
      return Status();
    }
    int64_t end = 0;
    for (const storage::WriteSegment& segment : segments_) {
      end = std::max(end, segment.offset + segment.bytes);
    }
    STRIA_ASSIGN_OR_RETURN(WriteLock lock, WriteLock::plain(context_, {segments_.front().offset, end}));
    NodeTurn::Guard turn(context_.turn);
    std::span<const storage::WriteSegment> all(segments_);
    size_t step = method_.one_request_a_span ? 1 : all.size();
    Status status;
    size_t written = 0;
    while (written < all.size() && status.ok()) {
      status = context_.file->write(all.subspan(written, step));
      written += status.ok() ? step : 0;
    }
    segments_.erase(segments_.begin(), segments_.begin() + static_cast<std::ptrdiff_t>(written));
    return status;
  }

  Context& context_;
  StreamSource& source_;
  const SpanMethod& method_;
  Buffers buffers_;
  std::vector<storage::WriteSegment> segments_;
};

template <typename Move>
Moved for_each_stream(std::span<const Lane> lanes, Move&& move) {
  Moved moved;
  MovedPrefix before_failure;
  for (const Lane& lane : lanes) {
    for (const Stream& stream : lane.streams) {
      int64_t done = 0;
      if (moved.status.ok()) {
        moved.status = move(stream, done);
      }
      moved.bytes += done;
      before_failure.miss(stream, done);
    }
  }
  moved.bytes = moved.status.ok() ? moved.bytes : before_failure.bytes(lanes);
  return moved;
}

}  // namespace

Moved read_spans(Context& context, std::span<const Lane> lanes, StreamSink& sink, const SpanMethod& method) {
  SpanReader reader(context, lanes, sink, method);
  return for_each_stream(lanes, [&](const Stream& stream, int64_t& done) { return reader.read(stream, done); });
}

Moved write_spans(Context& context, std::span<const Lane> lanes, StreamSource& source, const SpanMethod& method) {
  SpanWriter writer(context, lanes, source, method);
  return for_each_stream(lanes, [&](const Stream& stream, int64_t& done) { return writer.write(stream, done); });
}

}  // namespace stria::access
