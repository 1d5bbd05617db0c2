#include "access/file_domain.hpp"

#include <algorithm>
#include <map>

#include "access/buffer.hpp"

namespace stria::access {

namespace {

// A group of fewer bytes than this share of a buffer is not divided among aggregators.
constexpr int64_t kSmallGroupShare = 8;

}  // namespace

FileDomains::FileDomains(std::span<const Lane> lanes, int aggregator_count, int64_t buffer_bytes, int64_t unit_bytes)
    : aggregator_count_(aggregator_count), unit_bytes_(unit_bytes) {
  std::map<int, Group> groups;
  for (size_t i = 0; i < lanes.size(); ++i) {
    extents_.push_back(lanes[i].extent);
    if (!lanes[i].extent.empty()) {
      Group& group = groups[lanes[i].group];
      group.lanes.push_back(static_cast<int>(i));
      group.lane_bytes = std::max(group.lane_bytes, lanes[i].extent.size());
    }
  }
  std::vector<const Group*> small;
  for (const auto& [number, group] : groups) {
    int64_t group_bytes = group.lane_bytes * static_cast<int64_t>(group.lanes.size());
    if (group_bytes * kSmallGroupShare <= buffer_bytes) {
      small.push_back(&group);
    } else {
      divide(group, buffer_bytes);
    }
  }
  for (const Group* group : small) {
    add_to_batch(*group, buffer_bytes);
  }
  for (size_t i = 0; i < batches_.size(); ++i) {
    batches_[i].aggregator = static_cast<int>(i) % aggregator_count_;
    batches_[i].round = round_count_ + static_cast<int>(i) / aggregator_count_;
  }
  if (!batches_.empty()) {
    round_count_ = batches_.back().round + 1;
  }
  needed_buffer_bytes_ = measure_buffer();
}

// Divides a large group; one with so many lanes that a unit of each would not fit the buffer is split by lanes first.
void FileDomains::divide(Group group, int64_t buffer_bytes) {
  size_t most_lanes = static_cast<size_t>(std::max<int64_t>(buffer_bytes / unit_bytes_, 1));
  for (size_t first = 0; first < group.lanes.size(); first += most_lanes) {
    Group part;
    size_t last = std::min(first + most_lanes, group.lanes.size());
    part.lanes.assign(group.lanes.begin() + static_cast<std::ptrdiff_t>(first),
                      group.lanes.begin() + static_cast<std::ptrdiff_t>(last));
    part.lane_bytes = group.lane_bytes;
    part.slice_bytes =
        std::max(align_down(buffer_bytes / static_cast<int64_t>(part.lanes.size()), unit_bytes_), unit_bytes_);
    part.first_round = round_count_;
    for (int a = 0; a < aggregator_count_; ++a) {
      int64_t domain_bytes = boundary(part, a + 1) - boundary(part, a);
      part.round_count = std::max(part.round_count, static_cast<int>((domain_bytes + part.slice_bytes - 1) / part.slice_bytes));
    }
    round_count_ += part.round_count;
    divided_.push_back(std::move(part));
  }
}

void FileDomains::add_to_batch(const Group& group, int64_t buffer_bytes) {
  int64_t group_bytes = group.lane_bytes * static_cast<int64_t>(group.lanes.size());
  if (batches_.empty() || batches_.back().bytes + group_bytes > buffer_bytes) {
    batches_.emplace_back();
  }
  batches_.back().lanes.insert(batches_.back().lanes.end(), group.lanes.begin(), group.lanes.end());
  batches_.back().bytes += group_bytes;
}

// Where the aggregator's part of each lane begins, relative to the lane.
int64_t FileDomains::boundary(const Group& group, int aggregator) const {
  if (aggregator == aggregator_count_) {
    return group.lane_bytes;
  }
  int64_t whole = group.lane_bytes / aggregator_count_;
  int64_t rest = group.lane_bytes % aggregator_count_;
  return align_down(whole * aggregator + rest * aggregator / aggregator_count_, unit_bytes_);
}

// The file bytes of a relative range of a lane, inner boundaries rounded down to the unit.
ByteRange FileDomains::place(int lane, ByteRange relative) const {
  ByteRange extent = extents_[static_cast<size_t>(lane)];
  auto absolute = [&](int64_t offset) {
    if (offset <= 0) {
      return extent.begin;
    }
    return offset >= extent.size() ? extent.end
                                   : std::max(extent.begin, align_down(extent.begin + offset, unit_bytes_));
  };
  return {absolute(relative.begin), absolute(relative.end)};
}

ByteRange FileDomains::domain(const Group& group, int aggregator, int lane) const {
  return place(lane, {boundary(group, aggregator), boundary(group, aggregator + 1)});
}

void FileDomains::append(int lane, ByteRange file, std::vector<Window>& windows) const {
  if (file.empty()) {
    return;
  }
  int64_t used = windows.empty() ? 0 : windows.back().buffer_offset + windows.back().file.size();
  windows.push_back({lane, file, align_up(used, Buffer::kAlignmentBytes) + file.begin % Buffer::kAlignmentBytes});
}

void FileDomains::windows(int aggregator, int round, std::vector<Window>& windows) const {
  windows.clear();
  for (const Group& group : divided_) {
    if (round < group.first_round || round >= group.first_round + group.round_count) {
      continue;
    }
    int64_t begin = boundary(group, aggregator) + (round - group.first_round) * group.slice_bytes;
    int64_t end = std::min(begin + group.slice_bytes, boundary(group, aggregator + 1));
    if (begin < end) {
      for (int lane : group.lanes) {
        append(lane, place(lane, {begin, end}), windows);
      }
    }
  }
  for (const Batch& batch : batches_) {
    if (batch.aggregator == aggregator && batch.round == round) {
      for (int lane : batch.lanes) {
        append(lane, extents_[static_cast<size_t>(lane)], windows);
      }
    }
  }
}

bool FileDomains::meets(int aggregator, int lane, ByteRange range) const {
  for (const Group& group : divided_) {
    if (std::find(group.lanes.begin(), group.lanes.end(), lane) != group.lanes.end()) {
      return !intersect(domain(group, aggregator, lane), range).empty();
    }
  }
  for (const Batch& batch : batches_) {
    if (batch.aggregator == aggregator && std::find(batch.lanes.begin(), batch.lanes.end(), lane) != batch.lanes.end()) {
      return !intersect(extents_[static_cast<size_t>(lane)], range).empty();
    }
  }
  return false;
}

// An upper bound over all rounds: payload, one unit of rounding and two alignments a window.
int64_t FileDomains::measure_buffer() const {
  int64_t most = 0;
  for (const Group& group : divided_) {
    most = std::max(most, static_cast<int64_t>(group.lanes.size()) *
                              (std::min(group.slice_bytes, group.lane_bytes) + unit_bytes_ + 2 * Buffer::kAlignmentBytes));
  }
  for (const Batch& batch : batches_) {
    most = std::max(most, batch.bytes + static_cast<int64_t>(batch.lanes.size()) * 2 * Buffer::kAlignmentBytes);
  }
  return most;
}

}  // namespace stria::access
