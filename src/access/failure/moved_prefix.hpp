// Finds how many bytes of a rank's request were moved before the first one that was not.
//
// Problem: a status counts bytes from the beginning of the request, but after a failure bytes
// behind a gap may have been moved too, by other aggregators or in later windows.
// Method: the streams of a request follow each other by their numbers. Of all places from which
// bytes are missing, the first decides.
// Cost: O(1) per place, O(streams) for the number.
#pragma once

#include <climits>
#include <span>

#include "access/request/request.hpp"

namespace stria::access {

class MovedPrefix {
 public:
  /// Notes that the stream's bytes from `position` on are not known to have been moved; no effect
  /// where it has none there.
  void miss(const Stream& stream, int64_t position);
  /// Notes the same of the bytes of each stream at `file_offset` and behind it.
  void miss_behind(std::span<const Stream> streams, int64_t file_offset);
  /// Returns the number of bytes before the first missing one. `lanes` are all lanes
  /// of the request.
  int64_t bytes(std::span<const Lane> lanes) const;

 private:
  int stream_id_ = INT_MAX;
  int64_t position_ = 0;
};

/// Moves one stream after another by move(stream, done), which counts in `done` the bytes that were
/// moved for sure, until one fails.
template <typename Move>
Moved for_each_stream(std::span<const Lane> lanes, Move&& move) {
  Moved moved;
  MovedPrefix prefix;
  for (const Lane& lane : lanes) {
    for (const Stream& stream : lane.streams) {
      int64_t done = 0;
      if (moved.status.ok()) {
        moved.status = move(stream, done);
      }
      prefix.miss(stream, done);
    }
  }
  moved.bytes = prefix.bytes(lanes);
  return moved;
}

}  // namespace stria::access
