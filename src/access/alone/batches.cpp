#include "access/alone/batches.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "access/alone/read_ahead.hpp"
#include "access/failure/abort_signal.hpp"
#include "access/failure/moved_prefix.hpp"
#include "access/request/batch.hpp"
#include "access/request/overlap.hpp"
#include "base/buffer.hpp"
#include "base/check.hpp"
#include "datatype/cursor.hpp"
#include "storage/lists/direct_stretches.hpp"
#include "trace/record/phase_timer.hpp"
#include "trace/record/recorder.hpp"
#include "trace/record/span.hpp"

namespace stria::access {

namespace {

// Streams that are packed together and lie a multiple of a page apart fall into the same few places
// of the cache, so they are staggered.
constexpr int64_t kCacheLineBytes = 64;
constexpr int64_t kStaggerBytes = 192;
constexpr int64_t kMostPaddingBytes = kCacheLineBytes + kStaggerBytes;

// Says how a batch lies in the staging buffer, and which of its streams memory already holds as the
// file wants them.
struct Layout {
  std::vector<StreamPart> packed;    // parts with a place in the staging buffer
  std::vector<StreamPart> straight;  // parts with a place in the application's memory
};

// Parts follow each other in the buffer. With `unit_bytes` > 1 each keeps the place within a unit
// that its first byte has in the file, as direct I/O wants it.
template <typename StraightOf>
Layout lay_out(std::span<const BatchPart> batch, std::span<std::byte> staging, int64_t unit_bytes, StraightOf&& straight_of) {
  Layout layout;
  int64_t used_bytes = 0;
  for (const BatchPart& part : batch) {
    int id = part.stream->stream_id;
    if (auto* memory = straight_of(id)) {
      layout.straight.push_back(
          {.stream_id = id, .begin = part.begin, .end = part.end, .packed = const_cast<std::byte*>(memory) + part.begin});
      continue;
    }
    if (unit_bytes > 1) {
      Cursor cursor(part.stream->file_type, part.stream->displacement);
      cursor.seek(part.stream->skip_bytes + part.begin);
      used_bytes = align_up(used_bytes, unit_bytes) + cursor.piece().begin % unit_bytes;
    } else {
      used_bytes = align_up(used_bytes, kCacheLineBytes) + kStaggerBytes;
    }
    layout.packed.push_back({.stream_id = id, .begin = part.begin, .end = part.end, .packed = staging.data() + used_bytes});
    used_bytes += part.end - part.begin;
    STRIA_CHECK(used_bytes <= static_cast<int64_t>(staging.size()), used_bytes, staging.size(), id, part.begin, part.end);
  }
  return layout;
}

// Appends a segment for each piece of the file that a part covers.
template <typename Segment>
void append_segments(const BatchPart& part, std::byte* data, std::vector<Segment>& segments) {
  Cursor cursor(part.stream->file_type, part.stream->displacement);
  cursor.seek(part.stream->skip_bytes + part.begin);
  for (int64_t left = part.end - part.begin; left > 0;) {
    ByteRange piece = cursor.piece();
    int64_t bytes = std::min(piece.size(), left);
    segments.push_back({piece.begin, data, bytes});
    data += bytes;
    left -= bytes;
    if (left > 0) {
      cursor.advance(bytes);
    }
  }
}

template <typename Segment>
void list_segments(std::span<const BatchPart> batch, const Layout& layout, std::vector<Segment>& segments) {
  segments.clear();
  size_t next_packed = 0;
  size_t next_straight = 0;
  for (const BatchPart& part : batch) {
    bool is_packed = next_packed < layout.packed.size() && layout.packed[next_packed].stream_id == part.stream->stream_id &&
                     layout.packed[next_packed].begin == part.begin;
    STRIA_CHECK(is_packed || next_straight < layout.straight.size(), part.stream->stream_id, part.begin, part.end);
    const StreamPart& place = is_packed ? layout.packed[next_packed++] : layout.straight[next_straight++];
    STRIA_ASSERT(place.stream_id == part.stream->stream_id && place.end == part.end, place.stream_id, place.begin, place.end);
    append_segments(part, place.packed, segments);
  }
  STRIA_ASSERT(next_packed == layout.packed.size() && next_straight == layout.straight.size(), next_packed, next_straight);
}

// Returns the bytes that the parts' places in the buffer can cost: by staggering, or by their
// places within a direct unit.
int64_t padding_bytes(std::span<const Lane> lanes, int64_t unit_bytes) {
  int64_t stream_count = 0;
  for (const Lane& lane : lanes) {
    stream_count += static_cast<int64_t>(lane.streams.size());
  }
  return stream_count * std::max(kMostPaddingBytes, 2 * unit_bytes);
}

// Returns what a batch holds, so that with its padding it fills a whole number of large pages.
int64_t without_padding(int64_t batch_bytes, int64_t padding) {
  return std::max(batch_bytes - padding, batch_bytes / 2);
}

// Splits a list between the direct handle, for what is aligned in file and memory, and the cached
// one. Direct writes go on while the next batch is packed into the other buffer.
class ListWriter {
 public:
  ListWriter(Context& context, std::span<const Lane> lanes, StreamSource& source, const WriteAids& aids)
      : context_(context),
        aids_(aids),
        source_(source),
        unit_bytes_(aids.direct_file != nullptr ? aids.direct_file->capabilities().direct_align_bytes : 1),
        batch_bytes_(choose_batch_bytes(lanes)),
        unpacked_bytes_(total_bytes(lanes)) {
    int64_t padding = padding_bytes(lanes, unit_bytes_);
    batch_bytes_ = without_padding(batch_bytes_, padding);
    int64_t need_bytes = std::min(batch_bytes_, std::max<int64_t>(total_bytes(lanes), 1));
    slots_.resize((aids.direct_file != nullptr || has_idle_cores()) && total_bytes(lanes) > need_bytes ? 2 : 1);
    for (Slot& slot : slots_) {
      slot.staging = std::make_unique<Buffer>(need_bytes + padding);
    }
  }

