// A file of the operating system.
//
// Problem: a system call takes only ranges that are neighbours in the file, and it may
// stop half-way.
// Method: segments are sorted, neighbours are joined into vectored calls, and interrupted or short
// calls are continued. start_write() hands the list to a thread of the file. On tmpfs, long
// stretches of new files are inserted as pages, so that writers don't wait for each other
// (page_inserter.hpp).
// Cost: one system call for each run of neighbours (up to 1,024 pieces) or stretch of pages.
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
  /// Opens as asked. A lock is taken before the file is truncated.
  static Result<std::unique_ptr<PosixFile>> open(SystemCalls& calls, const std::string& path, const OpenOptions& options);
  /// Opens the file that `other` has open, whatever its name means by now.
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
  /// Has the system read ahead what isn't in its cache yet.
  void will_read(ByteRange range) override;
  /// Takes a lock of the open file description, which excludes other handles of this process too.
  /// It doesn't wait for locks that this program holds in the usual way, per process.
  Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode) override;
  Result<std::unique_ptr<RangeLock>> try_lock(ByteRange range, LockMode mode) override;
  Result<bool> is_locked_elsewhere(ByteRange range) override;
  /// Takes a lease.
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
  /// A path by which this process reaches the open file as long as the handle lives; path() may
  /// mean another file by now.
  std::string own_path() const;
  /// Has the node send no byte beside those that are written, as long as this handle is open
  /// (sends_whole_pages()).
  Status keep_to_bytes();
  void unlock(ByteRange range) const;
  void disown() const;
  SystemCalls& calls() const { return calls_; }
  /// Writes one whole run of neighbours.
  Status write_run(const Run& run, std::span<iovec> pieces);
  /// Reads one run, to its end or that of the file; returns the bytes read.
  Result<int64_t> read_run(const Run& run, std::span<iovec> pieces);
  /// True when direct I/O can read the run and all of the run lies in the file. Past the end,
  /// direct I/O would overwrite the buffer with zeros.
  bool can_read_directly(const Run& run, std::span<const iovec> pieces, int64_t file_bytes) const;
  /// The error of a transfer: operation, file, place and reason. It names the alignment that direct
  /// I/O needs where that is the likely cause.
  Status transfer_error(const char* operation, int64_t offset, int64_t bytes, int error_number) const;

 private:
  Status write_plainly(int64_t offset, std::span<iovec> pieces);
  Status write_by_pages(int64_t offset, std::span<iovec> pieces);
  Result<int64_t> insert_pages(int64_t offset, const std::byte* data, int64_t bytes);
  Status write_last_page_first(int64_t end, iovec& last_piece);
  Result<int64_t> read_runs(RunList list);
  Result<int64_t> read_run_from(int descriptor, const Run& run, std::span<iovec> pieces);
  Result<int64_t> read_run_directly_or_not(const Run& run, std::span<iovec> pieces);
  Status error(const char* operation, int error_number) const;
  Status lock_error(ByteRange range, int error_number) const;
  std::unique_ptr<PendingWrite> queue(std::function<Status()> job);

  SystemCalls& calls_;
  std::string path_;
  int descriptor_;
  /// A direct file opens it by the first read that direct I/O can't do.
  int cached_descriptor_ = -1;
  bool direct_;
  Capabilities capabilities_;
  std::unique_ptr<RangeLock> bytes_only_;   ///< keep_to_bytes()'s
  std::unique_ptr<PageInserter> inserter_;  ///< null where the file system takes no whole pages
  std::atomic<int64_t> least_size_ = 0;     ///< the file is known to have this many bytes
  std::unique_ptr<WriteQueue> queue_;       ///< made by the first start_write()
};

}  // namespace stria::storage
