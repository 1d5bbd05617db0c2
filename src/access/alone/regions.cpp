#include "access/alone/regions.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "access/failure/abort_signal.hpp"
#include "access/failure/moved_prefix.hpp"
#include "access/locks/write_lock.hpp"
#include "access/request/overlap.hpp"
#include "base/buffer.hpp"
#include "base/check.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::access {

namespace {

// Requests from memory that needs no packing are cut too, so that after a failure half-way it is
// known what went before.
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

Buffers make_buffers(const Context& context, std::span<const Lane> lanes, const RegionMethod& method) {
  int64_t staging_bytes = std::clamp<int64_t>(longest_stream(lanes), 1, std::max<int64_t>(context.hints.staging_bytes, 1));
  return Buffers(staging_bytes, std::max<int64_t>(method.window_bytes, 1));
}

class RegionReader {
 public:
  RegionReader(Context& context, std::span<const Lane> lanes, StreamSink& sink, const RegionMethod& method)
      : context_(context), sink_(sink), method_(method), buffers_(make_buffers(context, lanes, method)) {}

  /// Reads one stream up to the file's end; `done` becomes the end of what was read.
  Status read(const Stream& stream, int64_t& done) {
    std::byte* target = sink_.straight_target(stream.stream_id);
    int64_t packed_bytes = target != nullptr ? kLargestBatchBytes : buffers_.staging_bytes();
    RegionWalker walker(stream, 0, stream.size(), method_.rule, {packed_bytes, buffers_.window_bytes()});
    while (walker.next(regions_)) {
      STRIA_RETURN_IF_ERROR(failure_elsewhere(context_));
      int64_t begin = regions_.front().begin;
      int64_t end = regions_.back().end;
      STRIA_CHECK(0 < end - begin && end - begin <= packed_bytes, begin, end, packed_bytes);
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
  // Regions without holes go straight to their packed place, the others into the window.
  void list_segments(std::byte* packed) {
    segments_.clear();
    std::byte* in_window = nullptr;
    for (const Region& region : regions_) {
      if (!region.has_holes()) {
        segments_.push_back({region.file.begin, packed + (region.begin - regions_.front().begin), region.file.size()});
        continue;
      }
      in_window = in_window == nullptr ? buffers_.window() : in_window;
      segments_.push_back({region.file.begin, in_window, region.file.size()});
      in_window += region.file.size();
      STRIA_CHECK(in_window - buffers_.window() <= buffers_.window_bytes(), in_window - buffers_.window(),
                  buffers_.window_bytes());
    }
  }

  Status read_segments(int64_t& end) {
    PhaseTimer timer(context_.times, Phase::kRead);
    std::span<const storage::ReadSegment> all(segments_);
    size_t step = method_.one_request_per_region ? 1 : all.size();
    for (size_t i = 0; i < all.size() && end == kNoEnd; i += step) {
      STRIA_ASSIGN_OR_RETURN(int64_t read_bytes, context_.file->read(all.subspan(i, step)));
      end = file_end(all.subspan(i, step), read_bytes);
    }
    return Status();
  }

  void pick_out(const Stream& stream, std::byte* packed, int64_t stop) {
    for (size_t i = 0; i < regions_.size(); ++i) {
      const Region& region = regions_[i];
      if (region.has_holes() && region.begin < stop) {
        gather_pieces({&stream, region.begin, std::min(region.end, stop)}, segments_[i].data, region.file.begin,
                      packed + (region.begin - regions_.front().begin));
      }
    }
  }

  void hand_over(int stream_id, int64_t begin, int64_t end, std::byte* packed, bool is_direct) {
    if (is_direct) {
      sink_.passed_straight(stream_id, begin, end);
    } else {
      StreamPart part{.stream_id = stream_id, .begin = begin, .end = end, .packed = packed};
      sink_.unpack(std::span(&part, 1));
    }
  }

  Context& context_;
  StreamSink& sink_;
  const RegionMethod& method_;
  Buffers buffers_;
  std::vector<Region> regions_;
  std::vector<storage::ReadSegment> segments_;
};

class RegionWriter {
 public:
  RegionWriter(Context& context, std::span<const Lane> lanes, StreamSource& source, const RegionMethod& method)
      : context_(context), source_(source), method_(method), buffers_(make_buffers(context, lanes, method)) {}

  /// Writes one stream. Everything before `done` was surely written.
  Status write(const Stream& stream, int64_t& done) {
    const std::byte* straight = source_.straight_source(stream.stream_id);
    int64_t packed_bytes = straight != nullptr ? kLargestBatchBytes : buffers_.staging_bytes();
    RegionWalker walker(stream, 0, stream.size(), method_.rule, {packed_bytes, buffers_.window_bytes()});
    std::vector<Region> regions;
    while (walker.next(regions)) {
      STRIA_RETURN_IF_ERROR(failure_elsewhere(context_));
      int64_t begin = regions.front().begin;
      const std::byte* packed = pack(stream.stream_id, begin, regions.back().end, straight);
      PhaseTimer timer(context_.times, Phase::kWrite);
      STRIA_RETURN_IF_ERROR(write_batch(stream, regions, packed, done));
    }
    return Status();
  }

 private:
  const std::byte* pack(int stream_id, int64_t begin, int64_t end, const std::byte* straight) {
    PhaseTimer timer(context_.times, Phase::kPack);
    if (straight != nullptr) {
      source_.passed_straight(stream_id, begin, end);
      return straight + begin;
    }
    STRIA_CHECK(end - begin <= buffers_.staging_bytes(), begin, end, buffers_.staging_bytes());
    StreamPart part{.stream_id = stream_id, .begin = begin, .end = end, .packed = buffers_.staging()};
    source_.pack(std::span(&part, 1));
    return buffers_.staging();
  }

  // `packed` is the place of the first region's first byte.
  Status write_batch(const Stream& stream, std::span<const Region> regions, const std::byte* packed, int64_t& done) {
    segments_.clear();
    done = regions.front().begin;
    int64_t reached = done;
    Status status = write_each(stream, regions, packed, reached);
    // What is left of the list lies before the region at which writing ended, or in it.
    done += segments_.empty() ? reached - done : segments_.front().data - packed;
    return status;
  }

  // `reached` becomes the beginning of the region that can't be written, or the end. What is left
  // in the list was not written.
  Status write_each(const Stream& stream, std::span<const Region> regions, const std::byte* packed, int64_t& reached) {
    for (const Region& region : regions) {
      reached = region.begin;
      const std::byte* data = packed + (region.begin - regions.front().begin);
      if (!region.has_holes()) {
        segments_.push_back({region.file.begin, data, region.file.size()});
        continue;
      }
      if (region.pieces < kLeastPiecesToSieve && method_.rule.kind == JoinRule::Kind::kCheap) {
        STRIA_RETURN_IF_ERROR(write_as_list(stream, region, data));
        continue;
      }
      STRIA_RETURN_IF_ERROR(write_window(stream, region, data));
    }
    reached = regions.back().end;
    return write_segments();
  }

  // Reads the region, changes its pieces and writes it back, locked.
  Status write_window(const Stream& stream, const Region& region, const std::byte* data) {
    auto lock = WriteLock::window(context_, region.file);
    if (lock.status().code() == ErrorCode::kUnsupported) {
      return write_as_list(stream, region, data);
    }
    STRIA_RETURN_IF_ERROR(lock.status());
    STRIA_CHECK(region.file.size() <= buffers_.window_bytes(), region.file.size(), buffers_.window_bytes());
    std::byte* window = buffers_.window();
    storage::ReadSegment whole{region.file.begin, window, region.file.size()};
    STRIA_ASSIGN_OR_RETURN(int64_t read_bytes, context_.file->read(std::span(&whole, 1)));
    STRIA_CHECK(0 <= read_bytes && read_bytes <= whole.bytes, read_bytes, whole.bytes);
    std::memset(window + read_bytes, 0, static_cast<size_t>(whole.bytes - read_bytes));
    scatter_pieces({&stream, region.begin, region.end}, data, window, region.file.begin);
    storage::WriteSegment changed{region.file.begin, window, region.file.size()};
    return context_.file->write(std::span(&changed, 1));
  }

  // Adds the pieces of a region to the list, which is written whenever it is full.
  Status write_as_list(const Stream& stream, const Region& region, const std::byte* data) {
    RegionWalker walker(stream, region.begin, region.end, {JoinRule::Kind::kTouching}, {region.end - region.begin, 1});
    std::vector<Region> pieces;
    while (walker.next(pieces)) {
      for (const Region& piece : pieces) {
        segments_.push_back({piece.file.begin, data + (piece.begin - region.begin), piece.file.size()});
      }
      if (segments_.size() >= BatchLimits().regions) {
        STRIA_RETURN_IF_ERROR(write_segments());
      }
    }
    return Status();
  }

  // Writes the list, and leaves in it what could not be written.
  Status write_segments() {
    if (segments_.empty()) {
      return Status();
    }
    int64_t end = 0;
    for (const storage::WriteSegment& segment : segments_) {
      end = std::max(end, segment.offset + segment.bytes);
    }
    STRIA_ASSIGN_OR_RETURN(WriteLock lock, WriteLock::plain(context_, {segments_.front().offset, end}));
    std::span<const storage::WriteSegment> all(segments_);
    size_t step = method_.one_request_per_region ? 1 : all.size();
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
  const RegionMethod& method_;
  Buffers buffers_;
  std::vector<storage::WriteSegment> segments_;
};

}  // namespace

Moved read_regions(Context& context, std::span<const Lane> lanes, StreamSink& sink, const RegionMethod& method) {
  RegionReader reader(context, lanes, sink, method);
  return for_each_stream(lanes, [&](const Stream& stream, int64_t& done) { return reader.read(stream, done); });
}

Moved write_regions(Context& context, std::span<const Lane> lanes, StreamSource& source, const RegionMethod& method) {
  RegionWriter writer(context, lanes, source, method);
  return for_each_stream(lanes, [&](const Stream& stream, int64_t& done) { return writer.write(stream, done); });
}

}  // namespace stria::access
