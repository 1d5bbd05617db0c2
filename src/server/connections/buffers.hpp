// The memory in which data stand between a socket and a file: so many buffers for all connections
// together, kept for the next.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "wire/frame.hpp"

namespace stria::server {

/// Thread-safe.
class Buffers {
 public:
  explicit Buffers(size_t most) : left_(most) {}

  class Lease;
  /// `count` buffers at once, or none when there are not so many: who waits for more must hold
  /// none.
  Lease take(size_t count);

 private:
  friend class Lease;
  using Memory = std::unique_ptr<std::byte[]>;
  std::mutex mutex_;
  size_t left_;
  std::vector<Memory> idle_;
};

/// Gives its buffers back.
class Buffers::Lease {
 public:
  Lease() = default;
  Lease(Buffers* from, std::vector<Memory> memory) : from_(from), memory_(std::move(memory)) {}
  Lease(Lease&& other) noexcept : from_(other.from_), memory_(std::move(other.memory_)) { other.memory_.clear(); }
  Lease& operator=(Lease&& other) noexcept {
    std::swap(from_, other.from_);
    memory_.swap(other.memory_);
    return *this;
  }
  ~Lease() {
    if (!memory_.empty()) {
      const std::lock_guard lock(from_->mutex_);
      from_->left_ += memory_.size();
      for (Memory& memory : memory_) {
        from_->idle_.push_back(std::move(memory));
      }
    }
  }
  bool empty() const { return memory_.empty(); }
  /// wire::kMaxPayloadBytes of them.
  std::byte* data() { return memory_.front().get(); }

 private:
  Buffers* from_ = nullptr;
  std::vector<Memory> memory_;
};

inline Buffers::Lease Buffers::take(size_t count) {
  const std::lock_guard lock(mutex_);
  if (count > left_) {
    return {};
  }
  std::vector<Memory> memory;
  for (size_t i = 0; i < count; ++i) {
    if (idle_.empty()) {
      memory.push_back(std::make_unique_for_overwrite<std::byte[]>(wire::kMaxPayloadBytes));
    } else {
      memory.push_back(std::move(idle_.back()));
      idle_.pop_back();
    }
  }
  left_ -= count;
  return Lease(this, std::move(memory));
}

}  // namespace stria::server
