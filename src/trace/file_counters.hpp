// The counters of one file on one rank (counters.hpp), and how a request changes them.
//
// Cost: a lock that nobody else wants and a few comparisons a piece, beside a system call of microseconds. Common sizes and
// strides are found with a fixed number of candidates (Metwally, Agrawal, El Abbadi: Efficient computation of frequent and
// top-k elements in data streams, 2005): what occurs in more than one of 16 pieces is never missed; counts can only be too
// high, by no more than the least of the candidates.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "stria/phases.hpp"
#include "trace/counters.hpp"

namespace stria::trace {

/// The most common of a stream of numbers.
class CommonValues {
 public:
  void add(int64_t value);
  /// (value, count) of the four most common, by falling count; value and count 0 where there are fewer.
  std::array<std::pair<int64_t, int64_t>, 4> top() const;

 private:
  struct Candidate {
    int64_t value = 0;
    int64_t count = 0;
  };
  std::array<Candidate, 16> candidates_{};
  size_t last_ = 0;  ///< the candidate that the last number met
};

enum class Direction { kRead, kWrite };

/// Thread-safe.
class FileCounters {
 public:
  void add(Counter counter, int64_t value = 1);
  void raise(Counter counter, int64_t value);  ///< to at least `value`
  /// Adds what the phases took since `before`.
  void add_phases(const PhaseTimes& now, const PhaseTimes& before);

  /// One call to the storage with a list of segments: anything with `offset` and `bytes`.
  template <typename Segment>
  void request(Direction direction, std::span<const Segment> segments, int64_t ns) {
    const std::lock_guard lock(mutex_);
    int64_t pieces = 0;
    int64_t total = 0;
    for (size_t i = 0; i < segments.size();) {
      const int64_t begin = segments[i].offset;
      int64_t end = begin;
      // A segment beyond what a file can have is refused below, and reaches no storage.
      for (int64_t next = 0; i < segments.size() && segments[i].offset == end; ++i) {
        if (checked_add(end, segments[i].bytes, &next)) {
          end = next;
        }
      }
      if (end > begin) {
        piece(direction, begin, end);
        ++pieces;
        total += end - begin;
      }
    }
    finish_request(direction, pieces, total, ns);
  }

  /// All values by counter.
  std::array<int64_t, kCounterCount> values() const;
  /// True once after each change.
  bool take_changed();

 private:
  struct Stream {
    int64_t last_begin = -1;
    int64_t last_end = -1;
    int64_t last_stride = 0;
  };
  int64_t& at(Counter counter) { return values_[static_cast<size_t>(counter)]; }
  void piece(Direction direction, int64_t begin, int64_t end);
  void finish_request(Direction direction, int64_t pieces, int64_t bytes, int64_t ns);

  mutable std::mutex mutex_;
  std::array<int64_t, kCounterCount> values_{};
  CommonValues sizes_, strides_;
  Stream streams_[2];
  bool changed_ = false;
};

}  // namespace stria::trace