  /// Returns the sizes of batches. Ranks that take turns, or a thread of the driver, write while
  /// others pack.
  BatchSizes batch_sizes() const {
    bool hides_packing = aids_.turn != nullptr || slots_.size() > 1;
    return {hides_packing ? std::max(batch_bytes_ / kFirstBatchPart, int64_t{1}) : batch_bytes_, batch_bytes_};
  }

  /// Writes a batch, or starts to. Where the ranks hear of each other, a failure of one ends the
  /// writing of all.
  Status write(std::span<const BatchPart> batch) {
    Status status = failure_elsewhere(context_);
    if (status.ok()) {
      status = write_batch(batch);
    }
    if (!status.ok()) {
      tell_failure(context_);
    }
    return status;
  }

  /// Waits for everything under way.
  Status finish() {
    Status status;
    for (Slot& slot : slots_) {
      status.update(finish(slot));
    }
    return status;
  }

 private:
  Status write_batch(std::span<const BatchPart> batch) {
    Slot& slot = slots_[next_slot_];
    next_slot_ = (next_slot_ + 1) % slots_.size();
    STRIA_RETURN_IF_ERROR(finish(slot));
    pack(batch, slot);
    if (unpacked_bytes_ == 0 && aids_.packed) {
      add_last(slot);
    }
    {
      PhaseTimer timer(context_.times, Phase::kWrite);
      split(slot);
      if (!slot.direct.empty()) {
        slot.pending = aids_.direct_file->start_write(slot.direct);
      } else if (slots_.size() > 1) {
        slot.pending = context_.file->start_write(slot.cached);
        return Status();
      }
    }
    return slot.cached.empty() ? Status() : write_cached(slot);
  }

  // A thread of the driver can write while this rank packs, where there are fewer ranks than cores.
  bool has_idle_cores() const {
    // The answer is kept, because the call asks the system every time.
    static const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    return context_.comm.node_size() < cores;
  }

  // Ranks that take turns need a few turns each. The more ranks, the fewer turns, because each turn
  // ends with a hand-off.
  int64_t choose_batch_bytes(std::span<const Lane> lanes) const {
    int64_t staging_bytes = context_.hints.staging_bytes;
    int64_t turns = std::max(kLeastTurnsOfAll / std::max(context_.comm.node_size(), 1), kLeastTurns);
    int64_t share_bytes = std::max(total_bytes(lanes) / turns, kLeastTurnBytes);
    return aids_.turn != nullptr && aids_.direct_file == nullptr ? std::min(staging_bytes, share_bytes) : staging_bytes;
  }

