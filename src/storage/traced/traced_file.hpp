// An open file whose requests are counted and recorded; see traced_driver.hpp.
#pragma once

#include <memory>

#include "storage/driver.hpp"
#include "trace/counters/file_counters.hpp"

namespace stria::storage {

class TracedFile final : public File {
 public:
  /// `id` is the recorder's number of the file for which requests count.
  TracedFile(std::unique_ptr<File> file, uint16_t id);
  ~TracedFile() override;

  const std::string& path() const override { return file_->path(); }
  const Capabilities& capabilities() const override { return file_->capabilities(); }
  Result<Identity> identity() override { return file_->identity(); }
  const File& plain() const override { return file_->plain(); }
  Status write(std::span<const WriteSegment> segments) override;
  std::unique_ptr<PendingWrite> start_write(std::span<const WriteSegment> segments) override;
  std::unique_ptr<PendingWrite> start_locked_write(std::span<const WriteSegment> segments, const LockTaker& take) override;
  Result<int64_t> read(std::span<const ReadSegment> segments) override;
  void will_read(ByteRange range) override { file_->will_read(range); }
  Status write_type(const TypeWindow& region, const std::byte* data) override;
  Result<int64_t> read_type(const TypeWindow& region, std::byte* data) override;
  Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode) override { return file_->lock(range, mode); }
  Result<std::unique_ptr<RangeLock>> try_lock(ByteRange range, LockMode mode) override { return file_->try_lock(range, mode); }
  Result<bool> is_locked_elsewhere(ByteRange range) override { return file_->is_locked_elsewhere(range); }
  Result<std::unique_ptr<RangeLock>> own() override { return file_->own(); }
  Status refresh(ByteRange range) override { return file_->refresh(range); }
  Status hand_over(ByteRange range) override { return file_->hand_over(range); }
  Result<int64_t> size() override { return file_->size(); }
  Status resize(int64_t bytes) override;
  Status preallocate(int64_t bytes) override;
  Status sync() override;
  Status close() override;

 private:
  template <typename Start>
  std::unique_ptr<PendingWrite> start(std::span<const WriteSegment> segments, Start&& start);
  void count_close();

  std::unique_ptr<File> file_;
  trace::FileCounters& counters_;
  uint16_t id_;
  bool closed_ = false;
};

}  // namespace stria::storage
