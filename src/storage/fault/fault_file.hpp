// A file with faults, wrapped around a real one.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "storage/driver.hpp"
#include "storage/fault/fault_script.hpp"
#include "storage/posix/calls/system_calls.hpp"

namespace stria::storage {

class FaultFile : public File {
 public:
  FaultFile(std::unique_ptr<File> file, std::shared_ptr<FaultScript> script, std::shared_ptr<SystemCalls> calls);

  const std::string& path() const override { return file_->path(); }
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<Identity> identity() override { return file_->identity(); }
  const File& plain() const override { return file_->plain(); }
  Status write(std::span<const WriteSegment> segments) override;
  std::unique_ptr<PendingWrite> start_write(std::span<const WriteSegment> segments) override;
  Result<int64_t> read(std::span<const ReadSegment> segments) override;
  void will_read(ByteRange range) override { file_->will_read(range); }
  Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode) override;
  Result<std::unique_ptr<RangeLock>> try_lock(ByteRange range, LockMode mode) override;
  Result<bool> is_locked_elsewhere(ByteRange range) override { return file_->is_locked_elsewhere(range); }
  Result<std::unique_ptr<RangeLock>> own() override;
  Status refresh(ByteRange range) override { return file_->refresh(range); }
  Status hand_over(ByteRange range) override { return file_->hand_over(range); }
  Result<int64_t> size() override;
  Status resize(int64_t bytes) override;
  Status preallocate(int64_t bytes) override;
  Status sync() override;
  Status close() override;

 private:
  Status decide(Operation operation) const;
  /// Decides about a write of several segments as one operation. Returns the segments to write, and
  /// the outcome to report after that.
  std::pair<std::vector<WriteSegment>, Status> admit(std::span<const WriteSegment> segments);

  std::shared_ptr<SystemCalls> calls_;  ///< beneath `file_`
  std::unique_ptr<File> file_;
  Capabilities capabilities_;
  std::shared_ptr<FaultScript> script_;
};

}  // namespace stria::storage
