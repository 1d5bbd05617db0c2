#include "access/alone/types.hpp"

#include <algorithm>
#include <memory>

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
constexpr int64_t kLargestWindowBytes = 64 << 20;

/// The staging buffer of one transfer, made when it is first needed.
class Staging {
 public:
  explicit Staging(const Context& context) : bytes_(std::max<int64_t>(context.hints.staging_bytes, 1)) {}
  int64_t bytes() const { return bytes_; }
  std::byte* data() {
    if (buffer_ == nullptr) {
      buffer_ = std::make_unique<Buffer>(bytes_);
    }
    return buffer_->data();
  }

 private:
  int64_t bytes_;
  std::unique_ptr<Buffer> buffer_;
};

storage::TypeWindow region_of(const Stream& stream, int64_t begin, int64_t end) {
  return {stream.file_type, stream.displacement, {stream.skip_bytes + begin, stream.skip_bytes + end}};
}

const std::byte* pack(Context& context, const StreamPart& part, StreamSource& source, const std::byte* straight) {
  PhaseTimer timer(context.times, Phase::kPack);
  if (straight != nullptr) {
    source.passed_straight(part.stream_id, part.begin, part.end);
    return straight + part.begin;
  }
  source.pack(std::span(&part, 1));
  return part.packed;
}

/// Everything before `done` was surely written.
Status write_stream(Context& context, const Stream& stream, StreamSource& source, Staging& staging, int64_t& done) {
  const std::byte* straight = source.straight_source(stream.stream_id);
  const int64_t most = straight != nullptr ? kLargestWindowBytes : staging.bytes();
  while (done < stream.size()) {
    STRIA_RETURN_IF_ERROR(failure_elsewhere(context));
    const int64_t end = std::min(stream.size(), done + most);
    const StreamPart part{
        .stream_id = stream.stream_id, .begin = done, .end = end, .packed = straight != nullptr ? nullptr : staging.data()};
    const std::byte* packed = pack(context, part, source, straight);
    PhaseTimer timer(context.times, Phase::kWrite);
    STRIA_ASSIGN_OR_RETURN(WriteLock lock, WriteLock::plain(context, hull_of(stream)));
    STRIA_RETURN_IF_ERROR(context.file->write_type(region_of(stream, done, end), packed));
    done = end;
  }
  return {};
}

/// Reads up to the file's end, which becomes `done`.
Status read_stream(Context& context, const Stream& stream, StreamSink& sink, Staging& staging, int64_t& done) {
  std::byte* straight = sink.straight_target(stream.stream_id);
  const int64_t most = straight != nullptr ? kLargestWindowBytes : staging.bytes();
  while (done < stream.size()) {
    STRIA_RETURN_IF_ERROR(failure_elsewhere(context));
    const int64_t end = std::min(stream.size(), done + most);
    std::byte* packed = straight != nullptr ? straight + done : staging.data();
    int64_t read_bytes = 0;
    {
      PhaseTimer timer(context.times, Phase::kRead);
      STRIA_ASSIGN_OR_RETURN(read_bytes, context.file->read_type(region_of(stream, done, end), packed));
    }
    // Pieces are in the order of the file, so only the end can be missing.
    const StreamPart part{.stream_id = stream.stream_id, .begin = done, .end = done + read_bytes, .packed = packed};
    PhaseTimer timer(context.times, Phase::kUnpack);
    if (read_bytes > 0 && straight != nullptr) {
      sink.passed_straight(part.stream_id, part.begin, part.end);
    } else if (read_bytes > 0) {
      sink.unpack(std::span(&part, 1));
    }
    done = part.end;
    if (done < end) {
      return {};
    }
  }
  return {};
}

}  // namespace

Moved read_types(Context& context, std::span<const Lane> lanes, StreamSink& sink) {
  STRIA_ASSERT(context.file->capabilities().native_types);
  Staging staging(context);
  return for_each_stream(
      lanes, [&](const Stream& stream, int64_t& done) { return read_stream(context, stream, sink, staging, done); });
}

Moved write_types(Context& context, std::span<const Lane> lanes, StreamSource& source) {
  STRIA_ASSERT(context.file->capabilities().native_types);
  Staging staging(context);
  return for_each_stream(
      lanes, [&](const Stream& stream, int64_t& done) { return write_stream(context, stream, source, staging, done); });
}

}  // namespace stria::access
