#include "access/together/domains/file_domain.hpp"

#include <algorithm>
#include <map>

#include "base/buffer.hpp"
#include "base/check.hpp"

namespace stria::access {

namespace {

// A group of fewer bytes than this share of a buffer is not divided among aggregators.
constexpr int64_t kSmallGroupShare = 8;

// What a window can lose to the alignment of its place in the buffer, at its beginning and before
// its successor.
constexpr int64_t kWasteBytes = 2 * Buffer::kAlignmentBytes;

}  // namespace

FileDomains::FileDomains(std::span<const Lane> lanes, int aggregator_count, int64_t buffer_bytes, int64_t unit_bytes,
                         int stripe_count)
    : aggregator_count_(aggregator_count),
      unit_bytes_(unit_bytes),
      waste_bytes_(unit_bytes % Buffer::kAlignmentBytes == 0 ? 0 : kWasteBytes) {
  STRIA_CHECK(aggregator_count >= 1 && buffer_bytes >= 1 && unit_bytes >= 1 && stripe_count >= 1, aggregator_count,
              buffer_bytes, unit_bytes, stripe_count);
  std::map<int, Group> groups;
  for (size_t i = 0; i < lanes.size(); ++i) {
    hulls_.push_back(lanes[i].hull);
    if (!lanes[i].hull.empty()) {
      Group& group = groups[lanes[i].group];
      group.lanes.push_back(static_cast<int>(i));
      group.span_bytes = std::max(group.span_bytes, lanes[i].hull.end - origin(static_cast<int>(i)));
    }
  }
  for (const auto& [number, group] : groups) {
    if (batch_bytes(group) <= buffer_bytes / kSmallGroupShare) {
      add_to_batch(group, buffer_bytes);
    } else if (stripe_count > 1 && group.lanes.size() == 1) {
      deal_out(group, buffer_bytes, stripe_count);
    } else {
      divide(group, buffer_bytes);
    }
  }
  number_places();
  first_batch_round_ = round_count_;
  round_count_ += (static_cast<int>(batches_.size()) + aggregator_count_ - 1) / aggregator_count_;
  needed_buffer_bytes_ = measure_buffer();
}

// Divides a large group. If it has so many lanes that a unit of each would not fit the buffer, it
// is first split by lanes.
void FileDomains::divide(const Group& group, int64_t buffer_bytes) {
  // A unit larger than the buffer is moved in parts.
  int64_t step_bytes = unit_bytes_ <= buffer_bytes ? unit_bytes_ : std::min(unit_bytes_, Buffer::kAlignmentBytes);
  // A lane with fewer isn't worth a window.
  int64_t least_bytes = align_up(std::max(step_bytes, waste_bytes_), step_bytes);
  size_t most_lanes = static_cast<size_t>(std::max<int64_t>(buffer_bytes / (least_bytes + waste_bytes_), 1));
  for (size_t first = 0; first < group.lanes.size(); first += most_lanes) {
    Group part;
    size_t last = std::min(first + most_lanes, group.lanes.size());
    part.lanes.assign(group.lanes.begin() + static_cast<std::ptrdiff_t>(first),
                      group.lanes.begin() + static_cast<std::ptrdiff_t>(last));
    part.span_bytes = group.span_bytes;
    int64_t share_bytes = buffer_bytes / static_cast<int64_t>(part.lanes.size()) - waste_bytes_;
    part.slice_bytes = std::max(align_down(std::max<int64_t>(share_bytes, 0), step_bytes), least_bytes);
    part.first_round = round_count_;
    part.domain_bytes = longest_domain_bytes(part);
    part.round_count = static_cast<int>((part.domain_bytes + part.slice_bytes - 1) / part.slice_bytes);
    round_count_ += part.round_count;
    divided_.push_back(std::move(part));
  }
}

// An aggregator's blocks, one after another, are cut into rounds: whole blocks where they fit.
void FileDomains::deal_out(const Group& group, int64_t buffer_bytes, int stripe_count) {
  Group part = group;
  const StripeDeal& deal =
      part.deal.emplace(hulls_[static_cast<size_t>(group.lanes[0])], aggregator_count_, unit_bytes_, stripe_count);
  int64_t block_bytes = deal.block_bytes();
  if (block_bytes <= std::max(buffer_bytes, Buffer::kAlignmentBytes)) {
    part.slice_bytes = std::max<int64_t>(buffer_bytes / (block_bytes + waste_bytes_), 1) * block_bytes;
  } else {
    int64_t room_bytes = std::max<int64_t>(buffer_bytes - 2 * waste_bytes_, 0);
    part.slice_bytes = std::max(align_down(room_bytes, Buffer::kAlignmentBytes), Buffer::kAlignmentBytes);
  }
  for (int a = 0; a < aggregator_count_; ++a) {
    part.domain_bytes = std::max(part.domain_bytes, deal.block_count(a) * block_bytes);
  }
  part.first_round = round_count_;
  part.round_count = static_cast<int>((part.domain_bytes + part.slice_bytes - 1) / part.slice_bytes);
  round_count_ += part.round_count;
  divided_.push_back(std::move(part));
}

void FileDomains::dealt_windows(const Group& group, int aggregator, int round, std::vector<Window>& windows) const {
  const StripeDeal& deal = *group.deal;
  int64_t block_bytes = deal.block_bytes();
  int64_t begin = (round - group.first_round) * group.slice_bytes;
  int64_t end = std::min(begin + group.slice_bytes, deal.block_count(aggregator) * block_bytes);
  for (int64_t at = begin; at < end;) {
    int64_t number = at / block_bytes;
    int64_t stop = std::min(end, (number + 1) * block_bytes);
    int64_t file_begin = deal.block(aggregator, number).begin - number * block_bytes;
    append(group.lanes[0], intersect({file_begin + at, file_begin + stop}, hulls_[static_cast<size_t>(group.lanes[0])]),
           windows);
    at = stop;
  }
}

// Returns the room that a small group takes in a buffer, as an upper bound.
int64_t FileDomains::batch_bytes(const Group& group) const {
  int64_t sum = 0;
  for (int lane : group.lanes) {
    sum += hulls_[static_cast<size_t>(lane)].size() + kWasteBytes;
  }
  return sum;
}

void FileDomains::add_to_batch(const Group& group, int64_t buffer_bytes) {
  int64_t group_bytes = batch_bytes(group);
  if (batches_.empty() || batches_.back().bytes + group_bytes > buffer_bytes) {
    batches_.emplace_back();
  }
  batches_.back().lanes.insert(batches_.back().lanes.end(), group.lanes.begin(), group.lanes.end());
  batches_.back().bytes += group_bytes;
}

void FileDomains::number_places() {
  places_.resize(hulls_.size());
  for (size_t i = 0; i < divided_.size(); ++i) {
    for (int lane : divided_[i].lanes) {
      places_[static_cast<size_t>(lane)].divided = static_cast<int>(i);
    }
  }
  for (size_t i = 0; i < batches_.size(); ++i) {
    std::sort(batches_[i].lanes.begin(), batches_[i].lanes.end());
    for (int lane : batches_[i].lanes) {
      places_[static_cast<size_t>(lane)].batch = static_cast<int>(i);
    }
  }
}

// Returns where a lane's grid of units begins.
int64_t FileDomains::origin(int lane) const {
  return align_down(hulls_[static_cast<size_t>(lane)].begin, unit_bytes_);
}

// Returns where the aggregator's part of each lane begins, on the lane's grid.
int64_t FileDomains::boundary(const Group& group, int aggregator) const {
  if (aggregator == aggregator_count_) {
    return group.span_bytes;
  }
  int64_t whole = group.span_bytes / aggregator_count_;
  int64_t rest = group.span_bytes % aggregator_count_;
  return align_down(whole * aggregator + rest * aggregator / aggregator_count_, unit_bytes_);
}

// Every rank computes this, and there may be ten thousands of aggregators. So the boundaries are
// counted up: what boundary() divides for each is carried from the one before.
int64_t FileDomains::longest_domain_bytes(const Group& group) const {
  const int64_t whole = group.span_bytes / aggregator_count_;
  const int64_t rest = group.span_bytes % aggregator_count_;
  int64_t longest = 0, even = 0, carried = 0, last = 0;
  for (int a = 1; a <= aggregator_count_; ++a) {
    even += whole;
    carried += rest;
    if (carried >= aggregator_count_) {
      carried -= aggregator_count_;
      ++even;
    }
    const int64_t next = a == aggregator_count_ ? group.span_bytes : align_down(even, unit_bytes_);
    longest = std::max(longest, next - last);
    last = next;
  }
  return longest;
}

// Returns the file bytes of a range of a lane's grid.
ByteRange FileDomains::place(int lane, ByteRange relative) const {
  int64_t begin = origin(lane);
  return intersect({begin + relative.begin, begin + relative.end}, hulls_[static_cast<size_t>(lane)]);
}

void FileDomains::append(int lane, ByteRange file, std::vector<Window>& windows) const {
  STRIA_ASSERT(windows.empty() || windows.back().lane != lane || windows.back().file.end <= file.begin || file.empty(), lane,
               file.begin);
  if (file.empty()) {
    return;
  }
  int64_t used = windows.empty() ? 0 : windows.back().buffer_offset + windows.back().file.size();
  windows.push_back({lane, file, align_up(used, Buffer::kAlignmentBytes) + file.begin % Buffer::kAlignmentBytes});
}

void FileDomains::windows(int aggregator, int round, std::vector<Window>& windows) const {
  find_windows(aggregator, round, windows);
  STRIA_CHECK(windows.empty() || windows.back().buffer_offset + windows.back().file.size() <= needed_buffer_bytes_, aggregator,
              round, windows.size(), needed_buffer_bytes_);
}

void FileDomains::find_windows(int aggregator, int round, std::vector<Window>& windows) const {
  STRIA_CHECK(0 <= aggregator && aggregator < aggregator_count_ && 0 <= round && round < round_count_, aggregator,
              aggregator_count_, round, round_count_);
  windows.clear();
  if (round >= first_batch_round_) {
    auto number = static_cast<size_t>(round - first_batch_round_) * static_cast<size_t>(aggregator_count_) +
                  static_cast<size_t>(aggregator);
    if (number < batches_.size()) {
      for (int lane : batches_[number].lanes) {
        append(lane, hulls_[static_cast<size_t>(lane)], windows);
      }
    }
    return;
  }
  auto next = std::upper_bound(divided_.begin(), divided_.end(), round,
                               [](int wanted, const Group& group) { return wanted < group.first_round; });
  const Group& group = *std::prev(next);
  if (group.deal) {
    return dealt_windows(group, aggregator, round, windows);
  }
  int64_t begin = boundary(group, aggregator) + (round - group.first_round) * group.slice_bytes;
  int64_t end = std::min(begin + group.slice_bytes, boundary(group, aggregator + 1));
  if (begin < end) {
    for (int lane : group.lanes) {
      append(lane, place(lane, {begin, end}), windows);
    }
  }
}

bool FileDomains::meets(int aggregator, int lane, ByteRange range) const {
  STRIA_ASSERT(0 <= lane && static_cast<size_t>(lane) < places_.size(), lane, places_.size());
  Place of_lane = places_[static_cast<size_t>(lane)];
  if (of_lane.divided >= 0) {
    const Group& group = divided_[static_cast<size_t>(of_lane.divided)];
    if (group.deal) {
      return group.deal->meets(aggregator, intersect(range, hulls_[static_cast<size_t>(lane)]));
    }
    ByteRange domain = place(lane, {boundary(group, aggregator), boundary(group, aggregator + 1)});
    return !intersect(domain, range).empty();
  }
  return of_lane.batch >= 0 && of_lane.batch % aggregator_count_ == aggregator &&
         !intersect(hulls_[static_cast<size_t>(lane)], range).empty();
}

ByteRange FileDomains::stretch(int first, int end, int lane) const {
  STRIA_CHECK(0 <= first && first <= end && end <= aggregator_count_ && 0 <= lane && static_cast<size_t>(lane) < places_.size(),
              first, end, lane);
  const Place of_lane = places_[static_cast<size_t>(lane)];
  if (of_lane.divided >= 0) {
    const Group& group = divided_[static_cast<size_t>(of_lane.divided)];
    STRIA_CHECK(!group.deal, lane);
    return place(lane, {boundary(group, first), boundary(group, end)});
  }
  const int aggregator = of_lane.batch % aggregator_count_;
  const bool is_among = of_lane.batch >= 0 && first <= aggregator && aggregator < end;
  return is_among ? hulls_[static_cast<size_t>(lane)] : ByteRange{};
}

std::pair<int, int> FileDomains::around(int lane, ByteRange range) const {
  STRIA_ASSERT(0 <= lane && static_cast<size_t>(lane) < places_.size(), lane, places_.size());
  const Place of_lane = places_[static_cast<size_t>(lane)];
  const ByteRange found = intersect(range, hulls_[static_cast<size_t>(lane)]);
  if (found.empty() || (of_lane.divided < 0 && of_lane.batch < 0)) {
    return {0, 0};
  }
  if (of_lane.divided < 0) {
    const int aggregator = of_lane.batch % aggregator_count_;
    return {aggregator, aggregator + 1};
  }
  const Group& group = divided_[static_cast<size_t>(of_lane.divided)];
  if (group.deal) {
    return {0, aggregator_count_};
  }
  // Returns the number of boundaries up to a place of the grid.
  const auto boundaries_to = [&](int64_t place) {
    int low = 0, high = aggregator_count_;
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (boundary(group, middle + 1) <= place) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  const int64_t begin = origin(lane);
  return {boundaries_to(found.begin - begin), std::min(boundaries_to(found.end - 1 - begin) + 1, aggregator_count_)};
}

// Returns an upper bound over all rounds. Windows on whole alignments lose nothing: the first one
// is short by as much as it begins within its alignment.
int64_t FileDomains::measure_buffer() const {
  int64_t most = 0;
  for (const Group& group : divided_) {
    int64_t slice_bytes = std::min(group.slice_bytes, group.domain_bytes);
    if (group.deal) {
      int64_t blocks = slice_bytes / group.deal->block_bytes();
      int64_t windows = blocks > 0 ? blocks : 2;  // a part of a block may reach into the next
      most = std::max(most, align_up(slice_bytes, Buffer::kAlignmentBytes) + windows * waste_bytes_);
      continue;
    }
    int64_t window_bytes = waste_bytes_ > 0 ? slice_bytes + waste_bytes_ : align_up(slice_bytes, Buffer::kAlignmentBytes);
    most = std::max(most, static_cast<int64_t>(group.lanes.size()) * window_bytes);
  }
  for (const Batch& batch : batches_) {
    most = std::max(most, batch.bytes);
  }
  return most;
}

}  // namespace stria::access
