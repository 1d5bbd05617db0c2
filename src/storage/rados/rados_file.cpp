#include "storage/rados/rados_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>
#include <vector>

#include "storage/messages.hpp"
#include "storage/rados/directory.hpp"
#include "storage/rados/rados_path.hpp"

namespace stria::storage {

namespace {

constexpr ByteRange kWholeFile{0, std::numeric_limits<int64_t>::max()};

template <typename Segments>
int64_t end_of(const Segments& segments) {
  int64_t end = 0;
  for (const auto& segment : segments) {
    end = segment.bytes > 0 ? std::max(end, segment.offset + segment.bytes) : end;
  }
  return end;
}

/// Withdraws a handle; if it was the last one of a file without a name, the file goes.
Status leave(const Pool& pool, uint64_t number, std::unique_ptr<Presence> presence) {
  presence.reset();
  const auto header = read_header(pool, number);
  if (header.status().code() == ErrorCode::kNotFound) {
    return {};
  }
  STRIA_RETURN_IF_ERROR(header.status());
  return header->gone.empty() ? Status() : remove_nameless(pool, header->gone, number);
}

}  // namespace

Result<std::unique_ptr<RadosFile>> RadosFile::open(std::shared_ptr<const Pool> pool, uint64_t number, Opening opening) {
  STRIA_ASSIGN_OR_RETURN(auto presence, Presence::announce(pool, header_object(number)));
  // Read after the watch: from now on nobody removes the file's objects.
  const auto header = read_header(*pool, number);
  if (!header.ok()) {
    return header.status();
  }
  if (!header->gone.empty() && !opening.nameless) {
    STRIA_RETURN_IF_ERROR(leave(*pool, number, std::move(presence)));
    return Status::from_errno(ENOENT, describe("open", opening.path));
  }
  return std::make_unique<RadosFile>(std::move(pool), number, std::move(opening), std::move(presence), *header);
}

RadosFile::RadosFile(std::shared_ptr<const Pool> pool, uint64_t number, Opening opening, std::unique_ptr<Presence> presence,
                     const Header& header)
    : pool_(std::move(pool)),
      number_(number),
      opening_(std::move(opening)),
      presence_(std::move(presence)),
      locks_(pool_, number, presence_->holder()),
      bytes_(pool_, number, header) {
  capabilities_.stripe_bytes = header.object_bytes;
  capabilities_.stripe_count = static_cast<int>(std::clamp<int64_t>(header.server_count, 1, 4096));
  capabilities_.striped_as_told = true;
  capabilities_.node_local_cache = false;
  capabilities_.parallel_writes = true;
  capabilities_.asynchronous = true;
}

RadosFile::~RadosFile() {
  if (open_) {
    static_cast<void>(close());
  }
}

Status RadosFile::named(const Status& status, const char* operation) const {
  return status.with_context(describe(operation, opening_.path));
}

Status RadosFile::check(const char* operation, bool writes) {
  if (!open_) {
    return closed_file(operation, opening_.path);
  }
  if (writes && !opening_.writable) {
    return Status::from_errno(EBADF, describe(operation, opening_.path));
  }
  if (!pool_->is_ours()) {
    return Status(ErrorCode::kUnsupported,
                  describe(operation, opening_.path) + ": it was opened before this process was forked");
  }
  if (presence_->is_lost()) {
    return Status(ErrorCode::kIo, fmt::format("{}: this program was cut off from pool '{}' for more than {} s; others may have "
                                              "taken its locks, or removed the file. Open it again",
                                              describe(operation, opening_.path), pool_->name(), kWatchSeconds));
  }
  const std::lock_guard lock(lost_mutex_);
  return named(lost_lock_, operation);
}

Result<Identity> RadosFile::identity() {
  STRIA_RETURN_IF_ERROR(check("identity", false));
  return Identity{pool_->number(), number_};
}

Result<std::unique_ptr<File>> RadosFile::open_again(bool writable) const {
  if (!open_) {
    return closed_file("open again", opening_.path);
  }
  auto again = open(pool_, number_, {.path = opening_.path, .writable = writable, .nameless = true});
  return again.ok() ? Result<std::unique_ptr<File>>(std::move(*again)) : named(again.status(), "open");
}

Status RadosFile::write(std::span<const WriteSegment> segments) {
  STRIA_RETURN_IF_ERROR(check("write", true));
  STRIA_RETURN_IF_ERROR(check_segments("write", opening_.path, segments));
  const int64_t end = end_of(segments);
  return end == 0 ? Status() : named(bytes_.write(segments, end), "write");
}

std::unique_ptr<PendingWrite> RadosFile::queue(std::function<Status()> job) {
  if (queue_ == nullptr) {
    queue_ = std::make_unique<WriteQueue>();
  }
  return queue_->start(std::move(job));
}

std::unique_ptr<PendingWrite> RadosFile::start_write(std::span<const WriteSegment> segments) {
  if (!open_) {
    return File::start_write(segments);
  }
  return queue([this, list = std::vector<WriteSegment>(segments.begin(), segments.end())] { return write(list); });
}

std::unique_ptr<PendingWrite> RadosFile::start_locked_write(std::span<const WriteSegment> segments, const LockTaker& take) {
  if (!open_) {
    return File::start_write(segments);
  }
  return queue([this, take, list = std::vector<WriteSegment>(segments.begin(), segments.end())]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const auto lock, take());
    return write(list);
  });
}

