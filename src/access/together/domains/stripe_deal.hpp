// Deals the stripes of a file to the aggregators, so that each of them talks to as few
// servers as possible.
//
// Problem: with contiguous file domains, every aggregator uses every server, and the servers' locks
// go from hand to hand. With one stripe per round, only a little is under way.
// Method: the stripes of one server are dealt in turn to the aggregators of that server, of which
// there may be several. Where there are fewer stripes than aggregators, a stripe is cut into
// blocks. An aggregator gets a sequence of blocks; a round takes as many of them as fit.
// Cost: O(1) memory, and O(1) time per block; nothing is listed.
#pragma once

#include <cstdint>

#include "base/byte_range.hpp"

namespace stria::access {

class StripeDeal {
 public:
  /// \pre aggregators, stripe_bytes and stripe_count are positive
  StripeDeal(ByteRange hull, int aggregators, int64_t stripe_bytes, int stripe_count);

  int64_t block_bytes() const { return block_bytes_; }
  /// Blocks of the aggregator that hold bytes of the hull.
  int64_t block_count(int aggregator) const;
  /// Returns its `number`-th block, as it lies in the file, not cut to the hull. \pre 0 <= number <
  /// block_count(aggregator)
  ByteRange block(int aggregator, int64_t number) const;
  /// True when a block of the aggregator holds bytes of `range`. \pre range lies in the hull
  bool meets(int aggregator, ByteRange range) const;

 private:
  struct Turns {  // the turns of an aggregator within its server's sequence of blocks
    int64_t first = 0;
    int64_t count = 0;
  };
  Turns turns(int aggregator, ByteRange range) const;
  /// Returns the number, in the server's sequence of blocks, of its first block at or after the
  /// file's block `file_block`.
  int64_t first_of_server(int server, int64_t file_block) const;

  ByteRange hull_;
  int64_t block_bytes_;
  int64_t blocks_a_stripe_ = 1;
  int servers_;               // or groups of servers, where there are fewer aggregators
  int aggregators_a_server_;  // turns of an aggregator come so many blocks apart
};

}  // namespace stria::access
