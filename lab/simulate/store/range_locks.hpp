// Decides which client holds the lock of which bytes of a file, as managers of ranges do.
//
// Method: the first client of a stretch gets everything up to the next range that another one uses.
// A client that comes later takes what the holder hasn't used; where that one has, it must give up
// its range first. Ranges are rounded to the manager's unit.
// Cost: O(log ranges) for a request that conflicts with nobody.
#pragma once

#include <cstdint>
#include <map>

#include "base/byte_range.hpp"

namespace stria::simulate {

class RangeLocks {
 public:
  /// Says what a request costs the manager.
  struct Taken {
    int grants = 0;       ///< 0: the client holds the whole range already
    int revocations = 0;  ///< holders that had to give up some of theirs
    int flushes = 0;      ///< those of them that had used it
  };
  explicit RangeLocks(int64_t unit_bytes) : unit_bytes_(unit_bytes) {}
  /// `client` writes the range.
  Taken take(int client, ByteRange range);

 private:
  struct Held {
    int64_t end = 0;
    int64_t used_end = 0;
    int client = 0;
  };
  int64_t unit_bytes_;
  std::map<int64_t, Held> held_;  ///< by begin; they don't overlap
};

}  // namespace stria::simulate
