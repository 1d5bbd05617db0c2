// Finds out whether an address leads to memory of this process at all.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace stria {

/// False for a byte that was never there, or was given back to the system: a large array that a
/// program has freed. Costs one system call.
inline bool is_mapped(const void* byte) noexcept {
  static const auto page_bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  const uintptr_t page = reinterpret_cast<uintptr_t>(byte) / page_bytes * page_bytes;
  return ::mincore(reinterpret_cast<void*>(page), page_bytes, &resident) == 0 || errno != ENOMEM;
}

}  // namespace stria
