// The memory for data between a socket and a file: a number of buffers for all connections
// together, which are kept for the next use.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "server/connections/resources/budget.hpp"
#include "wire/frame.hpp"

namespace stria::server {

/// This is thread-safe.
class Buffers {
 public:
  explicit Buffers(size_t most) : budget_(static_cast<int64_t>(most)) {}

  /// One unit is one buffer: the owner of a share of 1 may take one.
  Budget& budget() { return budget_; }
  const Budget& budget() const { return budget_; }

  class Lease;
  /// Who has a share takes one, and keeps the share as long as the buffer. \pre there are more
  /// shares than buffers out
  Lease take();

 private:
  using Memory = std::unique_ptr<std::byte[]>;
  Budget budget_;
  std::mutex mutex_;
  std::vector<Memory> idle_;
  int64_t out_ = 0;
};

/// Gives its buffer back.
class Buffers::Lease {
 public:
  Lease(Buffers& from, Memory memory) : from_(from), memory_(std::move(memory)) {}
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    const std::lock_guard lock(from_.mutex_);
    --from_.out_;
    from_.idle_.push_back(std::move(memory_));
  }
  /// Returns wire::kMaxPayloadBytes of them.
  std::byte* data() { return memory_.get(); }

 private:
  Buffers& from_;
  Memory memory_;
};

inline Buffers::Lease Buffers::take() {
  Memory memory;
  {
    const std::lock_guard lock(mutex_);
    STRIA_CHECK(out_ < budget_.used(), out_, budget_.used());
    if (!idle_.empty()) {
      memory = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (memory == nullptr) {
    memory = std::make_unique_for_overwrite<std::byte[]>(wire::kMaxPayloadBytes);
  }
  const std::lock_guard lock(mutex_);
  ++out_;
  return Lease(*this, std::move(memory));
}

}  // namespace stria::server
