#include "access/together/window/window_writer.hpp"

#include <algorithm>
#include <cstring>

#include "access/locks/write_lock.hpp"
#include "access/plan/planner.hpp"
#include "access/together/domains/wanted_stretches.hpp"
#include "base/buffer.hpp"
#include "base/check.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::access {

namespace {

template <typename Visit>
void for_each_overlap(size_t number, std::span<const Share> contributors, Visit&& visit) {
  for (const Share& share : contributors) {
    for (const auto& [w, overlap] : share.parts) {
      if (w == number) {
        visit(overlap);
      }
    }
  }
}

ByteRange hull_of(std::span<const storage::WriteSegment> segments) {
  ByteRange hull{INT64_MAX, 0};
  for (const storage::WriteSegment& segment : segments) {
    hull = {std::min(hull.begin, segment.offset), std::max(hull.end, segment.offset + segment.bytes)};
  }
  return hull;
}

// Returns the part of an overlap that lies in a stretch of the file.
Overlap part_in(const Overlap& overlap, ByteRange hull, ByteRange stretch) {
  if (stretch.begin <= hull.begin && hull.end <= stretch.end) {
    return overlap;
  }
  const auto inside = [&](int64_t offset) {
    return std::clamp(position_of(*overlap.stream, offset), overlap.begin, overlap.end);
  };
  return {overlap.stream, inside(stretch.begin), inside(stretch.end)};
}

// Returns the covered stretch of a window whose overlaps are all single pieces without a gap
// between them. This is the usual case, and found without looking at bytes. Empty in other cases.
ByteRange single_stretch(size_t number, std::span<const Share> contributors) {
  std::vector<ByteRange> ranges;
  bool single = true;
  for_each_overlap(number, contributors, [&](const Overlap& overlap) {
    ByteRange hull = hull_of(overlap);
    single = single && hull.size() == overlap.end - overlap.begin;
    ranges.push_back(hull);
  });
  if (!single || ranges.empty()) {
    return {};
  }
  std::sort(ranges.begin(), ranges.end(), [](ByteRange a, ByteRange b) { return a.begin < b.begin; });
  ByteRange whole = ranges.front();
  for (ByteRange range : ranges) {
    if (range.begin > whole.end) {
      return {};
    }
    whole.end = std::max(whole.end, range.end);
  }
  return whole;
}

}  // namespace

void WindowWriter::start(std::span<const Window> windows, std::span<const Share> contributors, std::byte* buffer) {
  PhaseTimer timer(context_.times, Phase::kWrite);
  if (put_all(windows, contributors, buffer)) {
    start_lists();
  }
}

void WindowWriter::write(std::span<const Window> windows, std::span<const Share> contributors, std::byte* buffer) {
  PhaseTimer timer(context_.times, Phase::kWrite);
  if (put_all(windows, contributors, buffer)) {
    write_lists();
  }
}

void WindowWriter::write_lists() {
  if (!direct_.empty()) {
    status_ = write_now(*direct_file_, direct_);
  }
  if (!cached_.empty()) {
    status_.update(write_now(*context_.file, cached_));
  }
}

bool WindowWriter::put_all(std::span<const Window> windows, std::span<const Share> contributors, std::byte* buffer) {
  STRIA_CHECK(direct_pending_ == nullptr && cached_pending_ == nullptr && direct_.empty() && cached_.empty(), windows.size());
  status_ = Status();
  for (size_t w = 0; w < windows.size() && status_.ok(); ++w) {
    status_ = put(windows[w], w, contributors, buffer);
  }
  return status_.ok();
}

Status WindowWriter::write_covered(ByteRange window, const Coverage& coverage, std::byte* base) {
  status_ = put_covered(window, coverage, base);
  if (status_.ok()) {
    write_lists();
  }
  return finish();
}

void WindowWriter::start_lists() {
  if (!direct_.empty()) {
    direct_pending_ = direct_file_->start_write(direct_);
  }
  if (cached_.empty()) {
    return;
  }
  if (context_.others.locks == nullptr) {
    cached_pending_ = context_.file->start_write(cached_);
    return;
  }
  cached_pending_ =
      context_.file->start_locked_write(cached_, [this, range = hull_of(cached_)] { return stay_out_of_windows(range); });
}

Result<std::unique_ptr<storage::RangeLock>> WindowWriter::stay_out_of_windows(ByteRange range) {
  STRIA_ASSIGN_OR_RETURN(WriteLock lock, WriteLock::plain(context_, range));
  return std::unique_ptr<storage::RangeLock>(std::make_unique<WriteLock>(std::move(lock)));
}

Status WindowWriter::write_now(storage::File& file, std::vector<storage::WriteSegment>& segments) {
  STRIA_ASSIGN_OR_RETURN(const WriteLock lock, WriteLock::plain(context_, hull_of(segments)));
  Status written = file.write(segments);
  segments.clear();
  return written;
}

