// Small writes and reads of one rank, gathered into few requests.
//
// Problem: on storage behind a network a request of 1 KiB takes as long as one of 64 KiB. Programs
// that write record by record wait for a round trip each time.
// Method: what is written stays in pages, each with the exact ranges that were written, until there
// are enough of them, somebody must see the bytes, or the program syncs. All pages then go as one
// list. No byte is ever written that the program hasn't written, so that writers of other bytes of
// a page lose nothing. Reads that follow each other fetch a window ahead, twice as long each time.
// Where ranks of a node share pages (collecting_pages.hpp), what a write doesn't follow goes there.
// Only a rank with a stretch of its own makes lists of its own.
// Invariant: of the bytes that this rank has in both, those in its own pages are the newer ones. A
// window has what this rank would read from the storage if its pages had been written.
// Cost: one copy of each byte; memory up to a limit; other ranks see writes later (write_out()),
// and this rank sees theirs later (forget()).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/byte_range.hpp"
#include "storage/driver.hpp"
#include "storage/small/collecting_pages.hpp"
#include "storage/small/fetched_pages.hpp"

namespace stria::storage {

class SmallRequests {
 public:
  /// Accesses of more bytes go as they are where no option says otherwise: gathering them would
  /// only add a copy.
  static constexpr int64_t kLargestBytes = 32 << 10;
  /// Less memory isn't worth the trouble.
  static constexpr int64_t kLeastMemoryBytes = 256 << 10;

  struct Options {
    int64_t stripe_bytes = 0;  ///< pages divide it; 0: any pages
    int64_t memory_bytes = 0;  ///< the bytes of what is written; at least kLeastMemoryBytes
    int64_t largest_bytes = kLargestBytes;
    std::unique_ptr<FetchedPages> fetched{};  ///< null: reads ask the storage
    /// Called by the first read instead, where most files are never read: what `fetched` would be.
    std::function<std::unique_ptr<FetchedPages>()> make_fetched{};
    /// What the ranks of the node write together; null: each gathers alone.
    std::unique_ptr<CollectingPages> together{};
    std::function<Status(std::span<const WriteSegment>)> write;
    std::function<Result<int64_t>(std::span<const ReadSegment>)> read;
  };
  explicit SmallRequests(Options options);

  /// Keeps a copy of the bytes, or writes them. `late` becomes the error that older bytes met,
  /// which are lost; the result is that of these bytes.
  Status write(int64_t offset, std::span<const std::byte> data, Status& late);
  /// Reads as File::read() does; this rank's own writes are seen.
  Result<int64_t> read(int64_t offset, std::span<std::byte> data, Status& late);

  /// Writes all that is kept. What can't be written is lost, and the error tells.
  Status write_out();
  /// Makes reads ask the storage.
  void forget();
  /// Tells whether anything is kept that isn't written.
  bool keeps() const { return !pages_.empty() || (options_.together != nullptr && options_.together->keeps()); }
  /// Returns where the bytes end in the file that this rank keeps alone; 0: it keeps none.
  int64_t kept_end() const;
  /// Returns the memory that pages take now.
  int64_t memory_bytes() const { return static_cast<int64_t>(pages_.size() + spare_.size()) * page_bytes_; }

 private:
  struct Page {
    std::unique_ptr<std::byte[]> bytes;
    std::vector<ByteRange> written;  // ranges of the file; sorted, and none touches the next
  };
  using Pages = std::map<int64_t, Page>;
  enum class ShareOf { kPartial, kShared };

  bool has_room(ByteRange range) const;
  bool keep(int64_t offset, std::span<const std::byte> data);
  Page* page_at(int64_t index);
  bool have_part_of(ByteRange range) const;
  bool copy_written(ByteRange range, std::byte* data) const;
  void put_written_over(ByteRange range, std::byte* data) const;
  Result<int64_t> read_storage(ByteRange range, std::byte* data, Status& late);
  Result<int64_t> read_fetched(ByteRange range, std::byte* data, Status& late);
  Status write_own_out();
  bool share(ByteRange range, const std::byte* data, bool follows);
  void share_pages(ShareOf which);
  Pages::iterator recycle(Pages::iterator page);
  void put_together(int64_t index, const Page& page);
  bool is_shared(int64_t index) const;
  void note_late(Status& late);
  void begin_fetching_anew();
  void recycle_pages();

  Options options_;
  int64_t page_bytes_;
  int64_t most_pages_;
  Pages pages_;
  int64_t kept_bytes_ = 0;  // those of a place that is written twice count twice
  Page* last_page_ = nullptr;
  int64_t last_index_ = -1;
  int64_t last_end_ = -1;  // the end of the write before
  bool follows_ = true;    // whether that one began where another had ended
  std::vector<std::unique_ptr<std::byte[]>> spare_;
};

}  // namespace stria::storage
