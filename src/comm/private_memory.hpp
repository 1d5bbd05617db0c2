// Page-aligned memory of one process, for communicators whose ranks are all in one process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "stria/status.hpp"

namespace stria {

/// Holds pages from the system; the destructor gives them back. Movable only.
class PrivateMemory {
 public:
  /// Allocates `bytes`, zero or more; kResourceExhausted when the system has no more.
  static Result<PrivateMemory> allocate(int64_t bytes);
  PrivateMemory() = default;
  PrivateMemory(PrivateMemory&& other) noexcept;
  PrivateMemory& operator=(PrivateMemory&& other) noexcept;
  ~PrivateMemory();
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace stria