Status WindowWriter::put(const Window& window, size_t number, std::span<const Share> contributors, std::byte* buffer) {
  std::byte* base = buffer + window.buffer_offset;
  if (ByteRange whole = single_stretch(number, contributors); !whole.empty()) {
    STRIA_CHECK(intersect(whole, window.file) == whole, whole.begin, whole.end, window.file.begin, window.file.end);
    return add_segment(whole, base + (whole.begin - window.file.begin));
  }
  std::vector<std::pair<ByteRange, Overlap>> overlaps;
  for_each_overlap(number, contributors, [&](const Overlap& overlap) { overlaps.emplace_back(hull_of(overlap), overlap); });
  // Parts that lie far from each other are handled stretch by stretch.
  for (const ByteRange stretch : stretches_of(number, contributors, kMostGapBytes)) {
    Coverage coverage(stretch);
    for (const auto& [hull, overlap] : overlaps) {
      if (!intersect(hull, stretch).empty()) {
        for_each_row(part_in(overlap, hull, stretch), [&](const PieceRow& row, int64_t) { coverage.add_row(row); });
      }
    }
    STRIA_RETURN_IF_ERROR(put_covered(stretch, coverage, base + (stretch.begin - window.file.begin)));
  }
  return Status();
}

Status WindowWriter::put_covered(ByteRange window, const Coverage& coverage, std::byte* base) {
  const Coverage::Stretches stretches = coverage.stretches();
  if (stretches.count == 0) {
    return Status();
  }
  if (sieving_is_cheaper(stretches)) {
    Status sieved = sieve(window, coverage, stretches.hull, base);
    if (sieved.code() != ErrorCode::kUnsupported) {
      return sieved;
    }
  }
  Status added;
  coverage.for_each_run(
      [&](ByteRange run) { added = added.ok() ? add_segment(run, base + (run.begin - window.begin)) : added; });
  return added;
}

bool WindowWriter::sieving_is_cheaper(const Coverage::Stretches& stretches) const {
  const storage::Capabilities& capabilities = context_.file->capabilities();
  if (stretches.count == 1 || context_.hints.sieve_writes == Switch::kDisable || capabilities.native_list) {
    return context_.hints.sieve_writes == Switch::kEnable && stretches.count > 1;
  }
  constexpr int64_t kRequestsOfSieving = 4;  // lock, read, write, unlock
  int64_t moved_twice = 2 * stretches.hull.size() - stretches.bytes;
  return moved_twice / request_cost_bytes(capabilities) < stretches.count - kRequestsOfSieving;
}

// Reads what the file has between the covered stretches into the window (past its end: zeros), and
// writes all of it. The lock is not held while this rank waits for another. If no other writer
// knows the file, all of its ranks are in this operation, with other windows.
Status WindowWriter::sieve(ByteRange window, const Coverage& coverage, ByteRange hull, std::byte* base) {
  STRIA_CHECK(intersect(hull, window) == hull, hull.begin, hull.end, window.begin, window.end);
  WriteLock lock;
  if (!context_.others.are_none()) {
    STRIA_ASSIGN_OR_RETURN(lock, WriteLock::window(context_, hull));
  }
  Buffer old(std::min(kOldBytes, window.size()));
  // Steps begin where a word of the coverage does, the first up to 63 bytes before the hull, where
  // nothing is locked.
  int64_t at = window.begin + align_down(hull.begin - window.begin, Coverage::kWordBytes);
  for (; at < hull.end; at += kOldBytes) {
    const ByteRange step{at, std::min(at + kOldBytes, hull.end)};
    const int64_t before_bytes = std::max<int64_t>(hull.begin - step.begin, 0);
    storage::ReadSegment segment{step.begin + before_bytes, old.data() + before_bytes, step.size() - before_bytes};
    STRIA_ASSIGN_OR_RETURN(int64_t read_bytes, context_.file->read(std::span(&segment, 1)));
    STRIA_CHECK(0 <= read_bytes && read_bytes <= segment.bytes, read_bytes, segment.bytes);
    std::memset(segment.data + read_bytes, 0, static_cast<size_t>(segment.bytes - read_bytes));
    std::memset(old.data(), 0, static_cast<size_t>(before_bytes));
    coverage.fill_gaps(step, old.data(), base + (step.begin - window.begin));
  }
  storage::WriteSegment changed{hull.begin, base + (hull.begin - window.begin), hull.size()};
  return context_.file->write(std::span(&changed, 1));
}

// Splits off the aligned middle, which direct I/O can take. A full list is written at once.
Status WindowWriter::add_segment(ByteRange range, const std::byte* data) {
  auto add = [&](std::vector<storage::WriteSegment>& segments, storage::File* file, ByteRange part) -> Status {
    if (part.empty()) {
      return Status();
    }
    segments.push_back({part.begin, data + (part.begin - range.begin), part.size()});
    if (segments.size() < kMostSegments) {
      return Status();
    }
    return write_now(*file, segments);
  };
  int64_t unit = direct_file_ != nullptr ? direct_file_->capabilities().direct_align_bytes : 0;
  ByteRange middle = unit > 0 ? ByteRange{align_up(range.begin, unit), align_down(range.end, unit)} : ByteRange{};
  if (middle.empty()) {
    return add(cached_, context_.file, range);
  }
  STRIA_RETURN_IF_ERROR(add(cached_, context_.file, {range.begin, middle.begin}));
  STRIA_RETURN_IF_ERROR(add(direct_, direct_file_, middle));
  return add(cached_, context_.file, {middle.end, range.end});
}

Status WindowWriter::finish() {
  PhaseTimer timer(context_.times, Phase::kWrite);
  for (auto* pending : {&direct_pending_, &cached_pending_}) {
    if (*pending != nullptr) {
      status_.update((*pending)->wait());
      pending->reset();
    }
  }
  cached_.clear();
  direct_.clear();
  return std::exchange(status_, Status());
}

}  // namespace stria::access
