#include "storage/driver.hpp"

#include <utility>

#include "storage/messages.hpp"

namespace stria::storage {

namespace {

class FinishedWrite : public PendingWrite {
 public:
  explicit FinishedWrite(Status outcome) : outcome_(std::move(outcome)) {}
  bool done() override { return true; }
  Status wait() override { return std::move(outcome_); }

 private:
  Status outcome_;
};

}  // namespace

std::unique_ptr<PendingWrite> File::start_write(std::span<const WriteSegment> segments) {
  return std::make_unique<FinishedWrite>(write(segments));
}

Result<std::unique_ptr<RangeLock>> File::lock(ByteRange, LockMode) {
  return Status(ErrorCode::kUnsupported, describe("lock", path()) + ": this storage locks no ranges");
}

Result<std::unique_ptr<RangeLock>> File::own() {
  return Status(ErrorCode::kUnsupported, describe("own", path()) + ": this storage doesn't tell who has a file open");
}

}  // namespace stria::storage
