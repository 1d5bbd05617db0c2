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
  explicit Buffers(size_t most) : budget_(static_cast<int64_t>(most)) { idle_.reserve(most); }

  /// One unit is one buffer: the owner of a share of 1 may take one.
  Budget& budget() { return budget_; }
  const Budget& budget() const { return budget_; }

  class Lease;
  /// Who has a share takes one, and keeps the share as long as the buffer: take_idle() checks that
  /// there are more shares than buffers out.
  Lease take();

 private:
  using Memory = std::unique_ptr<std::byte[]>;
  Memory take_idle();

  Budget budget_;
  std::mutex mutex_;
  std::vector<Memory> idle_;
  int64_t out_ = 0;
};

/// Gives its buffer back.
class Buffers::Lease {
 public:
  /// Throws std::bad_alloc, and the buffer isn't out then.
  explicit Lease(Buffers& from) : Lease(from, from.take_idle()) {
    if (memory_ == nullptr) {
      memory_ = std::make_unique_for_overwrite<std::byte[]>(wire::kMaxPayloadBytes);
    }
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    const std::lock_guard lock(from_.mutex_);
    --from_.out_;
    if (memory_ != nullptr) {
      from_.idle_.push_back(std::move(memory_));
    }
  }
  /// Returns wire::kMaxPayloadBytes of them.
  std::byte* data() { return memory_.get(); }

 private:
  // Where the other constructor throws, the destructor follows, because this one is through.
  Lease(Buffers& from, Memory memory) : from_(from), memory_(std::move(memory)) {}

  Buffers& from_;
  Memory memory_;
};

inline Buffers::Lease Buffers::take() {
  return Lease(*this);
}

/// Counts one more that is out. Null: it is to be made.
inline Buffers::Memory Buffers::take_idle() {
  const std::lock_guard lock(mutex_);
  STRIA_CHECK(out_ < budget_.used(), out_, budget_.used());
  ++out_;
  if (idle_.empty()) {
    return nullptr;
  }
  Memory memory = std::move(idle_.back());
  idle_.pop_back();
  return memory;
}

}  // namespace stria::server
