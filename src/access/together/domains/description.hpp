// The file description that a rank sends to an aggregator: the file types of its streams in every
// lane, never a list of pieces.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "access/request/overlap.hpp"
#include "access/request/request.hpp"
#include "access/together/domains/file_domain.hpp"

namespace stria::access {

/// The streams of one lane, without what only their owner needs to know.
struct LaneDescription {
  /// \pre the streams come by increasing first offset
  LaneDescription(int number, std::vector<Stream> all);

  int lane;
  std::vector<Stream> streams;
  std::vector<ByteRange> hulls;  ///< the hulls of the streams
  std::vector<int64_t> reach;    ///< the highest offset after any byte of the streams up to here
};

/// Appends the streams of the named lanes to a message; equal file types are sent once. \pre
/// `chosen` ascends, and names lanes
void encode_description(std::span<const Lane> lanes, std::span<const int> chosen, std::vector<std::byte>& message);

/// Reads a message of encode_description. kFormat when it isn't one. `lane_count` bounds
/// the lane numbers.
Result<std::vector<LaneDescription>> decode_description(std::span<const std::byte> message, int lane_count);

/// Returns the number of entries of the lists in these streams' file types: what a description
/// holds besides a few numbers per stream.
int64_t list_entries(const LaneDescription& lane);

/// Appends the parts of the lane's streams within `window`, in the order of the streams. Cost:
/// O(log streams + streams near the window).
void overlaps(const LaneDescription& lane, ByteRange window, std::vector<Overlap>& out);

/// Appends the number of every window with the overlaps of the description with it. Returns the
/// bytes of all overlaps. \pre the description's lanes ascend
int64_t overlaps_in(std::span<const LaneDescription> description, std::span<const Window> windows,
                    std::vector<std::pair<size_t, Overlap>>& parts);

}  // namespace stria::access
