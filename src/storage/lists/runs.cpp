#include "storage/lists/runs.hpp"

#include <limits.h>

#include <algorithm>

#include "base/check.hpp"

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

// A run's bytes are those of its pieces, and no run begins before the one in front of it.
[[maybe_unused]] bool is_well_formed(const RunList& list) {
  size_t next_piece = 0;
  int64_t begin = 0;
  for (const Run& run : list.runs) {
    int64_t bytes = 0;
    for (size_t i = 0; i < run.piece_count; ++i) {
      bytes += static_cast<int64_t>(list.pieces[run.first_piece + i].iov_len);
    }
    if (run.first_piece != next_piece || run.piece_count > kMaxPieces || bytes != run.bytes || run.offset < begin) {
      return false;
    }
    next_piece += run.piece_count;
    begin = run.offset;
  }
  return next_piece == list.pieces.size();
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
    // iovec is not const-correct: a write only reads what it points to.
    STRIA_ASSERT(segment.offset >= 0 && segment.bytes >= 0, segment.offset, segment.bytes);
    add_segment(list, segment.offset, const_cast<std::byte*>(segment.data), segment.bytes, largest_run_bytes);
  }
  STRIA_ASSERT(is_well_formed(list), list.runs.size(), list.pieces.size());
  return list;
}

}  // namespace

RunList make_runs(std::span<const WriteSegment> segments, int64_t largest_run_bytes) {
  STRIA_CHECK(largest_run_bytes > 0, largest_run_bytes);
  return make_sorted_runs(segments, largest_run_bytes);
}

RunList make_runs(std::span<const ReadSegment> segments, int64_t largest_run_bytes) {
  STRIA_CHECK(largest_run_bytes > 0, largest_run_bytes);
  return make_sorted_runs(segments, largest_run_bytes);
}

std::span<iovec> skip_bytes(std::span<iovec> pieces, int64_t bytes) {
  STRIA_CHECK(bytes >= 0, bytes);
  size_t skip = static_cast<size_t>(bytes);
  while (!pieces.empty() && skip >= pieces.front().iov_len) {
    skip -= pieces.front().iov_len;
    pieces = pieces.subspan(1);
  }
  STRIA_CHECK(skip == 0 || !pieces.empty(), bytes, skip);  // else a call moved more than given
  if (!pieces.empty()) {
    pieces.front().iov_base = static_cast<std::byte*>(pieces.front().iov_base) + skip;
    pieces.front().iov_len -= skip;
  }
  return pieces;
}

std::span<iovec> cut_to(std::span<iovec> pieces, int64_t bytes) {
  STRIA_CHECK(bytes >= 0, bytes);
  size_t left = static_cast<size_t>(bytes);
  size_t count = 0;
  while (count < pieces.size() && left > 0) {
    pieces[count].iov_len = std::min(pieces[count].iov_len, left);
    left -= pieces[count++].iov_len;
  }
  return pieces.first(count);
}

}  // namespace stria::storage
