// File domains: which aggregator moves which bytes, and in which round.
//
// Method (two-phase I/O: Thakur 1995; tunable aggregators: Yu 2008): each lane is laid on the grid
// of alignment units of the file, from the unit with its first byte on. A group of lanes is
// divided among the aggregators by the same fractions of these grids, at whole units. An
// aggregator's part is cut into rounds, each of which fills its buffer with the same rows of all
// lanes. A group that is too small to be divided goes to one aggregator as a whole, several such
// groups in one round. No state is kept per round: windows are computed on demand from O(lanes)
// state, the same on every rank.
// Cost: windows() O(log lanes + windows), meets() O(1), around() O(log aggregators).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "access/request/request.hpp"
#include "access/together/domains/stripe_deal.hpp"
#include "base/byte_range.hpp"

namespace stria::access {

/// A stretch of one lane within one round of one aggregator, and its place in the aggregator's
/// buffer. `buffer_offset` and the file offset are congruent modulo Buffer::kAlignmentBytes, as
/// direct I/O requires.
struct Window {
  int lane = 0;
  ByteRange file;
  int64_t buffer_offset = 0;
};

class FileDomains {
 public:
  /// The lanes' hulls and groups are the same on every rank. \pre all numbers are positive. With
  /// stripe_count > 1 units are stripes over so many servers, and a group of a single lane is dealt
  /// out by them (stripe_deal.hpp); groups of several lanes keep contiguous domains, so that their
  /// rows stay together.
  FileDomains(std::span<const Lane> lanes, int aggregator_count, int64_t buffer_bytes, int64_t unit_bytes,
              int stripe_count = 1);

  int aggregator_count() const { return aggregator_count_; }
  int round_count() const { return round_count_; }
  /// Returns the bytes that a buffer for one round must have: at most as many as asked for, or one
  /// unit and four alignments where that is more.
  int64_t buffer_bytes() const { return needed_buffer_bytes_; }
  /// Replaces `windows` by those of the aggregator in the round, by increasing lane and offset;
  /// empty ones are left out. \pre there are such an aggregator and such a round
  void windows(int aggregator, int round, std::vector<Window>& windows) const;
  /// Returns the same as a new list. May throw std::bad_alloc.
  std::vector<Window> windows_of(int aggregator, int round) const {
    std::vector<Window> made;
    windows(aggregator, round, made);
    return made;
  }
  /// Tells whether the aggregator's windows of any round hold bytes of `range` of the lane.
  bool meets(int aggregator, int lane, ByteRange range) const;
  /// Returns the bytes of a lane that lie with the aggregators [first, end), in one piece. \pre
  /// stripes are not dealt out
  ByteRange stretch(int first, int end, int lane) const;
  /// Returns the first aggregator, and the one behind the last, that may meet `range` of the lane.
  /// Where stripes are dealt out, these are all.
  std::pair<int, int> around(int lane, ByteRange range) const;

 private:
  struct Group {
    std::vector<int> lanes;
    int64_t span_bytes = 0;    // bytes of the longest lane, from the beginning of its first unit
    int64_t domain_bytes = 0;  // the bytes of each lane, the most that an aggregator has
    int64_t slice_bytes = 0;   // the bytes of each lane, a round; whole units
    int first_round = 0;
    int round_count = 0;
    std::optional<StripeDeal> deal;  // a single lane has it, instead of contiguous domains
  };
  struct Batch {  // small groups that share one round of one aggregator
    std::vector<int> lanes;
    int64_t bytes = 0;
  };
  struct Place {  // the place of a lane: in divided_ or in batches_; -1: in neither
    int divided = -1;
    int batch = -1;
  };

  void find_windows(int aggregator, int round, std::vector<Window>& windows) const;
  void divide(const Group& group, int64_t buffer_bytes);
  void deal_out(const Group& group, int64_t buffer_bytes, int stripe_count);
  void dealt_windows(const Group& group, int aggregator, int round, std::vector<Window>& windows) const;
  void add_to_batch(const Group& group, int64_t buffer_bytes);
  void number_places();
  int64_t batch_bytes(const Group& group) const;
  int64_t origin(int lane) const;
  int64_t boundary(const Group& group, int aggregator) const;
  int64_t longest_domain_bytes(const Group& group) const;
  ByteRange place(int lane, ByteRange relative) const;
  void append(int lane, ByteRange file, std::vector<Window>& windows) const;
  int64_t measure_buffer() const;

  std::vector<ByteRange> hulls_;
  int aggregator_count_;
  int64_t unit_bytes_;
  int64_t waste_bytes_;  // lost to alignment, a window
  int round_count_ = 0;
  int first_batch_round_ = 0;
  int64_t needed_buffer_bytes_ = 0;
  std::vector<Group> divided_;  // by first_round
  std::vector<Batch> batches_;  // dealt to the aggregators in turn
  std::vector<Place> places_;   // by lane
};

}  // namespace stria::access
