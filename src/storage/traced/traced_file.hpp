// An open file whose requests are counted and recorded; see traced_driver.hpp.
#pragma once

#include <memory>

#include "storage/driver.hpp"
#include "trace/file_counters.hpp"

namespace stria::storage {

class TracedFile final : public File {
 public:
  /// `id` is the recorder's number of the file that requests count for.
  TracedFile(std::unique_ptr<File> file, uint16_t id);
  ~TracedFile() override;

  const std::string& path() const override { return file_->path(); }
  const Capabilities& capabilities() const override { return file_->capabilities(); }
  Status write(std::span<const WriteSegment> segments) override;
  std::unique_ptr<PendingWrite> start_write(std::span<const WriteSegment> segments) override;
  Result<int64_t> read(std::span<const ReadSegment> segments) override;
  Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode) override { return file_->lock(range, mode); }
  Result<std::unique_ptr<RangeLock>> own() override { return file_->own(); }
  Result<int64_t> size() override { return file_->size(); }
  Status resize(int64_t bytes) override;
  Status preallocate(int64_t bytes) override;
  Status sync() override;
  Status close() override;

 private:
  void count_close();

  std::unique_ptr<File> file_;
  trace::FileCounters& counters_;
  uint16_t id_;
  bool closed_ = false;
};

}  // namespace stria::storage
