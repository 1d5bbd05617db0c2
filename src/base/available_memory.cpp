#include "base/available_memory.hpp"

#include <fstream>
#include <limits>
#include <string>

namespace stria {

int64_t available_memory() {
  std::ifstream meminfo("/proc/meminfo");
  std::string word;
  while (meminfo >> word) {
    int64_t kibibytes = 0;
    if (word == "MemAvailable:" && meminfo >> kibibytes) {
      return kibibytes * 1024;
    }
  }
  return std::numeric_limits<int64_t>::max();
}

}  // namespace stria
