#include "comm/private_memory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <string>
#include <utility>

namespace stria {

Result<PrivateMemory> PrivateMemory::allocate(int64_t bytes) {
  if (bytes < 0) {
    return Status(ErrorCode::kInvalidArgument, "memory of " + std::to_string(bytes) + " bytes");
  }
  PrivateMemory memory;
  if (bytes > 0) {
    const size_t length = static_cast<size_t>(bytes);
    void* address = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
      return Status::from_errno(errno, "memory of " + std::to_string(bytes) + " bytes");
    }
    memory.bytes_ = {static_cast<std::byte*>(address), length};
  }
  return memory;
}

PrivateMemory::PrivateMemory(PrivateMemory&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

PrivateMemory& PrivateMemory::operator=(PrivateMemory&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

PrivateMemory::~PrivateMemory() {
  if (!bytes_.empty()) {
    munmap(bytes_.data(), bytes_.size());
  }
}

}  // namespace stria
