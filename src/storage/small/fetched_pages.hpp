// Pages of a file that the ranks of a node have fetched, in memory that they share.
//
// Problem: ranks that read small pieces of the same stripes each fetch the whole of them. A window
// of each rank's own carries every byte over the network once for each rank.
// Method: a table of pages, found by their number in the file. A rank that misses a page claims it
// and some that follow, and reads them in one list; ranks that want one of them meanwhile wait for
// it. A page never changes: it is what the storage had at a moment after its fetch began. A rank
// uses only pages whose fetch began after it last heard of other ranks, by the node's clock, so
// that no rank has to tell the others what it forgets.
// Invariant: a page that is being fetched is written by its fetcher alone, and gets no other place.
// Faults: the mutex outlives its holder. After a rank has died with it, the node shares no longer,
// and each rank reads for itself. Who waits for a fetch that doesn't end goes on by itself.
// Cost: one copy of each byte. Reads in the page of the one before take no mutex: they look at the
// page's version before and after.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/byte_range.hpp"
#include "storage/driver.hpp"

namespace stria::storage {

class FetchedPages {
 public:
  struct Shape {
    int64_t page_bytes = 0;  ///< a multiple of 4096
    int64_t page_count = 0;
  };
  /// Chooses pages that divide stripes of so many bytes (0: not known), and fit `memory_bytes`.
  static Shape shape_for(int64_t stripe_bytes, int64_t memory_bytes);
  /// Returns what they take in all.
  static int64_t memory_bytes(Shape shape);
  /// Makes an empty table. One rank calls it, before others use the memory. `memory` is aligned as
  /// the system's pages are.
  static void prepare(std::byte* memory, Shape shape);

  struct Options {
    std::byte* memory = nullptr;          ///< prepared
    std::shared_ptr<const void> owner{};  ///< keeps the memory
    int64_t most_window_bytes = 0;        ///< the longest stretch that is fetched at once
    /// What a read fetches that follows none before it; 0: only what it asks for.
    int64_t alone_bytes = 0;
    int64_t lifetime_ns = 0;  ///< older pages are fetched again; 0: none is too old
    std::function<Result<int64_t>(std::span<const ReadSegment>)> read;
  };
  explicit FetchedPages(Options options);
  FetchedPages(const FetchedPages&) = delete;
  FetchedPages& operator=(const FetchedPages&) = delete;
  ~FetchedPages();

  /// Reads as File::read() does, what the storage has or had since forget() or begin_anew().
  Result<int64_t> read(ByteRange range, std::byte* data);
  /// Makes reads give what the storage has by now; nothing is expected of the program.
  void forget();
  /// The same, but a program that reads on is still expected to do so.
  void begin_anew() { begins_anew_ = true; }

  /// Tells all of this process's files: it has heard of other ranks, and what they wrote before
  /// must be seen. Any thread may call this.
  static void note_order();

 private:
  struct State;
  struct Slot;
  /// A program that reads on from where it was.
  struct Stream {
    int64_t next = -1;  // where its next read is expected; -1: unused
    int64_t fetch_bytes = 0;
    uint64_t last_use = 0;
  };
  enum class Found { kAll, kEnd, kMissing, kComing };

  Slot* slots() const;
  int32_t* buckets() const;
  std::byte* page(int64_t slot) const;
  int32_t& bucket_of(int64_t index) const;
  int64_t find(int64_t index) const;
  bool is_fresh(const Slot& slot) const;
  bool read_again(ByteRange range, std::byte* data);
  void set_since();
  Found copy(ByteRange range, std::byte* data, int64_t& done, uint32_t& seen);
  Stream* stream_before(ByteRange range);
  int64_t window_bytes(ByteRange range);
  void note_read(ByteRange range);
  int64_t evict();
  void claim(int64_t first_index, int64_t count);
  Status fetch(int64_t first_index, int64_t count);
  void publish(const Result<int64_t>& got, int64_t first_index);
  Result<int64_t> read_rest(ByteRange range, std::byte* data, int64_t done);
  void give_up(int64_t index);

  Options options_;
  State* state_;
  bool begins_anew_ = false;
  int64_t since_ns_ = 0;    // pages whose fetch began no later aren't used
  int64_t last_slot_ = -1;  // from which a read was copied; -1: none
  std::array<Stream, 4> streams_;
  uint64_t uses_ = 0;
  std::vector<int64_t> claimed_;  // slots, in the order of their pages
};

}  // namespace stria::storage
