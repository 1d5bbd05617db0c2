#include "measure/instructions.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stria::bench {

InstructionCounter::InstructionCounter() {
  perf_event_attr what{};
  what.size = sizeof what;
  what.type = PERF_TYPE_HARDWARE;
  what.config = PERF_COUNT_HW_INSTRUCTIONS;
  what.exclude_kernel = 1;
  what.exclude_hv = 1;
  what.inherit = 1;
  descriptor_ = static_cast<int>(syscall(SYS_perf_event_open, &what, 0, -1, -1, 0));
}

InstructionCounter::~InstructionCounter() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

int64_t InstructionCounter::now() const {
  int64_t count = 0;
  return descriptor_ >= 0 && ::read(descriptor_, &count, sizeof count) == sizeof count ? count : -1;
}

}  // namespace stria::bench
