// The ring into which a thread records, and the state of its open spans.
//
// One thread appends records; the thread that holds the recorder's lock takes them out. Neither
// waits for the other, unless the ring is full: then the appending thread drains it itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/check.hpp"
#include "trace/events/event.hpp"

namespace stria::trace {

class Recorder;

class Ring {
 public:
  static constexpr uint32_t kCapacity = 8192;  // in records; 384 KiB, so that it stays in the cache

  Ring(Recorder& recorder, uint32_t thread) : recorder_(recorder), thread_(thread) {}

  // The owning thread calls this.
  uint32_t new_id() {
    if (next_id_ == end_id_) {
      take_ids();
    }
    return next_id_++;
  }
  void append(const Record& record) {
    const uint32_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) == room_) {
      make_room();
    }
    records_[head % kCapacity] = record;
    head_.store(head + 1, std::memory_order_release);
  }
  uint32_t open_span = 0;   ///< id of the innermost open span
  uint16_t file = 0;        ///< the file of the call under way
  bool is_waiting = false;  ///< inside a WaitTimer

  // The thread that drains calls this.
  uint32_t thread() const { return thread_; }
  /// Calls `take` with each record, oldest first, and frees the room of each.
  template <typename Take>
  void drain(Take take) {
    const uint32_t head = head_.load(std::memory_order_acquire);
    uint32_t at = tail_.load(std::memory_order_relaxed);
    STRIA_ASSERT(head - at <= kCapacity, head, at);
    for (; at != head; ++at) {
      take(records_[at % kCapacity]);
    }
    tail_.store(head, std::memory_order_release);
  }

 private:
  void take_ids();
  void make_room();

  Recorder& recorder_;
  const uint32_t thread_;
  uint32_t next_id_ = 0;
  uint32_t end_id_ = 0;
  /// kCapacity once the memory is allocated; a thread without spans allocates none.
  uint32_t room_ = 0;
  std::unique_ptr<Record[]> records_;
  std::atomic<uint32_t> head_{0};
  std::atomic<uint32_t> tail_{0};
};

}  // namespace stria::trace
