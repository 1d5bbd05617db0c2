// A file of the operating system's own.
//
// Problem: lists of ranges, of which a system call takes only neighbours, and calls that stop half-way.
// Method: segments sorted, neighbours joined into vectored calls, interrupted and short calls continued; start_write() hands
// the list to a thread of the file's own. On tmpfs long stretches of new files are inserted as pages, which no other writer has
// to wait for (page_inserter.hpp). Cost: one system call a run of neighbours (up to 1,024 pieces), or a stretch of pages.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "storage/driver.hpp"
#include "storage/posix/page_inserter.hpp"
#include "storage/posix/runs.hpp"
#include "storage/posix/system_calls.hpp"
#include "storage/posix/write_queue.hpp"

namespace stria::storage {

class PosixFile : public File {
 public:
  /// Opens as asked, the lock taken before anything is cut.
  static Result<std::unique_ptr<PosixFile>> open(SystemCalls& calls, const std::string& path, const OpenOptions& options);
  /// Opens what `other` has open, whatever its name means by now.
  static Result<std::unique_ptr<PosixFile>> open_again(SystemCalls& calls, const File& other, const OpenOptions& options);

  PosixFile(SystemCalls& calls, std::string path, int descriptor, const OpenOptions& options);
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;
  ~PosixFile() override;

  const std::string& path() const override { return path_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<Identity> identity() override;
  Status write(std::span<const WriteSegment> segments) override;
  std::unique_ptr<PendingWrite> start_write(std::span<const WriteSegment> segments) override;
  std::unique_ptr<PendingWrite> start_locked_write(std::span<const WriteSegment> segments, const LockTaker& take) override;
  Result<int64_t> read(std::span<const ReadSegment> segments) override;
  /// By a lock of the open file description, which excludes other handles of this process as well. What the program itself has
  /// locked in the usual way, against all other processes, is not waited for.
  Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode) override;
  Result<std::unique_ptr<RangeLock>> try_lock(ByteRange range, LockMode mode) override;
  Result<bool> is_locked_elsewhere(ByteRange range) override;
  /// By a lease.
  Result<std::unique_ptr<RangeLock>> own() override;
  Status refresh(ByteRange range) override;
  Status hand_over(ByteRange range) override;
  Result<int64_t> size() override;
  Status resize(int64_t bytes) override;
  Status preallocate(int64_t bytes) override;
  Status sync() override;
  Status close() override;

  bool direct() const { return direct_; }
  int descriptor() const { return descriptor_; }
  /// A path to the open file in this process, which lasts as long as the handle: path() may mean another file by now.
  std::string own_path() const;
  /// Has the node send no byte beside those that are written, as long as this handle is open (sends_whole_pages()).
  Status keep_to_bytes();
  void unlock(ByteRange range) const;
  void disown() const;
  SystemCalls& calls() const { return calls_; }
  /// Writes one run of neighbours to its end.
  Status write_run(const Run& run, std::span<iovec> pieces);
  /// Reads one run up to its end or the file's; returns the bytes read.
  Result<int64_t> read_run(const Run& run, std::span<iovec> pieces);
  /// True when direct I/O can read the run and all of it lies in the file: past the end, direct I/O overwrites the buffer with
  /// zeros.
  bool can_read_directly(const Run& run, std::span<const iovec> pieces, int64_t file_bytes) const;
  /// The error of a transfer: operation, file, place, reason and, where it is the likely cause, the alignment that direct I/O
  /// needs.
  Status transfer_error(const char* operation, int64_t offset, int64_t bytes, int error_number) const;

 private:
  Status write_plainly(int64_t offset, std::span<iovec> pieces);
  Status write_by_pages(int64_t offset, std::span<iovec> pieces);
  Result<int64_t> insert_pages(int64_t offset, const std::byte* data, int64_t bytes);
  Status extend_to(int64_t end, iovec& last_piece);
  Result<int64_t> read_runs(RunList list);
  Result<int64_t> read_run_from(int descriptor, const Run& run, std::span<iovec> pieces);
  Result<int64_t> read_run_directly_or_not(const Run& run, std::span<iovec> pieces);
  Status error(const char* operation, int error_number) const;
  Status lock_error(ByteRange range, int error_number) const;
  std::unique_ptr<PendingWrite> queue(std::function<Status()> job);

  SystemCalls& calls_;
  std::string path_;
  int descriptor_;
  int cached_descriptor_ = -1;  ///< of a direct file: for reads that direct I/O can't do; opened by the first of them
  bool direct_;
  Capabilities capabilities_;
  std::unique_ptr<RangeLock> bytes_only_;   ///< keep_to_bytes()'s
  std::unique_ptr<PageInserter> inserter_;  ///< where the file system takes whole pages
  std::atomic<int64_t> least_size_ = 0;     ///< the file was seen to have so many bytes
  std::unique_ptr<WriteQueue> queue_;       ///< made by the first start_write()
};

}  // namespace stria::storage