  static constexpr int64_t kLeastTurns = 2;
  static constexpr int64_t kLeastTurnsOfAll = 8;
  static constexpr int64_t kLeastTurnBytes = 1 << 20;
  static constexpr int64_t kFirstBatchPart = 8;
  // A rank takes about as long to wake up as it takes to write so many bytes.
  static constexpr int64_t kLastBytes = 128 << 10;

  struct Slot {
    std::unique_ptr<Buffer> staging;
    std::vector<storage::WriteSegment> cached, direct;
    std::unique_ptr<storage::PendingWrite> pending;
  };

  Status write_cached(Slot& slot) {
    const auto start = std::chrono::steady_clock::now();
    NodeTurn* turn = slot.direct.empty() ? aids_.turn : nullptr;
    const auto take = [&] {
      if (turn == nullptr) {
        return NodeTurn::Guard(nullptr);
      }
      static const trace::Kind kWait = trace::Recorder::instance().define_kind("turn wait", trace::Layer::kEngine);
      const trace::Span span(kWait);
      return NodeTurn::Guard(turn);
    };
    const NodeTurn::Guard guard = take();
    // Another rank may have failed meanwhile; a rank that waits for a turn has not begun to write.
    Status status = failure_elsewhere(context_);
    if (status.ok()) {
      status = turn != nullptr ? write_in_turn(*turn, slot.cached) : context_.file->write(slot.cached);
    }
    context_.times[Phase::kWrite] += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return status;
  }

  // Announces the end of the turn before the last few bytes.
  Status write_in_turn(NodeTurn& turn, std::vector<storage::WriteSegment>& segments) {
    STRIA_CHECK(!segments.empty());
    storage::WriteSegment& last = segments.back();
    int64_t before_bytes = align_down(std::max<int64_t>(last.bytes - kLastBytes, 0), kLastBytes);
    storage::WriteSegment rest{last.offset + before_bytes, last.data + before_bytes, last.bytes - before_bytes};
    last.bytes = before_bytes;
    STRIA_RETURN_IF_ERROR(context_.file->write(segments));
    turn.announce();
    return context_.file->write(std::span(&rest, 1));
  }

  void pack(std::span<const BatchPart> batch, Slot& slot) {
    PhaseTimer timer(context_.times, Phase::kPack);
    std::byte* const room = aids_.room ? aids_.room(room_bytes(batch)) : nullptr;
    const std::span<std::byte> staging(room != nullptr ? room : slot.staging->data(),
                                       static_cast<size_t>(room != nullptr ? room_bytes(batch) : slot.staging->size()));
    Layout layout =
        lay_out(batch, staging, unit_bytes_, [&](int id) { return room != nullptr ? nullptr : source_.straight_source(id); });
    source_.pack(layout.packed);
    for (const StreamPart& part : layout.straight) {
      source_.passed_straight(part.stream_id, part.begin, part.end);
    }
    list_segments(batch, layout, slot.cached);
    for (const BatchPart& part : batch) {
      unpacked_bytes_ -= part.end - part.begin;
    }
    STRIA_CHECK(unpacked_bytes_ >= 0, unpacked_bytes_);
  }

  static int64_t room_bytes(std::span<const BatchPart> batch) {
    int64_t bytes = 0;
    for (const BatchPart& part : batch) {
      bytes += part.end - part.begin + kMostPaddingBytes;
    }
    return bytes;
  }

  // What comes with the last batch is written first, because the end of a turn is announced before
  // its last segment.
  void add_last(Slot& slot) {
    const auto more = aids_.packed();
    slot.cached.insert(slot.cached.begin(), more.begin(), more.end());
  }

  void split(Slot& slot) const {
    slot.direct.clear();
    if (unit_bytes_ <= 1) {
      return;
    }
    std::vector<storage::WriteSegment> cached;
    storage::divide_direct(slot.cached, unit_bytes_, slot.direct, cached);
    slot.cached = std::move(cached);
  }

