#include "storage/fault/fault_file.hpp"

#include <algorithm>
#include <utility>

#include "storage/messages.hpp"

namespace stria::storage {

namespace {

template <typename Segments>
std::vector<ByteRange> ranges_of(const Segments& segments) {
  std::vector<ByteRange> ranges;
  ranges.reserve(segments.size());
  for (const auto& segment : segments) {
    if (is_valid_segment(segment.offset, segment.bytes)) {
      ranges.push_back({segment.offset, segment.offset + segment.bytes});
    }
  }
  return ranges;
}

/// A write that does the part that the script allows, and then fails.
class FailingWrite : public PendingWrite {
 public:
  FailingWrite(std::unique_ptr<PendingWrite> part, Status outcome) : part_(std::move(part)), outcome_(std::move(outcome)) {}
  bool done() override { return part_->done(); }
  Status wait() override {
    STRIA_RETURN_IF_ERROR(part_->wait());
    return outcome_;
  }

 private:
  std::unique_ptr<PendingWrite> part_;
  Status outcome_;
};

}  // namespace

FaultFile::FaultFile(std::unique_ptr<File> file, std::shared_ptr<FaultScript> script, std::shared_ptr<SystemCalls> calls)
    : calls_(std::move(calls)), file_(std::move(file)), capabilities_(file_->capabilities()), script_(std::move(script)) {
  capabilities_.native_types = false;  // the script decides by ranges
}

Status FaultFile::decide(Operation operation) const {
  const FaultVerdict verdict = script_->decide(operation, {path()});
  return verdict.error_number == 0 ? Status()
                                   : Status::from_errno(verdict.error_number, describe(operation_name(operation), path()));
}

std::pair<std::vector<WriteSegment>, Status> FaultFile::admit(std::span<const WriteSegment> segments) {
  std::vector<WriteSegment> allowed(segments.begin(), segments.end());
  const FaultVerdict verdict = script_->decide(Operation::kWrite, {path(), ranges_of(segments)});
  if (verdict.error_number == 0) {
    return {std::move(allowed), Status()};
  }
  int64_t left = verdict.allowed_bytes;
  size_t kept = 0;
  while (kept < allowed.size() && allowed[kept].bytes <= left) {
    left -= allowed[kept].bytes;
    ++kept;
  }
  WriteSegment failed = kept < allowed.size() ? allowed[kept] : WriteSegment{};
  allowed.resize(kept);
  if (left > 0 && failed.bytes > left) {
    allowed.push_back({failed.offset, failed.data, left});
    failed.offset += left;
    failed.bytes -= left;
  }
  return {std::move(allowed), Status::from_errno(verdict.error_number, describe("write", path(), failed.offset, failed.bytes))};
}

Status FaultFile::write(std::span<const WriteSegment> segments) {
  const auto [allowed, outcome] = admit(segments);
  if (!allowed.empty() || outcome.ok()) {
    STRIA_RETURN_IF_ERROR(file_->write(allowed));
  }
  return outcome;
}

std::unique_ptr<PendingWrite> FaultFile::start_write(std::span<const WriteSegment> segments) {
  const auto [allowed, outcome] = admit(segments);
  std::unique_ptr<PendingWrite> part = file_->start_write(allowed);
  return outcome.ok() ? std::move(part) : std::make_unique<FailingWrite>(std::move(part), outcome);
}

Result<int64_t> FaultFile::read(std::span<const ReadSegment> segments) {
  const FaultVerdict verdict = script_->decide(Operation::kRead, {path(), ranges_of(segments)});
  if (verdict.error_number != 0) {
    const ReadSegment first = segments.empty() ? ReadSegment{} : segments.front();
    return Status::from_errno(verdict.error_number, describe("read", path(), first.offset, first.bytes));
  }
  return file_->read(segments);
}

Result<std::unique_ptr<RangeLock>> FaultFile::lock(ByteRange range, LockMode mode) {
  STRIA_RETURN_IF_ERROR(decide(Operation::kLock));
  return file_->lock(range, mode);
}

Result<std::unique_ptr<RangeLock>> FaultFile::try_lock(ByteRange range, LockMode mode) {
  STRIA_RETURN_IF_ERROR(decide(Operation::kLock));
  return file_->try_lock(range, mode);
}

Result<std::unique_ptr<RangeLock>> FaultFile::own() {
  STRIA_RETURN_IF_ERROR(decide(Operation::kLock));
  return file_->own();
}

Result<int64_t> FaultFile::size() {
  STRIA_RETURN_IF_ERROR(decide(Operation::kSize));
  return file_->size();
}

Status FaultFile::resize(int64_t bytes) {
  STRIA_RETURN_IF_ERROR(decide(Operation::kResize));
  return file_->resize(bytes);
}

Status FaultFile::preallocate(int64_t bytes) {
  STRIA_RETURN_IF_ERROR(decide(Operation::kPreallocate));
  return file_->preallocate(bytes);
}

Status FaultFile::sync() {
  STRIA_RETURN_IF_ERROR(decide(Operation::kSync));
  return file_->sync();
}

Status FaultFile::close() {
  const Status fault = decide(Operation::kClose);
  const Status closed = file_->close();  // a close that fails has closed the file nevertheless
  return fault.ok() ? closed : fault;
}

}  // namespace stria::storage
