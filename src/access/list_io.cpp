#include "access/list_io.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "access/batch.hpp"
#include "access/buffer.hpp"
#include "datatype/cursor.hpp"
#include "trace/phase_timer.hpp"

namespace stria::access {

namespace {

// A batch laid out in the staging buffer, except for streams that memory already holds as the file wants them.
struct Layout {
  std::vector<StreamPart> packed;  // parts with a place in the staging buffer
  std::vector<StreamPart> direct;  // parts with a place in the application's memory
};

template <typename Direct>
Layout lay_out(std::span<const BatchPart> batch, std::byte* staging, Direct&& direct_of) {
  Layout layout;
  for (const BatchPart& part : batch) {
    int id = part.stream->stream_id;
    if (auto* memory = direct_of(id)) {
      layout.direct.push_back({id, part.begin, part.end, const_cast<std::byte*>(memory) + part.begin});
    } else {
      layout.packed.push_back({id, part.begin, part.end, staging});
      staging += part.end - part.begin;
    }
  }
  return layout;
}

// Appends a segment for each piece of the file that a part covers.
template <typename Segment>
void append_segments(const BatchPart& part, std::byte* data, std::vector<Segment>& segments) {
  Cursor cursor(part.stream->file_type, part.stream->displacement);
  cursor.seek(part.begin);
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
  size_t next_direct = 0;
  for (const BatchPart& part : batch) {
    bool is_packed = next_packed < layout.packed.size() && layout.packed[next_packed].stream_id == part.stream->stream_id &&
                     layout.packed[next_packed].begin == part.begin;
    const StreamPart& place = is_packed ? layout.packed[next_packed++] : layout.direct[next_direct++];
    append_segments(part, place.packed, segments);
  }
}

int64_t staging_need_bytes(const Context& context, std::span<const Lane> lanes) {
  return std::min(context.hints.staging_bytes, std::max<int64_t>(total_bytes(lanes), 1));
}

// Starts write-back behind the writing, so that the sync at the end finds little left to do.
class WriteBack {
 public:
  explicit WriteBack(Context& context) : context_(context) {}

  Status wrote(std::span<const storage::WriteSegment> segments) {
    if (context_.write_back_bytes == 0) {
      return Status();
    }
    for (const storage::WriteSegment& segment : segments) {
      STRIA_RETURN_IF_ERROR(context_.file->start_writeback({segment.offset, segment.offset + segment.bytes}));
    }
    return Status();
  }

 private:
  Context& context_;
};

}  // namespace

int64_t total_bytes(std::span<const Lane> lanes) {
  int64_t sum = 0;
  for (const Lane& lane : lanes) {
    for (const Stream& stream : lane.streams) {
      sum += stream.file_type.size();
    }
  }
  return sum;
}

Status write_list_io(Context& context, std::span<const Lane> lanes, StreamSource& source) {
  Buffer staging(staging_need_bytes(context, lanes));
  WriteBack write_back(context);
  std::vector<storage::WriteSegment> segments;
  return for_each_batch(lanes, staging.size(), [&](std::span<const BatchPart> batch) -> Status {
    Layout layout;
    {
      PhaseTimer timer(context.times, Phase::kPack);
      layout = lay_out(batch, staging.data(), [&](int id) { return source.direct_source(id); });
      source.pack(layout.packed);
      for (const StreamPart& part : layout.direct) {
        source.passed_direct(part.stream_id, part.begin, part.end);
      }
      list_segments(batch, layout, segments);
    }
    PhaseTimer timer(context.times, Phase::kWrite);
    STRIA_RETURN_IF_ERROR(context.file->write(segments));
    return write_back.wrote(segments);
  });
}

Status read_list_io(Context& context, std::span<const Lane> lanes, StreamSink& sink) {
  Buffer staging(staging_need_bytes(context, lanes));
  std::vector<storage::ReadSegment> segments;
  return for_each_batch(lanes, staging.size(), [&](std::span<const BatchPart> batch) -> Status {
    Layout layout = lay_out(batch, staging.data(), [&](int id) { return sink.direct_target(id); });
    list_segments(batch, layout, segments);
    {
      PhaseTimer timer(context.times, Phase::kRead);
      int64_t wanted_bytes = 0;
      for (const storage::ReadSegment& segment : segments) {
        wanted_bytes += segment.bytes;
      }
      STRIA_ASSIGN_OR_RETURN(int64_t read_bytes, context.file->read(segments));
      if (read_bytes < wanted_bytes) {
        return Status(ErrorCode::kCorrupted, fmt::format("'{}' ends {} bytes before its data: the file is cut short",
                                                         context.file->path(), wanted_bytes - read_bytes));
      }
    }
    PhaseTimer timer(context.times, Phase::kUnpack);
    sink.unpack(layout.packed);
    for (const StreamPart& part : layout.direct) {
      sink.passed_direct(part.stream_id, part.begin, part.end);
    }
    return Status();
  });
}

}  // namespace stria::access
