// Takes turns among the writers of one file on one node.
//
// Problem: the kernel lets one process at a time write to an inode's cached pages. Ranks that write and pack at their own pace fall into step: all wait for the
// inode's lock, spinning, then all pack while nobody writes. Method: a whole batch is written under an advisory lock, on which the others sleep, so that one
// rank's packing hides behind another's writing. An open-file-description lock on a byte far past any data: it needs no set-up, disturbs no other
// lock of the file, and goes with its holder. Cost: two system calls a batch.
#pragma once

#include "storage/posix/system_calls.hpp"

namespace stria::storage {

class WriterTurn {
 public:
  /// Waits for the turn when `wanted`. Where the file system has no such locks, everybody's turn is now.
  WriterTurn(SystemCalls& calls, int descriptor, bool wanted);
  ~WriterTurn();
  WriterTurn(const WriterTurn&) = delete;
  WriterTurn& operator=(const WriterTurn&) = delete;

 private:
  SystemCalls& calls_;
  int descriptor_;
  bool held_ = false;
};

}  // namespace stria::storage
