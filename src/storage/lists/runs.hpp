// Makes few system calls of a list of segments: neighbours in the file become one vectored call.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/driver.hpp"

namespace stria::storage {

/// Describes consecutive bytes of the file, in pieces of memory.
struct Run {
  int64_t offset = 0;
  int64_t bytes = 0;
  size_t first_piece = 0;  ///< in RunList::pieces
  size_t piece_count = 0;
};

/// Runs in ascending order of offset, without empty segments.
struct RunList {
  std::vector<iovec> pieces;
  std::vector<Run> runs;
};

/// Sorts the segments by offset and joins those that touch, up to the number of pieces that one
/// call takes and to `largest_run_bytes` (a segment larger than that is cut). Overlapping segments
/// stay apart. O(n), or O(n log n) when the list isn't sorted. \pre largest_run_bytes > 0
RunList make_runs(std::span<const WriteSegment> segments, int64_t largest_run_bytes);
RunList make_runs(std::span<const ReadSegment> segments, int64_t largest_run_bytes);

/// Drops the first `bytes` from `pieces`, which a short call has moved already. Returns the
/// pieces that remain. \pre they have so many
std::span<iovec> skip_bytes(std::span<iovec> pieces, int64_t bytes);
/// Returns the pieces that hold the first `bytes`; the last of them is cut. \pre bytes >= 0
std::span<iovec> cut_to(std::span<iovec> pieces, int64_t bytes);

}  // namespace stria::storage
