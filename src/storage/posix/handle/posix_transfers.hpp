// Reading and writing of a posix file.
//
// Problem: a system call takes only ranges that are neighbours in the file, and it may stop
// half-way.
// Method: segments are sorted, neighbours are joined into vectored calls, and interrupted or short
// calls are continued. On tmpfs, long stretches of new files are inserted as pages, so that writers
// don't wait for each other (page_inserter.hpp).
// Cost: one system call for each run of neighbours (up to 1,024 pieces) or stretch of pages.
#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "storage/driver.hpp"
#include "storage/lists/runs.hpp"
#include "storage/posix/calls/page_inserter.hpp"
#include "storage/posix/handle/open_descriptor.hpp"

namespace stria::storage {

class PosixTransfers {
 public:
  /// The descriptor outlives this.
  explicit PosixTransfers(const OpenDescriptor& file);
  PosixTransfers(const PosixTransfers&) = delete;
  PosixTransfers& operator=(const PosixTransfers&) = delete;
  ~PosixTransfers();

  /// The functions may be called while another thread does the same.
  Status write(std::span<const WriteSegment> segments);
  Result<int64_t> read(std::span<const ReadSegment> segments);
  /// Ends them, before the descriptor is closed.
  void finish();

 private:
  Status write_run(const Run& run, std::span<iovec> pieces);
  Status write_plainly(int64_t offset, std::span<iovec> pieces);
  Status write_by_pages(int64_t offset, std::span<iovec> pieces);
  Result<int64_t> insert_pages(int64_t offset, const std::byte* data, int64_t bytes);
  Status write_last_page_first(int64_t end, iovec& last_piece);
  Result<int64_t> read_run(const Run& run, std::span<iovec> pieces);
  Result<int64_t> read_runs(RunList list);
  Result<int64_t> read_run_from(int descriptor, const Run& run, std::span<iovec> pieces);
  Result<int64_t> read_run_directly_or_not(const Run& run, std::span<iovec> pieces);
  /// True when direct I/O can read the run and all of the run lies in the file. Past the end,
  /// direct I/O would overwrite the buffer with zeros.
  bool can_read_directly(const Run& run, std::span<const iovec> pieces, int64_t file_bytes) const;

  const OpenDescriptor& file_;
  /// A direct file opens it by the first read that direct I/O can't do.
  int cached_descriptor_ = -1;
  std::unique_ptr<PageInserter> inserter_;  ///< null where the file system takes no whole pages
  std::atomic<int64_t> least_size_ = 0;     ///< the file is known to have this many bytes
};

}  // namespace stria::storage