Result<int64_t> RadosFile::read(std::span<const ReadSegment> segments) {
  STRIA_RETURN_IF_ERROR(check("read", false));
  STRIA_RETURN_IF_ERROR(check_segments("read", opening_.path, segments));
  const int64_t end = end_of(segments);
  if (end == 0) {
    return 0;
  }
  auto read = bytes_.read(segments, end);
  return read.ok() ? read : named(read.status(), "read");
}

class RadosRangeLock : public RangeLock {
 public:
  RadosRangeLock(RadosFile& file, LockTable::Lock lock) : file_(file), lock_(std::move(lock)) {}
  RadosRangeLock(const RadosRangeLock&) = delete;
  RadosRangeLock& operator=(const RadosRangeLock&) = delete;
  ~RadosRangeLock() override { file_.unlock(lock_); }

 private:
  RadosFile& file_;
  LockTable::Lock lock_;
};

std::unique_ptr<RangeLock> RadosFile::hold(LockTable::Lock lock) {
  return std::make_unique<RadosRangeLock>(*this, std::move(lock));
}

void RadosFile::unlock(const LockTable::Lock& lock) {
  if (const Status given_up = locks_.give_up(lock); !given_up.ok()) {
    lose(given_up);
  }
}

void RadosFile::lose(const Status& reason) {
  const std::lock_guard lock(lost_mutex_);
  lost_lock_ = Status(ErrorCode::kIo, "a lock was lost, and others may have changed its bytes (" + reason.message() + ")");
}

Result<std::unique_ptr<RangeLock>> RadosFile::lock(ByteRange range, LockMode mode) {
  STRIA_RETURN_IF_ERROR(check("lock", mode == LockMode::kExclusive));
  if (range.empty()) {
    return std::make_unique<RangeLock>();
  }
  auto taken = locks_.wait_for({LockTable::Kind::kRange, range, mode});
  return taken.ok() ? Result<std::unique_ptr<RangeLock>>(hold(std::move(*taken))) : named(taken.status(), "lock");
}

Result<std::unique_ptr<RangeLock>> RadosFile::try_lock(ByteRange range, LockMode mode) {
  STRIA_RETURN_IF_ERROR(check("lock", mode == LockMode::kExclusive));
  if (range.empty()) {
    return std::make_unique<RangeLock>();
  }
  auto taken = locks_.take({LockTable::Kind::kRange, range, mode});
  if (!taken.ok()) {
    return named(taken.status(), "lock");
  }
  return *taken ? hold(std::move(**taken)) : nullptr;
}

Result<bool> RadosFile::is_locked_elsewhere(ByteRange range) {
  STRIA_RETURN_IF_ERROR(check("lock", false));
  auto answer = locks_.is_locked_elsewhere(range);
  return answer.ok() ? answer : named(answer.status(), "lock");
}

Status RadosFile::lock_file(const OpenOptions& options) {
  if (!options.exclusive_lock && !options.beside_readers) {
    return {};
  }
  const LockMode mode = options.exclusive_lock ? LockMode::kExclusive : LockMode::kShared;
  auto taken = locks_.take_from_the_silent({LockTable::Kind::kFile, kWholeFile, mode});
  STRIA_RETURN_IF_ERROR(named(taken.status(), "lock"));
  file_lock_ = std::move(*taken);
  return file_lock_ ? Status() : file_in_use(opening_.path);
}

Result<int64_t> RadosFile::size() {
  STRIA_RETURN_IF_ERROR(check("size", false));
  auto bytes = bytes_.size();
  return bytes.ok() ? bytes : named(bytes.status(), "size");
}

Status RadosFile::resize(int64_t bytes) {
  STRIA_RETURN_IF_ERROR(check("resize", true));
  if (bytes < 0) {
    return Status::from_errno(EINVAL, describe("resize", opening_.path, bytes, 0));
  }
  return named(bytes_.resize(bytes), "resize");
}

Status RadosFile::preallocate(int64_t bytes) {
  STRIA_RETURN_IF_ERROR(check("preallocate", true));
  if (bytes == 0) {
    return {};
  }
  return Status(ErrorCode::kUnsupported, describe("preallocate", opening_.path) + ": a pool reserves no space");
}

Status RadosFile::sync() {
  return check("sync", false);
}

Status RadosFile::close() {
  Status outcome = check("close", false);
  if (!open_) {
    return outcome;
  }
  queue_.reset();
  open_ = false;
  if (!pool_->is_ours()) {
    return outcome;
  }
  if (file_lock_) {
    outcome.update(named(locks_.give_up(*file_lock_), "close"));
  }
  outcome.update(named(leave(*pool_, number_, std::move(presence_)), "close"));
  return outcome;
}

}  // namespace stria::storage
