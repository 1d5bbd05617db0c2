// Describes what an access method is asked to move: streams of bytes, each with its place in the
// file, grouped into lanes.
//
// A lane is a stretch of the file that all ranks agree on, as a dataset is; a stream is one rank's
// part of a lane. Lanes of one group advance in lockstep: a round takes the same fraction of each
// of them. So variables that lie interleaved in memory are packed in one pass, however far apart
// they lie in the file. One lane is the classic case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/byte_range.hpp"
#include "storage/driver.hpp"
#include "stria/datatype.hpp"

namespace stria::access {

/// One rank's bytes within a lane. The packed stream `stream_id` has size() bytes, in the order of
/// file_type's pieces.
struct Stream {
  static constexpr int64_t kToTheEnd = -1;

  int stream_id = 0;         ///< names the packed stream to the StreamSource or StreamSink
  Datatype file_type;        ///< sorted
  int64_t displacement = 0;  ///< file offset of file_type's origin
  /// Parts are cut at multiples of this where the method is free to choose.
  int64_t granule_bytes = 1;
  /// Bytes of file_type's stream before the first one that belongs to the packed stream.
  int64_t skip_bytes = 0;
  /// Bytes of the packed stream, which lie in that of file_type.
  int64_t bytes = kToTheEnd;

  /// Returns the bytes of the packed stream.
  int64_t size() const { return bytes == kToTheEnd ? file_type.size() - skip_bytes : bytes; }
};

struct Lane {
  /// File bytes that hold all ranks' streams of this lane; the same on every rank.
  ByteRange hull;
  /// Lanes of one group have hulls of the same size; the same on every rank.
  int group = 0;
  std::vector<Stream> streams;  ///< this rank's, by increasing first offset
};

/// A range of one packed stream, and where in a buffer its first byte goes or comes from.
struct StreamPart {
  int stream_id = 0;
  int64_t begin = 0;
  int64_t end = 0;
  std::byte* packed = nullptr;
};

/// Says where the bytes of a write come from.
class StreamSource {
 public:
  virtual ~StreamSource() = default;
  /// Fills the parts. Parts of different streams with equal [begin, end) in one call are cheapest.
  virtual void pack(std::span<const StreamPart> parts) = 0;
  /// Returns the whole stream, when memory holds it just as the file wants it, else null; spares
  /// the copy.
  virtual const std::byte* straight_source(int /*stream_id*/) { return nullptr; }
  /// Tells that [begin, end) of a stream was written straight from straight_source().
  virtual void passed_straight(int /*stream_id*/, int64_t /*begin*/, int64_t /*end*/) {}
};

/// Says where the bytes of a read go.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  /// Takes the bytes of the parts.
  virtual void unpack(std::span<const StreamPart> parts) = 0;
  /// Returns where the whole stream may be read straight into memory, or null.
  virtual std::byte* straight_target(int /*stream_id*/) { return nullptr; }
  /// Tells that [begin, end) of a stream was read straight into straight_target().
  virtual void passed_straight(int /*stream_id*/, int64_t /*begin*/, int64_t /*end*/) {}
};

/// Says what a transfer did on this rank.
struct Moved {
  Status status;
  /// Bytes of this rank's streams before the first that is not known to have been moved
  /// (moved_prefix.hpp). Without an error these are all, unless a read found the end of the file
  /// before them. Bytes behind that one may have been moved too.
  int64_t bytes = 0;
};

/// Returns where the file must have ended if a read of `segments` moved `read_bytes` in all; kNoEnd
/// if it moved everything.
int64_t file_end(std::span<const storage::ReadSegment> segments, int64_t read_bytes);
inline constexpr int64_t kNoEnd = INT64_MAX;

/// Returns the sums over this rank's streams of their sizes, and of their pieces.
int64_t total_bytes(std::span<const Lane> lanes);
int64_t piece_count(std::span<const Lane> lanes);

}  // namespace stria::access
