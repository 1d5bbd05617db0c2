// Sees that one thread at a time uses a file: a call that comes while another thread is in one is
// told, before it has touched anything. It costs one atomic exchange a call, and never waits.
#pragma once

#include <atomic>
#include <thread>

#include "base/check.hpp"

namespace stria::file {

class OneThread {
 public:
  /// Lets this thread in. False: another thread is inside. A thread that is inside may enter again.
  bool enter() noexcept {
    const std::thread::id me = std::this_thread::get_id();
    if (inside_.load(std::memory_order_relaxed) != me) {
      std::thread::id nobody;
      if (!inside_.compare_exchange_strong(nobody, me, std::memory_order_acquire, std::memory_order_relaxed)) {
        return false;
      }
    }
    ++depth_;
    return true;
  }
  /// \pre this thread has entered
  void leave() noexcept {
    STRIA_ASSERT(inside_.load(std::memory_order_relaxed) == std::this_thread::get_id() && depth_ > 0, depth_);
    if (--depth_ == 0) {
      inside_.store(std::thread::id(), std::memory_order_release);
    }
  }
  /// Tells whether leave() would let other threads in. \pre this thread has entered
  bool is_last() const noexcept {
    STRIA_ASSERT(inside_.load(std::memory_order_relaxed) == std::this_thread::get_id() && depth_ > 0, depth_);
    return depth_ == 1;
  }
  /// Keeps that a call was turned away, for the next take_refusal().
  void note_refusal() noexcept { refused_.store(true, std::memory_order_relaxed); }
  bool take_refusal() noexcept {
    return refused_.load(std::memory_order_relaxed) && refused_.exchange(false, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::thread::id> inside_{};
  std::atomic<bool> refused_ = false;
  int depth_ = 0;  // the depth of the thread inside
};

}  // namespace stria::file
