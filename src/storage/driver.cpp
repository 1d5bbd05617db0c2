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

std::unique_ptr<PendingWrite> File::start_locked_write(std::span<const WriteSegment> segments, const LockTaker& take) {
  const auto lock = take();
  return std::make_unique<FinishedWrite>(lock.ok() ? write(segments) : lock.status());
}

Status File::write_type(const TypeWindow&, const std::byte*) {
  return Status(ErrorCode::kUnsupported, describe("write", path()) + ": this storage takes no datatypes");
}

Result<int64_t> File::read_type(const TypeWindow&, std::byte*) {
  return Status(ErrorCode::kUnsupported, describe("read", path()) + ": this storage takes no datatypes");
}

Result<std::unique_ptr<RangeLock>> File::lock(ByteRange, LockMode) {
  return Status(ErrorCode::kUnsupported, describe("lock", path()) + ": this storage locks no ranges");
}

Result<Identity> File::identity() {
  return Status(ErrorCode::kUnsupported, describe("identity", path()) + ": this storage doesn't tell files apart");
}

Result<std::unique_ptr<RangeLock>> File::try_lock(ByteRange range, LockMode mode) {
  return File::lock(range, mode);
}

Result<bool> File::is_locked_elsewhere(ByteRange range) {
  return File::lock(range, LockMode::kExclusive).status();
}

Result<std::unique_ptr<RangeLock>> File::own() {
  return Status(ErrorCode::kUnsupported,
                describe("own", path()) + ": this storage doesn't tell which programs have a file open");
}

Result<NameInfo> Driver::name_info(const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(const bool is_there, exists(path));
  return is_there ? Result<NameInfo>(NameInfo()) : Status(ErrorCode::kNotFound, describe("look up", path) + ": no such file");
}

Result<Destination> Driver::find_destination(const std::string& path) {
  return Destination{.path = path};
}

Status Driver::make_link(const std::string& /*target*/, const std::string& path) {
  return Status(ErrorCode::kUnsupported, describe("make a link", path) + ": this storage has no links");
}

Status Driver::set_attributes(File&, const FileAttributes&) {
  return Status();
}

}  // namespace stria::storage
