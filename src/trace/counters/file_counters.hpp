// The counters of one file on one rank (counters.hpp), and how a request changes them.
//
// Cost: an uncontended lock and a few comparisons per piece, beside a system call of microseconds.
// Common sizes and strides are found with a fixed number of candidates (Metwally, Agrawal, El
// Abbadi: Efficient computation of frequent and top-k elements in data streams, 2005). A value that
// more than one in 16 pieces has is never missed. Counts can only be too high, by at most the least
// count of the candidates.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "stria/phases.hpp"
#include "trace/counters/counters.hpp"
#include "trace/counters/short_lock.hpp"

namespace stria::trace {

/// The most common numbers of a stream.
class CommonValues {
 public:
  void add(int64_t value) {
    if (candidates_[last_].value == value && candidates_[last_].count > 0) {
      ++candidates_[last_].count;
    } else {
      add_other(value);
    }
  }
  /// Returns the four most common as (value, count), in descending order of count; both are 0 where
  /// there are fewer.
  std::array<std::pair<int64_t, int64_t>, 4> top() const;

 private:
  struct Candidate {
    int64_t value = 0;
    int64_t count = 0;
  };
  void add_other(int64_t value);

  std::array<Candidate, 16> candidates_{};
  size_t last_ = 0;  ///< the candidate that the last number matched
};

enum class Direction { kRead, kWrite };

/// This is thread-safe.
class FileCounters {
 public:
  void add(Counter counter, int64_t value = 1);
  void raise(Counter counter, int64_t value);  ///< to at least `value`
  /// Counts one call of the application that moves `bytes`.
  void call(Direction direction, int64_t bytes);
  /// Adds the time that the phases took since `before`.
  void add_phases(const PhaseTimes& now, const PhaseTimes& before);

  /// Counts one call to the storage with a list of segments, which may be anything with `offset`
  /// and `bytes`. It took `ticks` ticks() (ticks.hpp).
  template <typename Segment>
  void request(Direction direction, std::span<const Segment> segments, int64_t ticks) {
    const std::lock_guard lock(lock_);
    Stream& stream = streams_[static_cast<size_t>(direction)];
    const int64_t pieces_before = stream.pieces;
    for (size_t i = 0; i < segments.size();) {
      const int64_t begin = segments[i].offset;
      int64_t end = begin;
      // A segment that no file can hold is refused below, and reaches no storage.
      for (int64_t next = 0; i < segments.size() && segments[i].offset == end; ++i) {
        if (checked_add(end, segments[i].bytes, &next)) {
          end = next;
        }
      }
      if (end > begin) {
        piece(stream, begin, end);
      }
    }
    ++stream.requests;
    stream.most_pieces = std::max(stream.most_pieces, stream.pieces - pieces_before);
    stream.longest_ticks = std::max(stream.longest_ticks, ticks);
    stream.ticks += ticks;
    changed_ = true;
  }
  /// Counts the time of a request that was counted when it began, and during which its caller did
  /// something else.
  void finish_request(Direction direction, int64_t ticks);

  /// Returns all values, by counter.
  std::array<int64_t, kCounterCount> values() const;
  /// True when something has changed since the last call.
  bool take_changed();

 private:
  /// Holds what the requests in one direction have done.
  struct Stream {
    int64_t last_begin = -1;
    int64_t last_end = -1;
    int64_t last_stride = 0;
    int64_t last_bytes = 0;
    size_t bin = 0;  ///< the bin of last_bytes
    int64_t requests = 0;
    int64_t pieces = 0;
    int64_t bytes = 0;
    int64_t highest_end = 0;
    int64_t consecutive = 0;
    int64_t sequential = 0;
    int64_t strided = 0;
    int64_t unaligned = 0;
    int64_t most_pieces = 0;
    int64_t longest_ticks = 0;
    int64_t ticks = 0;  ///< the ticks of requests that their callers waited in
    std::array<int64_t, kSizeBinCount> sizes{};
  };
  int64_t& at(Counter counter) { return values_[static_cast<size_t>(counter)]; }
  void piece(Stream& stream, int64_t begin, int64_t end);

  mutable ShortLock lock_;
  /// The values that streams_, sizes_ and strides_ hold are not among these.
  std::array<int64_t, kCounterCount> values_{};
  CommonValues sizes_, strides_;
  std::array<Stream, 2> streams_;  ///< by Direction
  bool changed_ = false;
};

}  // namespace stria::trace
