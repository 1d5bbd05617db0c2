// Memory that a test shares with the processes that it forks, as ranks of a node share theirs.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace stria::storage {

class SharedMemory {
 public:
  explicit SharedMemory(int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    memory_ = static_cast<std::byte*>(memory);
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { munmap(memory_, bytes_); }
  std::byte* get() const { return memory_; }

 private:
  size_t bytes_;
  std::byte* memory_;
};

}  // namespace stria::storage
