// A file that simulated ranks share under the worst schedules. Other ranks run between any
// two of its operations. It has its own range locks, so that a rank that waits for one lets
// the holder run.
#pragma once

#include <list>
#include <memory>
#include <utility>

#include "comm/comm.hpp"
#include "storage/driver.hpp"

namespace stria::access::test {

/// The range locks of all handles of one file.
struct LockTable {
  std::list<std::pair<ByteRange, storage::LockMode>> held;
};

class SharedFile : public storage::File {
 public:
  /// The file lets others run by `comm`. `native_list` replaces what the file says about itself.
  SharedFile(std::unique_ptr<storage::File> file, Comm& comm, LockTable& table, bool native_list);
  const std::string& path() const override { return file_->path(); }
  const storage::Capabilities& capabilities() const override { return capabilities_; }
  Status write(std::span<const storage::WriteSegment> segments) override;
  Result<int64_t> read(std::span<const storage::ReadSegment> segments) override;
  /// Storage that takes lists takes datatypes too: piece by piece, by write() and read().
  Status write_type(const storage::TypeWindow& region, const std::byte* data) override;
  Result<int64_t> read_type(const storage::TypeWindow& region, std::byte* data) override;
  Result<std::unique_ptr<storage::RangeLock>> lock(ByteRange range, storage::LockMode mode) override;
  Result<int64_t> size() override { return file_->size(); }
  Status resize(int64_t bytes) override { return file_->resize(bytes); }
  Status preallocate(int64_t bytes) override { return file_->preallocate(bytes); }
  Status sync() override { return file_->sync(); }
  Status close() override { return file_->close(); }

 private:
  void let_others_run();

  std::unique_ptr<storage::File> file_;
  Comm& comm_;
  LockTable& table_;
  storage::Capabilities capabilities_;
};

}  // namespace stria::access::test
