// Regions: neighbouring pieces of a stream that travel in one request, with or without what
// lies between them.
//
// Problem: data sieving reads or writes everything between the first and the last piece of a
// window, and list I/O nothing of it. Where pieces lie close here and far apart there, each of them
// is wrong (Ching 2002, section 5, names a hybrid as future work).
// Method: pieces are walked once, and joined where moving the gap costs less than another request.
// The rule "always" gives data sieving, "touching" list I/O, and "never" one request per piece.
// Cost: O(1) for a row of equal pieces that is joined, else O(pieces); memory O(regions
// of one batch).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "access/request/request.hpp"
#include "datatype/cursor.hpp"

namespace stria::access {

/// Pieces of a stream that lie in `file`; the packed bytes [begin, end).
struct Region {
  ByteRange file;
  int64_t begin = 0;
  int64_t end = 0;
  int64_t pieces = 0;

  bool has_holes() const { return file.size() != end - begin; }
};

/// When two neighbours are joined.
struct JoinRule {
  enum class Kind { kNever, kTouching, kCheap, kAlways };
  Kind kind = Kind::kTouching;
  /// kCheap: what a request costs, in bytes that could be moved instead.
  int64_t request_bytes = 0;
  /// kCheap: the gap is read and written, and the next piece read as well.
  bool write = false;

  bool joins(int64_t gap_bytes, int64_t piece_bytes) const;
};

/// Says how much one batch may hold.
struct BatchLimits {
  int64_t packed_bytes = 0;  ///< wanted bytes
  int64_t window_bytes = 0;  ///< the bytes of all regions with holes together
  size_t regions = 1024;
};

/// Cuts [begin, end) of a stream's packed bytes into batches of regions.
class RegionWalker {
 public:
  /// \pre limits are positive
  RegionWalker(const Stream& stream, int64_t begin, int64_t end, const JoinRule& rule, const BatchLimits& limits);
  /// Replaces `regions` by those of the next batch, in file order. Returns false at the end.
  bool next(std::vector<Region>& regions);

 private:
  /// Adds the piece under the cursor, or its beginning, to the batch; false when there is no room.
  bool add(std::vector<Region>& regions);
  bool needs_new_window(std::span<const Region> regions, ByteRange piece) const;
  bool extend(Region& region, ByteRange piece);
  void extend_by_row(Region& region, const PieceRow& row);

  Cursor cursor_;
  int64_t skip_bytes_;
  int64_t end_;
  JoinRule rule_;
  BatchLimits limits_;
  int64_t position_;
  int64_t packed_left_ = 0;
  /// This is for regions with holes; the last region's part is not yet subtracted.
  int64_t window_left_ = 0;
};

}  // namespace stria::access
