#include "storage/striped/striped_file.hpp"

#include <cerrno>
#include <utility>

#include "storage/messages.hpp"
#include "storage/striped/transfer_run.hpp"
#include "wire/messages.hpp"

namespace stria::storage {

namespace {

// A server waits this long for a lock to become free; then it is asked again. So it never keeps a
// question for ever.
constexpr uint32_t kLockWaitMs = 2000;

}  // namespace

StripedFile::StripedFile(std::shared_ptr<Store> store, std::string path, const wire::Opened& opened, const Opening& opening)
    : store_(std::move(store)),
      path_(std::move(path)),
      opening_(opening),
      servers_(store_, opened, opening.handle),
      locks_(servers_) {
  capabilities_.stripe_bytes = servers_.layout().stripe_bytes;
  capabilities_.stripe_count = static_cast<int>(servers_.layout().slot_count);
  capabilities_.striped_as_told = true;
  capabilities_.native_list = true;
  capabilities_.native_types = true;
  capabilities_.node_local_cache = false;
  capabilities_.asynchronous = true;
}

StripedFile::~StripedFile() {
  if (open_) {
    static_cast<void>(close());
  }
}

Status StripedFile::check(const char* operation, bool writes) {
  if (!open_) {
    return closed_file(operation, path_);
  }
  if (writes && !opening_.writable) {
    return Status::from_errno(EBADF, describe(operation, path_));
  }
  return (writes ? locks_.renew_notes() : locks_.loss()).with_context(describe(operation, path_));
}

Result<Identity> StripedFile::identity() {
  STRIA_RETURN_IF_ERROR(check("identity", false));
  STRIA_ASSIGN_OR_RETURN(const uint64_t store, store_->number());
  return Identity{store, servers_.file()};
}

Result<std::unique_ptr<File>> StripedFile::open_again(bool writable) const {
  if (!open_) {
    return closed_file("open again", path_);
  }
  const auto rights = static_cast<uint8_t>(wire::kMayRead | (writable ? wire::kMayWrite : 0));
  uint64_t handle = 0;
  const auto same = servers_.open_again(rights, handle);
  STRIA_RETURN_IF_ERROR(same.status().with_context(describe("open", path_)));
  return std::unique_ptr<File>(std::make_unique<StripedFile>(store_, path_, *same, Opening{handle, writable}));
}

Status StripedFile::write(std::span<const WriteSegment> segments) {
  STRIA_RETURN_IF_ERROR(check("write", true));
  STRIA_RETURN_IF_ERROR(check_segments("write", path_, segments));
  return TransferRun(servers_, locks_, path_).write(segments);
}

std::unique_ptr<PendingWrite> StripedFile::queue(std::function<Status()> job) {
  if (queue_ == nullptr) {
    queue_ = std::make_unique<WriteQueue>();
  }
  return queue_->start(std::move(job));
}

std::unique_ptr<PendingWrite> StripedFile::start_write(std::span<const WriteSegment> segments) {
  if (!open_) {
    return File::start_write(segments);
  }
  return queue([this, list = std::vector<WriteSegment>(segments.begin(), segments.end())] { return write(list); });
}

std::unique_ptr<PendingWrite> StripedFile::start_locked_write(std::span<const WriteSegment> segments, const LockTaker& take) {
  if (!open_) {
    return File::start_write(segments);
  }
  return queue([this, take, list = std::vector<WriteSegment>(segments.begin(), segments.end())]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const auto lock, take());
    return write(list);
  });
}

Result<int64_t> StripedFile::read(std::span<const ReadSegment> segments) {
  STRIA_RETURN_IF_ERROR(check("read", false));
  STRIA_RETURN_IF_ERROR(check_segments("read", path_, segments));
  return TransferRun(servers_, locks_, path_).read(segments);
}

Status StripedFile::write_type(const TypeWindow& region, const std::byte* data) {
  STRIA_RETURN_IF_ERROR(check("write", true));
  return TransferRun(servers_, locks_, path_).write_type(region, data);
}

Result<int64_t> StripedFile::read_type(const TypeWindow& region, std::byte* data) {
  STRIA_RETURN_IF_ERROR(check("read", false));
  return TransferRun(servers_, locks_, path_).read_type(region, data);
}

Result<int64_t> StripedFile::size() {
  STRIA_RETURN_IF_ERROR(check("size", false));
  auto bytes = servers_.file_bytes();
  return bytes.ok() ? bytes : bytes.status().with_context(describe("size", path_));
}

Status StripedFile::resize_slots(wire::Kind kind, int64_t bytes) {
  const char* operation = kind == wire::Kind::kResize ? "resize" : "preallocate";
  STRIA_RETURN_IF_ERROR(check(operation, true));
  if (bytes < 0 || bytes >= StripedLocks::kBehindAnyFile) {
    return Status::from_errno(EINVAL, describe(operation, path_, bytes, 0));
  }
  const auto body = [&](int64_t slot) {
    return wire::encode(wire::LocalFile{servers_.part(slot), {}, servers_.layout().below(slot, bytes)});
  };
  return servers_.ask_all(kind, body).status().with_context(describe(operation, path_, bytes, 0));
}

Status StripedFile::resize(int64_t bytes) {
  return resize_slots(wire::Kind::kResize, bytes);
}

Status StripedFile::preallocate(int64_t bytes) {
  return resize_slots(wire::Kind::kReserve, bytes);
}

Status StripedFile::sync() {
  STRIA_RETURN_IF_ERROR(check("sync", false));
  const auto body = [this](int64_t slot) { return wire::encode(wire::LocalFile{servers_.part(slot), {}, 0}); };
  Status outcome = servers_.ask_all(wire::Kind::kSync, body).status();
  if (outcome.ok()) {
    outcome = store_->ask_manager(wire::Kind::kSyncNames, wire::encode(wire::Path{"/"})).status();
  }
  return outcome.with_context(describe("sync", path_));
}

Status StripedFile::close() {
  Status outcome = check("close", false);
  if (open_) {
    queue_.reset();
    open_ = false;
    outcome.update(store_->close(opening_.handle).with_context(describe("close", path_)));
  }
  return outcome;
}

Result<std::unique_ptr<RangeLock>> StripedFile::lock_within(ByteRange range, LockMode mode, uint32_t wait_ms) {
  STRIA_RETURN_IF_ERROR(check("lock", mode == LockMode::kExclusive));
  if (range.empty()) {
    return std::make_unique<RangeLock>();
  }
  auto held = locks_.take(range, mode, wait_ms);
  return held.ok() ? std::move(held) : held.status().with_context(describe("lock", path_, range.begin, range.size()));
}

Result<std::unique_ptr<RangeLock>> StripedFile::lock(ByteRange range, LockMode mode) {
  while (true) {
    STRIA_ASSIGN_OR_RETURN(std::unique_ptr<RangeLock> held, lock_within(range, mode, kLockWaitMs));
    if (held != nullptr) {
      return held;
    }
  }
}

Result<std::unique_ptr<RangeLock>> StripedFile::try_lock(ByteRange range, LockMode mode) {
  return lock_within(range, mode, 0);
}

Result<bool> StripedFile::is_locked_elsewhere(ByteRange range) {
  STRIA_RETURN_IF_ERROR(check("lock", false));
  auto answer = locks_.is_locked_elsewhere(range);
  return answer.ok() ? answer : answer.status().with_context(describe("lock", path_, range.begin, range.size()));
}

}  // namespace stria::storage
