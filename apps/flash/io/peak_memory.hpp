// How much memory operations take for themselves: the peak of the process's resident memory above
// what it held before the first.
//
// Method: Linux keeps the peak of the resident set (VmHWM) and forgets it on request (proc(5),
// clear_refs). Memory that ranks share counts on every rank that touched it; pages of program
// files, which only come, do not count.
// Cost: tens of microseconds, outside of what is timed.
#pragma once

#include <cstdint>

namespace stria::flash {

class PeakMemory {
 public:
  /// Takes what is resident now as the ground from which growth is measured.
  PeakMemory();
  /// Forgets the peak so far.
  void watch();
  /// Bytes between the ground and the peak since watch(); -1 where the system doesn't
  /// tell. \pre watch()
  int64_t growth_bytes() const;

 private:
  int64_t ground_bytes_ = -1;
  int64_t ground_file_bytes_ = 0;
  bool watching_ = false;
};

}  // namespace stria::flash
