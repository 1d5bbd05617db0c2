// Pages of a file that the ranks of a node write together.
//
// Problem: ranks that write small pieces in turn along a file each send a list of their own pieces.
// Servers work for each piece, and no rank ever has two that touch.
// Method: a table of pages in memory that the ranks share (page_table.hpp). Pages that are whole
// wait until there are enough of them for a list. A rank that begins a page sends it, because such
// a rank is ahead of others. Where no place is free, and when a rank syncs, pages go as the ranges
// that were written; a rank waits a moment before, as long as others make pages whole.
// Invariant: a page that is being sent doesn't change, and who wants to write there waits.
// Faults: an error of a send is kept for every rank that has bytes in it. Who sends holds a mutex
// of its own, by which the others find out that it has died; they then send the same pages again.
// Cost: one copy of each byte, under one mutex of the node; an eighth of the memory for its bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/byte_range.hpp"
#include "storage/driver.hpp"
#include "storage/small/page_table.hpp"

namespace stria::storage {

class CollectingPages {
 public:
  struct Options {
    std::byte* memory = nullptr;          ///< a PageTable, prepared
    std::shared_ptr<const void> owner{};  ///< keeps the memory
    int64_t rank = 0;                     ///< this one, on its node
    std::function<Status(std::span<const WriteSegment>)> write;
  };
  explicit CollectingPages(Options options);

  /// Adds bytes of this rank. Sends pages where that is due, also with bytes of others.
  void put(int64_t offset, std::span<const std::byte> data);
  /// Returns when everything that this rank has put is in the storage, or has met an error.
  void write_out();
  /// Returns the first error that bytes of this rank have met since the last call; they are lost.
  Status take_error();

  /// Tells whether bytes of this rank are still here, or an error is still to be told.
  bool keeps() const;
  /// Tells whether pages with bytes of this rank have been sent since the last call, by any rank.
  bool were_sent();
  /// Tells whether bytes of this rank are in a page that has a part of the range.
  bool has_page_of(ByteRange range) const;
  /// Copies a range of which all is here, with bytes of this rank; false where not all is.
  bool copy_all(ByteRange range, std::byte* data) const;
  /// Puts what is here of a range over what the storage has there, in pages of this rank.
  void put_over(ByteRange range, std::byte* data) const;

 private:
  enum class Which { kWhole, kOwnWhole, kOwn, kOldest };
  /// Says what of this rank's isn't in the storage.
  struct Own {
    int64_t whole = 0;
    int64_t partial = 0;
    int64_t sender = -1;  // the sender of a page that is on its way; -1: none is
    uint32_t seen = 0;    // the table's changes when it was looked at
  };

  bool put_part(ByteRange part, const std::byte* data);
  void make_room(uint32_t seen);
  bool wait_for_others(uint32_t seen);
  void wait_for_sender(int64_t sender, uint32_t seen);
  Own own_pages() const;
  void choose(Which which);
  bool send(Which which);
  Status write_chosen();
  Status write_one_by_one();

  Options options_;
  PageTable table_;
  int64_t enough_pages_;         // for a list
  std::vector<int64_t> chosen_;  // pages that this rank sends
  uint64_t sent_seen_;
  int64_t joint_wanted_ = 0;  // so many pages must be joint before it waits for others
  int64_t joint_step_ = 1;    // so many more after a wait in vain
};

}  // namespace stria::storage
