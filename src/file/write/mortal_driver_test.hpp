// Storage that takes no more after some bytes, for tests of kills, full disks and failing ones.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "storage/driver.hpp"

namespace stria::file::test {

/// Does what a program does to storage until it is killed, or the storage fails: `bytes_left` more
/// bytes, and all that comes after them fails. A write of the superblock is whole or not at all.
struct Life {
  int64_t bytes_left = 0;
  bool dead = false;
  int refused_superblocks = 0;        // so many writes of one fail, and nothing else does
  ErrorCode reason = ErrorCode::kIo;  // the reason of what fails
  int64_t failures_left = kForever;   // so many calls fail, and the next ones don't
  static constexpr int64_t kForever = int64_t{1} << 40;

  int64_t take(int64_t bytes) {
    const int64_t taken = dead ? 0 : std::min(bytes, bytes_left);
    bytes_left -= taken;
    dead = dead || taken < bytes;
    return taken;
  }
  Status status() {
    if (!dead) {
      return Status();
    }
    if (--failures_left == 0) {
      dead = false;
      bytes_left = kForever;
    }
    return Status(reason, "killed");
  }
};

class MortalFile final : public storage::File {
 public:
  MortalFile(std::unique_ptr<storage::File> file, Life& life, std::mutex& mutex)
      : file_(std::move(file)), life_(life), mutex_(mutex) {}
  const std::string& path() const override { return file_->path(); }
  const storage::Capabilities& capabilities() const override { return file_->capabilities(); }
  Result<storage::Identity> identity() override { return file_->identity(); }
  const storage::File& plain() const override { return *file_; }
  Status write(std::span<const storage::WriteSegment> segments) override {
    const std::lock_guard lock(mutex_);
    for (storage::WriteSegment segment : segments) {
      const bool is_superblock = segment.offset == 0;
      if (is_superblock && life_.refused_superblocks > 0) {
        --life_.refused_superblocks;
        return Status(ErrorCode::kIo, "refused");
      }
      const int64_t bytes = life_.take(segment.bytes);
      const bool torn = bytes < segment.bytes;
      segment.bytes = is_superblock && torn ? 0 : bytes;
      if (segment.bytes > 0) {
        STRIA_RETURN_IF_ERROR(file_->write(std::span(&segment, 1)));
      }
    }
    return life_.status();
  }
  Result<int64_t> read(std::span<const storage::ReadSegment> segments) override { return file_->read(segments); }
  Result<std::unique_ptr<storage::RangeLock>> try_lock(ByteRange range, storage::LockMode mode) override {
    return file_->try_lock(range, mode);
  }
  Result<int64_t> size() override { return file_->size(); }
  Status resize(int64_t bytes) override {
    const std::lock_guard lock(mutex_);
    return life_.take(1) == 1 ? file_->resize(bytes) : life_.status();
  }
  Status preallocate(int64_t) override { return Status(ErrorCode::kUnsupported, "no"); }
  Status sync() override {
    const std::lock_guard lock(mutex_);
    return life_.take(1) == 1 ? file_->sync() : life_.status();
  }
  Status close() override { return file_->close(); }

 private:
  std::unique_ptr<storage::File> file_;
  Life& life_;
  std::mutex& mutex_;
};

class MortalDriver final : public storage::Driver {
 public:
  MortalDriver(storage::Driver& driver, Life& life) : driver_(driver), life_(life) {}
  const char* name() const override { return driver_.name(); }
  Result<std::unique_ptr<storage::File>> open(const std::string& path, const storage::OpenOptions& options) override {
    STRIA_ASSIGN_OR_RETURN(auto file, driver_.open(path, options));
    return std::unique_ptr<storage::File>(std::make_unique<MortalFile>(std::move(file), life_, mutex_));
  }
  Result<std::unique_ptr<storage::File>> open_again(const storage::File&, const storage::OpenOptions&) override {
    return Status(ErrorCode::kUnsupported, "no");
  }
  Result<storage::Identity> identity(const std::string& path) override { return driver_.identity(path); }
  std::string follow_links(const std::string& path) override { return driver_.follow_links(path); }
  Result<storage::Destination> find_destination(const std::string& path) override { return driver_.find_destination(path); }
  Status rename(const std::string& from, const std::string& to) override { return driver_.rename(from, to); }
  Status remove(const std::string& path) override { return driver_.remove(path); }
  Result<bool> exists(const std::string& path) override { return driver_.exists(path); }
  Status sync_directory(const std::string& path) override { return driver_.sync_directory(path); }
  Result<std::vector<std::string>> list_directory(const std::string& directory) override {
    return driver_.list_directory(directory);
  }

 private:
  storage::Driver& driver_;
  Life& life_;
  std::mutex mutex_;  // a commit in the background has a thread
};

}  // namespace stria::file::test
