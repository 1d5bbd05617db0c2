#include "storage/lists/runs.hpp"

#include <limits.h>

#include <algorithm>

namespace stria::storage {

namespace {

constexpr size_t kMaxPieces = IOV_MAX;

/// Appends `bytes` at `memory` to the last run; joins them with its last piece where memory is
/// consecutive too.
void extend_last_run(RunList& list, void* memory, int64_t bytes) {
  Run& run = list.runs.back();
  iovec& last = list.pieces.back();
  if (static_cast<std::byte*>(last.iov_base) + last.iov_len == memory) {
    last.iov_len += static_cast<size_t>(bytes);
  } else {
    list.pieces.push_back({memory, static_cast<size_t>(bytes)});
    ++run.piece_count;
  }
  run.bytes += bytes;
}

void add_segment(RunList& list, int64_t offset, std::byte* memory, int64_t bytes, int64_t largest_run_bytes) {
  while (bytes > 0) {
    const Run* last = list.runs.empty() ? nullptr : &list.runs.back();
    const bool joins = last != nullptr && last->offset + last->bytes == offset && last->piece_count < kMaxPieces &&
                       last->bytes < largest_run_bytes;
    const int64_t now = std::min(bytes, joins ? largest_run_bytes - last->bytes : largest_run_bytes);
    if (joins) {
      extend_last_run(list, memory, now);
    } else {
      list.runs.push_back({offset, now, list.pieces.size(), 1});
      list.pieces.push_back({memory, static_cast<size_t>(now)});
    }
    offset += now;
    memory += now;
    bytes -= now;
  }
}

template <typename Segment>
RunList make_sorted_runs(std::span<const Segment> segments, int64_t largest_run_bytes) {
  const auto by_offset = [](const Segment& a, const Segment& b) { return a.offset < b.offset; };
  std::vector<Segment> sorted;
  if (!std::is_sorted(segments.begin(), segments.end(), by_offset)) {
    sorted.assign(segments.begin(), segments.end());
    std::stable_sort(sorted.begin(), sorted.end(), by_offset);
    segments = sorted;
  }
  RunList list;
  list.pieces.reserve(segments.size());
  for (const Segment& segment : segments) {
    // A write only reads what an iovec points to; the type is not const-correct.
    add_segment(list, segment.offset, const_cast<std::byte*>(segment.data), segment.bytes, largest_run_bytes);
  }
  return list;
}

}  // namespace

RunList make_runs(std::span<const WriteSegment> segments, int64_t largest_run_bytes) {
  return make_sorted_runs(segments, largest_run_bytes);
}

RunList make_runs(std::span<const ReadSegment> segments, int64_t largest_run_bytes) {
  return make_sorted_runs(segments, largest_run_bytes);
}

std::span<iovec> skip_bytes(std::span<iovec> pieces, int64_t bytes) {
  size_t skip = static_cast<size_t>(bytes);
  while (!pieces.empty() && skip >= pieces.front().iov_len) {
    skip -= pieces.front().iov_len;
    pieces = pieces.subspan(1);
  }
  if (!pieces.empty()) {
    pieces.front().iov_base = static_cast<std::byte*>(pieces.front().iov_base) + skip;
    pieces.front().iov_len -= skip;
  }
  return pieces;
}

std::span<iovec> cut_to(std::span<iovec> pieces, int64_t bytes) {
  size_t left = static_cast<size_t>(bytes);
  size_t count = 0;
  while (count < pieces.size() && left > 0) {
    pieces[count].iov_len = std::min(pieces[count].iov_len, left);
    left -= pieces[count++].iov_len;
  }
  return pieces.first(count);
}

}  // namespace stria::storage
