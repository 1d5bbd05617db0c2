// The instructions that this process executes outside the kernel, on all its threads.
#pragma once

#include <cstdint>

namespace stria::bench {

class InstructionCounter {
 public:
  InstructionCounter();
  ~InstructionCounter();
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;
  /// Returns the number so far; -1 where the system doesn't count them.
  int64_t now() const;

 private:
  int descriptor_ = -1;
};

}  // namespace stria::bench