  Status finish(Slot& slot) {
    if (slot.pending == nullptr) {
      return Status();
    }
    PhaseTimer timer(context_.times, Phase::kWrite);
    Status outcome = slot.pending->wait();
    slot.pending.reset();
    return outcome;
  }

  Context& context_;
  const WriteAids& aids_;
  StreamSource& source_;
  int64_t unit_bytes_;
  int64_t batch_bytes_;
  int64_t unpacked_bytes_;
  std::vector<Slot> slots_;
  size_t next_slot_ = 0;
};

}  // namespace

Status write_batches(Context& context, std::span<const Lane> lanes, StreamSource& source, const WriteAids& aids) {
  ListWriter writer(context, lanes, source, aids);
  Status status =
      for_each_batch(lanes, writer.batch_sizes(), [&](std::span<const BatchPart> batch) { return writer.write(batch); });
  status.update(writer.finish());
  return status;
}

namespace {

// Unpacks what lies before the end of the file.
void take(std::span<const BatchPart> batch, const Layout& layout, int64_t end, StreamSink& sink, MovedPrefix& taken) {
  std::vector<StreamPart> packed = layout.packed;
  std::vector<StreamPart> straight = layout.straight;
  for (auto* parts : {&packed, &straight}) {
    for (StreamPart& part : *parts) {
      if (end != kNoEnd) {
        auto whole = std::find_if(batch.begin(), batch.end(), [&](const BatchPart& entry) {
          return entry.stream->stream_id == part.stream_id && entry.begin == part.begin;
        });
        STRIA_CHECK(whole != batch.end(), part.stream_id, part.begin);
        const int64_t stop = std::clamp(position_of(*whole->stream, end), part.begin, part.end);
        if (stop < part.end) {
          taken.miss(*whole->stream, stop);
        }
        part.end = stop;
      }
    }
    std::erase_if(*parts, [](const StreamPart& part) { return part.begin == part.end; });
  }
  sink.unpack(packed);
  for (const StreamPart& part : straight) {
    sink.passed_straight(part.stream_id, part.begin, part.end);
  }
}

// Notes that all batches but the first ones were not moved.
void miss_batches(std::span<const Lane> lanes, BatchSizes sizes, int64_t first_count, MovedPrefix& taken) {
  const Status walked = for_each_batch(lanes, sizes, [&](std::span<const BatchPart> batch) {
    for (const BatchPart& part : batch) {
      if (first_count <= 0) {
        taken.miss(*part.stream, part.begin);
      }
    }
    --first_count;
    return Status();
  });
  static_cast<void>(walked.ok());  // nothing in it fails
}

}  // namespace

Moved read_batches(Context& context, std::span<const Lane> lanes, StreamSink& sink) {
  const int64_t padding = padding_bytes(lanes, 1);
  const int64_t batch_bytes =
      std::min(without_padding(context.hints.staging_bytes, padding), std::max<int64_t>(total_bytes(lanes), 1));
  Buffer staging(batch_bytes + padding);
  std::vector<storage::ReadSegment> segments;
  MovedPrefix taken;
  Moved moved;
  const BatchSizes sizes = BatchSizes::all_alike(batch_bytes);
  int64_t batches_done = 0;
  ReadAhead ahead(*context.file);
  moved.status = for_each_batch(lanes, sizes, [&](std::span<const BatchPart> batch) -> Status {
    STRIA_RETURN_IF_ERROR(failure_elsewhere(context));
    Layout layout = lay_out(batch, {staging.data(), static_cast<size_t>(staging.size())}, 1,
                            [&](int id) { return sink.straight_target(id); });
    list_segments(batch, layout, segments);
    int64_t end = kNoEnd;
    {
      PhaseTimer timer(context.times, Phase::kRead);
      ahead.before(batch);
      STRIA_ASSIGN_OR_RETURN(int64_t read_bytes, context.file->read(segments));
      end = file_end(segments, read_bytes);
    }
    PhaseTimer timer(context.times, Phase::kUnpack);
    take(batch, layout, end, sink, taken);
    ++batches_done;
    return Status();
  });
  if (!moved.status.ok()) {
    miss_batches(lanes, sizes, batches_done, taken);
  }
  moved.bytes = taken.bytes(lanes);
  return moved;
}

}  // namespace stria::access
