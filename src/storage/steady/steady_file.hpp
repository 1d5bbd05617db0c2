// A file that is read while it grows: its first sector stays as it was.
//
// Problem: who adds to a file writes behind its end, and then the first sector, which names the new
// end (docs/formats). A reader that looks at the sector several times, or at the file's size before
// the sector, may put old and new together: the file then seems to be cut short, or changed by
// another program.
// Method: the first sector is read once, when the file is opened, and every later read gives these
// bytes. The size is asked for later, so that all that the sector names is there. All other bytes
// that the sector names are never overwritten.
// Cost: one read of 512 bytes for each file that is opened.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "storage/driver.hpp"

namespace stria::storage {

class SteadyFile final : public File {
 public:
  /// What is written at once, to add to a file, lies here.
  static constexpr int64_t kHeadBytes = 512;

  /// Reads the head of a file that has just been opened.
  static Result<std::unique_ptr<SteadyFile>> open(std::unique_ptr<File> file);
  /// Is a handle on the same file elsewhere, which goes by the head that another rank has read.
  SteadyFile(std::unique_ptr<File> file, std::vector<std::byte> head) : file_(std::move(file)), head_(std::move(head)) {}

  /// Returns the first kHeadBytes of the file, or all that it has.
  const std::vector<std::byte>& head() const { return head_; }
  /// Tells whether the file has another head by now.
  bool has_another_head();

  const std::string& path() const override { return file_->path(); }
  const Capabilities& capabilities() const override { return file_->capabilities(); }
  Result<Identity> identity() override { return file_->identity(); }
  const File& plain() const override { return file_->plain(); }
  Status write(std::span<const WriteSegment> segments) override { return file_->write(segments); }
  Result<int64_t> read(std::span<const ReadSegment> segments) override;
  void will_read(ByteRange range) override { file_->will_read(range); }
  Result<int64_t> read_type(const TypeWindow& region, std::byte* data) override { return file_->read_type(region, data); }
  Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode) override { return file_->lock(range, mode); }
  Result<std::unique_ptr<RangeLock>> try_lock(ByteRange range, LockMode mode) override { return file_->try_lock(range, mode); }
  Result<bool> is_locked_elsewhere(ByteRange range) override { return file_->is_locked_elsewhere(range); }
  Status refresh(ByteRange range) override { return file_->refresh(range); }
  Result<int64_t> size() override { return file_->size(); }
  Status resize(int64_t bytes) override { return file_->resize(bytes); }
  Status preallocate(int64_t bytes) override { return file_->preallocate(bytes); }
  Status sync() override { return file_->sync(); }
  Status close() override { return file_->close(); }

 private:
  std::unique_ptr<File> file_;
  std::vector<std::byte> head_;
};

}  // namespace stria::storage
