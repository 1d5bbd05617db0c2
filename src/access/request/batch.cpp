#include "access/request/batch.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/byte_range.hpp"
#include "base/check.hpp"

namespace stria::access {

namespace {

using Panel = std::vector<const Stream*>;

constexpr int64_t kElementAlignmentBytes = 8;

int64_t panel_bytes(const Panel& panel) {
  int64_t sum = 0;
  for (const Stream* stream : panel) {
    sum += stream->size();
  }
  return sum;
}

// Makes the panels of all groups, of at most `most_streams` each. The largest comes first, because
// all ranks wait for the first batch. The others come in the order of the groups, and then of the
// streams' numbers within their lanes.
std::vector<Panel> make_panels(std::span<const Lane> lanes, size_t most_streams) {
  std::map<int, std::vector<const Lane*>> groups;
  for (const Lane& lane : lanes) {
    groups[lane.group].push_back(&lane);
  }
  std::vector<Panel> panels;
  for (const auto& [group, members] : groups) {
    size_t deepest = 0;
    for (const Lane* lane : members) {
      deepest = std::max(deepest, lane->streams.size());
    }
    for (size_t k = 0; k < deepest; ++k) {
      Panel panel;
      for (const Lane* lane : members) {
        if (k < lane->streams.size() && lane->streams[k].size() > 0) {
          panel.push_back(&lane->streams[k]);
        }
        if (panel.size() == most_streams) {
          panels.push_back(std::exchange(panel, Panel()));
        }
      }
      if (!panel.empty()) {
        panels.push_back(std::move(panel));
      }
    }
  }
  std::stable_sort(panels.begin(), panels.end(),
                   [](const Panel& a, const Panel& b) { return panel_bytes(a) > panel_bytes(b); });
  return panels;
}

// Collects parts until the next would not fit, then passes them on.
class Collector {
 public:
  Collector(BatchSizes sizes, const std::function<Status(std::span<const BatchPart>)>& flush)
      : batch_bytes_(sizes.first_bytes), most_bytes_(sizes.most_bytes), flush_(flush) {}

  int64_t room_bytes() const { return batch_bytes_ - used_bytes_; }
  int64_t batch_bytes() const { return batch_bytes_; }
  /// Returns the bytes of all batches so far.
  int64_t passed_bytes() const { return passed_bytes_; }
  int64_t most_bytes() const { return most_bytes_; }
  bool empty() const { return parts_.empty(); }

  void add(const BatchPart& part) {
    STRIA_ASSERT(0 <= part.begin && part.begin < part.end && part.end <= part.stream->size(), part.begin, part.end);
    parts_.push_back(part);
    used_bytes_ += part.end - part.begin;
  }

  Status flush() {
    if (parts_.empty()) {
      return Status();
    }
    STRIA_ASSERT(used_bytes_ <= most_bytes_, used_bytes_, most_bytes_);
    passed_bytes_ += used_bytes_;
    Status status = flush_(parts_);
    parts_.clear();
    used_bytes_ = 0;
    batch_bytes_ = std::min(2 * batch_bytes_, most_bytes_);
    return status;
  }

 private:
  int64_t batch_bytes_;  // the bytes of the batch being collected
  int64_t most_bytes_;
  const std::function<Status(std::span<const BatchPart>)>& flush_;
  std::vector<BatchPart> parts_;
  int64_t used_bytes_ = 0;
  int64_t passed_bytes_ = 0;
};

// Bytes that each stream of the panel gives to one batch: whole granules, at least one.
int64_t slice_bytes(const Panel& panel, const Collector& collector) {
  auto streams = static_cast<int64_t>(panel.size());
  int64_t granule = 1;
  for (const Stream* stream : panel) {
    granule = std::max(granule, stream->granule_bytes);
  }
  int64_t most = collector.most_bytes() / streams;
  if (most < granule) {
    granule = std::min(kElementAlignmentBytes, most);  // rows don't fit, but no element is cut
  }
  return align_down(std::max(collector.batch_bytes() / streams, granule), granule);
}

Status cut_panel(const Panel& panel, Collector& collector) {
  int64_t longest = 0;
  int64_t remaining_bytes = 0;
  for (const Stream* stream : panel) {
    longest = std::max(longest, stream->size());
    remaining_bytes += stream->size();
  }
  if (remaining_bytes > collector.room_bytes()) {
    STRIA_RETURN_IF_ERROR(collector.flush());
  }
  int64_t slice = 0;
  for (int64_t begin = 0; begin < longest; begin += slice) {
    if (begin > 0) {
      STRIA_RETURN_IF_ERROR(collector.flush());
    }
    slice = remaining_bytes <= collector.room_bytes() ? longest - begin : slice_bytes(panel, collector);
    STRIA_CHECK(slice > 0, slice, panel.size(), collector.most_bytes());
    for (const Stream* stream : panel) {
      int64_t end = std::min(begin + slice, stream->size());
      if (begin < end) {
        collector.add({stream, begin, end});
        remaining_bytes -= end - begin;
      }
    }
  }
  return Status();
}

}  // namespace

Status for_each_batch(std::span<const Lane> lanes, BatchSizes sizes,
                      const std::function<Status(std::span<const BatchPart>)>& flush) {
  STRIA_ASSERT(0 < sizes.first_bytes && sizes.first_bytes <= sizes.most_bytes, sizes.first_bytes, sizes.most_bytes);
  Collector collector(sizes, flush);
  // Streams are not advanced together when there are so many that one element of each
  // would not fit.
  auto most_streams = static_cast<size_t>(std::max<int64_t>(sizes.most_bytes / kElementAlignmentBytes, 1));
  for (const Panel& panel : make_panels(lanes, most_streams)) {
    STRIA_RETURN_IF_ERROR(cut_panel(panel, collector));
  }
  STRIA_RETURN_IF_ERROR(collector.flush());
  STRIA_ASSERT(collector.passed_bytes() == total_bytes(lanes), collector.passed_bytes(), total_bytes(lanes));
  return Status();
}

}  // namespace stria::access
