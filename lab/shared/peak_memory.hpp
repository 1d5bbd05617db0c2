// Describes how much memory operations take: the peak of the process's resident memory above what
// it held before the first operation.
//
// Method: Linux keeps the peak of the resident set (VmHWM) and forgets it on request (proc(5),
// clear_refs). Memory that ranks share counts on every rank that touched it. Pages of program files
// do not count, because they only come.
// Cost: tens of microseconds, outside of what is timed.
#pragma once

#include <cstdint>

namespace stria::shared {

class PeakMemory {
 public:
  /// Measures growth from what is resident now.
  PeakMemory();
  /// Forgets the peak so far.
  void watch();
  /// Returns the bytes between that and the peak since watch(); -1 where the system doesn't tell.
  int64_t growth_bytes() const;

 private:
  int64_t ground_bytes_ = -1;
  int64_t ground_file_bytes_ = 0;
  bool watching_ = false;
};

}  // namespace stria::shared
