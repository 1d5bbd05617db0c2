#include "lab/shared/peak_memory.hpp"

#include <malloc.h>

#include <fstream>
#include <string>

namespace stria::shared {

namespace {

// Returns an entry of /proc/self/status, or -1.
int64_t status_bytes(const std::string& entry) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    int64_t kibibytes = 0;
    if (word == entry && status >> kibibytes) {
      return kibibytes * 1024;
    }
  }
  return -1;
}

bool forget_peak() {
  std::ofstream clear("/proc/self/clear_refs");
  clear << "5";
  clear.close();
  return !clear.fail();
}

}  // namespace

PeakMemory::PeakMemory() {
  malloc_trim(0);  // freed memory that the allocator keeps would hide what is needed
  ground_bytes_ = status_bytes("VmRSS:");
  ground_file_bytes_ = status_bytes("RssFile:");
}

void PeakMemory::watch() {
  watching_ = forget_peak();
}

int64_t PeakMemory::growth_bytes() const {
  const int64_t peak_bytes = status_bytes("VmHWM:");
  const int64_t file_bytes = status_bytes("RssFile:");
  if (!watching_ || ground_bytes_ < 0 || peak_bytes < 0 || file_bytes < 0) {
    return -1;
  }
  return peak_bytes - ground_bytes_ - (file_bytes - ground_file_bytes_);
}

}  // namespace stria::shared
