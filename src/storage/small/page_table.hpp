// The table of pages that the ranks of a node write together (collecting_pages.hpp), as it lies in
// memory that they share.
//
// Problem: any rank may be killed at any moment, and the others go on with what it leaves.
// Method: one robust mutex. What can't be derived is changed in an order in which every step leaves
// a table that is right: a page's bits and ranks are cleared before it is in use, bytes are there
// before their bits, a rank is noted before its bytes. Counts and chains are derived: after a rank
// has died with the mutex, the next one makes them anew.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/byte_range.hpp"
#include "comm/node_mutex.hpp"
#include "stria/status.hpp"

namespace stria::storage {

/// Says where the parts of a table lie, and what they are.
class PageMemory {
 public:
  struct Shape {
    int64_t page_bytes = 0;  ///< a multiple of 4096
    int64_t page_count = 0;
    int64_t ranks = 0;  ///< the ranks of the node
  };
  /// Chooses pages that divide stripes of so many bytes (0: not known), and fit `memory_bytes` with
  /// all that belongs to them.
  static Shape shape_for(int64_t stripe_bytes, int64_t memory_bytes, int64_t ranks);
  /// Returns what they take in all.
  static int64_t memory_bytes(Shape shape);
  enum class Use : uint8_t { kFree, kCollecting, kSending };
  struct Slot {
    std::atomic<Use> use{Use::kFree};
    std::atomic<int64_t> index{-1};  ///< the index of the page in the file
    int64_t sender = -1;             ///< the rank that sends it
    int64_t written_bytes = 0;
    uint64_t last_use = 0;
    int32_t next = -1;  ///< slot of the same bucket, or the next free one; -1: none
  };
  /// Says what is known of a rank.
  struct Rank {
    pthread_mutex_t sending{};      ///< robust; held while it sends pages
    std::atomic<int64_t> pages{0};  ///< with bytes of it
    std::atomic<uint64_t> sent{0};  ///< how many of them have been sent, by any rank
    std::atomic<int> error{0};      ///< an ErrorCode that its bytes have met
    ErrorReason reason = ErrorReason::kNone;
    char message[256]{};
  };

  int64_t page_bytes() const { return state_->shape.page_bytes; }
  int64_t page_count() const { return state_->shape.page_count; }
  int64_t rank_count() const { return state_->shape.ranks; }
  Rank& rank(int64_t which) const { return ranks_[which]; }
  Slot& slot(int64_t number) const { return slots_[number]; }
  /// Returns the bytes of a page; who sends it needs no mutex.
  std::byte* bytes(int64_t number) const { return pages_ + number * page_bytes(); }
  ByteRange range_of(int64_t number) const;

 protected:
  struct State {
    pthread_mutex_t mutex{};
    std::atomic<uint32_t> changes{0};
    std::atomic<int64_t> joint_pages{0};
    Shape shape{};
    // These are derived.
    int64_t whole_pages = 0;  // whole pages that collect
    int64_t first_free = -1;
    uint64_t uses = 0;
  };
  using Words = std::span<std::atomic<uint64_t>>;

  struct Layout;

  /// The memory holds a table.
  explicit PageMemory(std::byte* memory);
  int32_t& bucket_of(int64_t index) const;
  Words ranks_of(int64_t number) const;
  Words bits_of(int64_t number) const;

  State* state_;
  Rank* ranks_;
  Slot* slots_;
  std::atomic<uint64_t>* rank_words_;  // the words of each page, the ranks that have bytes in it
  std::atomic<uint64_t>* bit_words_;   // the words of each page, its bytes that were written
  int32_t* buckets_;
  std::byte* pages_;
};

class PageTable : public PageMemory {
 public:
  /// Makes an empty table. One rank calls it, before others use the memory. `memory` is aligned as
  /// the system's pages are.
  static void prepare(std::byte* memory, Shape shape);

  /// The memory has been prepared.
  explicit PageTable(std::byte* memory) : PageMemory(memory) {}

  /// Holds the mutex, which all below needs that says nothing else.
  class Lock {
   public:
    explicit Lock(const PageTable& table) : lock_(&table.state_->mutex, kTries) {
      if (lock_.owner_died()) {
        table.derive_anew();
      }
    }

   private:
    static constexpr int kTries = 100;  // a microsecond or two: a copy takes less

    RobustMutexLock lock_;
  };

  int64_t whole_pages() const { return state_->whole_pages; }
  /// Returns how many pages became whole by several ranks. Needs no mutex.
  int64_t joint_pages() const { return state_->joint_pages.load(std::memory_order_relaxed); }
  /// Another number after each page that became whole or was sent. Needs no mutex.
  std::atomic<uint32_t>& changes() const { return state_->changes; }
  /// Wakes those who wait for a change.
  void note_change() const;

  /// Returns the slot of a page that collects or is sent; -1: none.
  int64_t find(int64_t index) const;
  bool is_whole(int64_t number) const { return slot(number).written_bytes == page_bytes(); }
  bool has_bytes_of(int64_t number, int64_t which) const;

  /// Returns an empty page, which isn't there yet; -1: no place is free.
  int64_t begin_page(int64_t index);
  /// Forgets it, and tells the ranks that have bytes in it how that went.
  void end_page(int64_t number, const Status& sent);
  /// Adds bytes of a rank to a page that collects.
  void copy_in(int64_t number, int64_t which, ByteRange part, const std::byte* data);
  void begin_sending(int64_t number, int64_t sender);
  /// A rank that was to send pages has died: they collect again.
  void take_back_from(int64_t sender);

  /// Calls `visit` with each range of the file, in the part, that was written; who sends the page
  /// needs no mutex.
  void for_each_range(int64_t number, ByteRange part, const std::function<void(ByteRange)>& visit) const;
  /// Tells whether every byte of the part was written.
  bool has_all_of(int64_t number, ByteRange part) const;

 private:
  void derive_anew() const;
  void put_in_bucket(int64_t number) const;
  void note_rank(int64_t number, int64_t which) const;
  void note_whole(int64_t number, int64_t last) const;
  void tell_ranks(int64_t number, const Status& sent) const;
};

}  // namespace stria::storage
