// A posix file with a ring.
#pragma once

#include <memory>

#include "storage/posix/posix_file.hpp"
#include "storage/uring/transfer_engine.hpp"

namespace stria::storage {

class UringFile : public File {
 public:
  explicit UringFile(std::unique_ptr<PosixFile> file) : file_(std::move(file)) {}

  UringFile(const UringFile&) = delete;
  UringFile& operator=(const UringFile&) = delete;
  /// Finishes what is under way while the descriptor is still open.
  ~UringFile() override;

  const std::string& path() const override { return file_->path(); }
  const Capabilities& capabilities() const override { return file_->capabilities(); }
  Result<Identity> identity() override { return file_->identity(); }
  const File& plain() const override { return file_->plain(); }
  Status write(std::span<const WriteSegment> segments) override;
  std::unique_ptr<PendingWrite> start_write(std::span<const WriteSegment> segments) override;
  Result<int64_t> read(std::span<const ReadSegment> segments) override { return file_->read(segments); }
  void will_read(ByteRange range) override { file_->will_read(range); }
  Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode) override { return file_->lock(range, mode); }
  Result<std::unique_ptr<RangeLock>> try_lock(ByteRange range, LockMode mode) override { return file_->try_lock(range, mode); }
  Result<bool> is_locked_elsewhere(ByteRange range) override { return file_->is_locked_elsewhere(range); }
  Result<std::unique_ptr<RangeLock>> own() override { return file_->own(); }
  Status refresh(ByteRange range) override { return file_->refresh(range); }
  Status hand_over(ByteRange range) override { return file_->hand_over(range); }
  Result<int64_t> size() override { return file_->size(); }
  Status resize(int64_t bytes) override { return file_->resize(bytes); }
  Status preallocate(int64_t bytes) override { return file_->preallocate(bytes); }
  Status sync() override { return file_->sync(); }
  Status close() override;

 private:
  bool has_engine();

  std::unique_ptr<PosixFile> file_;
  /// Shared with pending writes, which may outlive the file.
  std::shared_ptr<TransferEngine> engine_;
  bool tried_ = false;
};

}  // namespace stria::storage
