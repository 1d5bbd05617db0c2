#include "storage/posix/posix_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "storage/messages.hpp"
#include "storage/posix/file_system.hpp"

namespace stria::storage {

namespace {

// The kernel cuts calls near 2 GiB; a run of this size keeps a failed call's message near the place of the failure.
constexpr int64_t kLargestRunBytes = int64_t{1} << 30;

// Most lists need no list.
template <typename Segment>
bool is_one_run(std::span<const Segment> segments) {
  return segments.size() == 1 && segments[0].bytes <= kLargestRunBytes;
}

}  // namespace

PosixFile::PosixFile(SystemCalls& calls, std::string path, int descriptor, bool direct)
    : calls_(calls),
      path_(std::move(path)),
      descriptor_(descriptor),
      direct_(direct),
      capabilities_(probe_capabilities(descriptor)) {
  if (capabilities_.parallel_writes) {
    inserter_ = std::make_unique<PageInserter>(descriptor);
  }
}

PosixFile::~PosixFile() {
  queue_.reset();
  inserter_.reset();
  for (const int descriptor : {descriptor_, cached_descriptor_}) {
    if (descriptor >= 0) {
      calls_.close(descriptor);
    }
  }
}

Status PosixFile::error(const char* operation, int error_number) const {
  return Status::from_errno(error_number, describe(operation, path_));
}

Status PosixFile::transfer_error(const char* operation, int64_t offset, int64_t bytes, int error_number) const {
  Status status = Status::from_errno(error_number, describe(operation, path_, offset, bytes));
  if (direct_ && error_number == EINVAL) {
    status = Status(status.code(), status.message() + " (direct I/O: offset, size and memory must be multiples of " +
                                       std::to_string(capabilities_.direct_align_bytes) + " bytes)");
  }
  return status;
}

Status PosixFile::write_run(const Run& run, std::span<iovec> pieces) {
  const bool by_pages = inserter_ != nullptr && run.bytes >= PageInserter::kLeastBytes;
  return by_pages ? write_by_pages(run.offset, pieces) : write_plainly(run.offset, pieces);
}

Status PosixFile::write_plainly(int64_t offset, std::span<iovec> pieces) {
  int64_t left = 0;
  for (const iovec& piece : pieces) {
    left += static_cast<int64_t>(piece.iov_len);
  }
  while (left > 0) {
    const ssize_t now = calls_.pwritev(descriptor_, pieces.data(), static_cast<int>(pieces.size()), offset);
    if (now < 0 && errno == EINTR) {
      continue;
    }
    if (now <= 0) {
      // A call that writes nothing and says nothing would be repeated for ever.
      return transfer_error("write", offset, left, now < 0 ? errno : EIO);
    }
    offset += now;
    left -= now;
    pieces = skip_bytes(pieces, now);
  }
  return {};
}

// What can't be inserted waits in `rest` until something was: neighbours still go into one call.
Status PosixFile::write_by_pages(int64_t offset, std::span<iovec> pieces) {
  int64_t end = offset;
  for (const iovec& piece : pieces) {
    end += static_cast<int64_t>(piece.iov_len);
  }
  STRIA_RETURN_IF_ERROR(extend_to(end, pieces.back()));
  std::vector<iovec> rest;
  int64_t rest_offset = offset;
  for (const iovec& piece : pieces) {
    auto* data = static_cast<std::byte*>(piece.iov_base);
    auto bytes = static_cast<int64_t>(piece.iov_len);
    const PageInserter::Stretch pages = inserter_->whole_pages(offset, bytes);
    const int64_t head_bytes = pages.offset - offset;
    STRIA_ASSIGN_OR_RETURN(const int64_t inserted, insert_pages(pages.offset, data + head_bytes, pages.bytes));
    if (inserted > 0) {
      if (head_bytes > 0) {
        rest.push_back({data, static_cast<size_t>(head_bytes)});
      }
      STRIA_RETURN_IF_ERROR(write_plainly(rest_offset, rest));
      rest.clear();
      const int64_t done = head_bytes + inserted;
      data += done;
      bytes -= done;
      offset += done;
      rest_offset = offset;
    }
    if (bytes > 0) {
      rest.push_back({data, static_cast<size_t>(bytes)});
      offset += bytes;
    }
  }
  return write_plainly(rest_offset, rest);
}

// Pages go only where the file reaches already. Its size can't be set: a rank that has seen a smaller one would cut what
// another has written since. So the last page is written first, if need be.
Status PosixFile::extend_to(int64_t end, iovec& last_piece) {
  if (end <= least_size_) {
    return {};
  }
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, size());
  if (bytes < end) {
    const int64_t tail_bytes =
        std::min<int64_t>(static_cast<int64_t>(last_piece.iov_len), (end - 1) % capabilities_.block_bytes + 1);
    last_piece.iov_len -= static_cast<size_t>(tail_bytes);
    iovec tail{static_cast<std::byte*>(last_piece.iov_base) + last_piece.iov_len, static_cast<size_t>(tail_bytes)};
    STRIA_RETURN_IF_ERROR(write_plainly(end - tail_bytes, {&tail, 1}));
  }
  least_size_ = std::max(bytes, end);
  return {};
}

Result<int64_t> PosixFile::insert_pages(int64_t offset, const std::byte* data, int64_t bytes) {
  int64_t admitted = bytes;
  if (const int error_number = bytes == 0 ? 0 : calls_.admit_transfer(descriptor_, true, offset, &admitted);
      error_number != 0) {
    return transfer_error("write", offset, bytes, error_number);
  }
  return inserter_->insert(offset, data, align_down(admitted, capabilities_.block_bytes));
}

Result<int64_t> PosixFile::read_run_from(int descriptor, const Run& run, std::span<iovec> pieces) {
  int64_t done = 0;
  while (done < run.bytes) {
    const ssize_t now = calls_.preadv(descriptor, pieces.data(), static_cast<int>(pieces.size()), run.offset + done);
    if (now < 0 && errno == EINTR) {
      continue;
    }
    if (now < 0) {
      return transfer_error("read", run.offset + done, run.bytes - done, errno);
    }
    if (now == 0) {
      break;
    }
    done += now;
    pieces = skip_bytes(pieces, now);
  }
  return done;
}

bool PosixFile::can_read_directly(const Run& run, std::span<const iovec> pieces, int64_t file_bytes) const {
  const int64_t align = capabilities_.direct_align_bytes;
  const bool pieces_aligned = std::all_of(pieces.begin(), pieces.end(), [&](const iovec& piece) {
    return reinterpret_cast<uintptr_t>(piece.iov_base) % static_cast<uintptr_t>(align) == 0 &&
           piece.iov_len % static_cast<size_t>(align) == 0;
  });
  return pieces_aligned && run.offset % align == 0 && run.offset + run.bytes <= file_bytes;
}

Result<int64_t> PosixFile::read_run_directly_or_not(const Run& run, std::span<iovec> pieces) {
  STRIA_ASSIGN_OR_RETURN(const int64_t file_bytes, size());
  if (can_read_directly(run, pieces, file_bytes)) {
    return read_run_from(descriptor_, run, pieces);
  }
  if (cached_descriptor_ < 0) {
    // Not by path: the file may have another name by now.
    const std::string self = "/proc/self/fd/" + std::to_string(descriptor_);
    cached_descriptor_ = calls_.open(self.c_str(), O_RDONLY | O_CLOEXEC, 0);
    if (cached_descriptor_ < 0) {
      return transfer_error("read", run.offset, run.bytes, errno);
    }
  }
  return read_run_from(cached_descriptor_, run, pieces);
}

Result<int64_t> PosixFile::read_run(const Run& run, std::span<iovec> pieces) {
  return direct_ ? read_run_directly_or_not(run, pieces) : read_run_from(descriptor_, run, pieces);
}

Status PosixFile::write(std::span<const WriteSegment> segments) {
  if (descriptor_ < 0) {
    return closed_file("write", path_);
  }
  STRIA_RETURN_IF_ERROR(check_segments("write", path_, segments));
  if (is_one_run(segments)) {
    iovec piece{const_cast<std::byte*>(segments[0].data), static_cast<size_t>(segments[0].bytes)};
    return write_run({segments[0].offset, segments[0].bytes, 0, 1}, {&piece, 1});
  }
  RunList list = make_runs(segments, kLargestRunBytes);
  for (const Run& run : list.runs) {
    STRIA_RETURN_IF_ERROR(write_run(run, std::span(list.pieces).subspan(run.first_piece, run.piece_count)));
  }
  return {};
}

std::unique_ptr<PendingWrite> PosixFile::start_write(std::span<const WriteSegment> segments) {
  if (descriptor_ < 0) {
    return File::start_write(segments);
  }
  if (queue_ == nullptr) {
    queue_ = std::make_unique<WriteQueue>();
  }
  // The caller keeps the data, not necessarily the list. The call is this class's own write: a derived class's may not be
  // thread-safe.
  return queue_->start(
      [this, list = std::vector<WriteSegment>(segments.begin(), segments.end())] { return PosixFile::write(list); });
}

Result<int64_t> PosixFile::read(std::span<const ReadSegment> segments) {
  if (descriptor_ < 0) {
    return closed_file("read", path_);
  }
  STRIA_RETURN_IF_ERROR(check_segments("read", path_, segments));
  if (is_one_run(segments)) {
    iovec piece{segments[0].data, static_cast<size_t>(segments[0].bytes)};
    return read_run({segments[0].offset, segments[0].bytes, 0, 1}, {&piece, 1});
  }
  RunList list = make_runs(segments, kLargestRunBytes);
  int64_t total = 0;
  for (const Run& run : list.runs) {
    STRIA_ASSIGN_OR_RETURN(const int64_t now, read_run(run, std::span(list.pieces).subspan(run.first_piece, run.piece_count)));
    total += now;
  }
  return total;
}

namespace {

struct flock place_of(ByteRange range, short type) {
  struct flock where = {};  // its process id must be 0
  where.l_type = type;
  where.l_whence = SEEK_SET;
  where.l_start = range.begin;
  where.l_len = range.size();
  return where;
}

class PosixRangeLock : public RangeLock {
 public:
  PosixRangeLock(const PosixFile& file, ByteRange range) : file_(file), range_(range) {}
  PosixRangeLock(const PosixRangeLock&) = delete;
  PosixRangeLock& operator=(const PosixRangeLock&) = delete;
  ~PosixRangeLock() override { file_.unlock(range_); }

 private:
  const PosixFile& file_;
  ByteRange range_;
};

bool says_no_locks(int error_number) {
  return error_number == ENOLCK || error_number == ENOSYS || error_number == EOPNOTSUPP || error_number == EINVAL;
}

}  // namespace

Result<std::unique_ptr<RangeLock>> PosixFile::lock(ByteRange range, LockMode mode) {
  if (descriptor_ < 0) {
    return closed_file("lock", path_);
  }
  if (range.empty()) {  // a length of zero would mean the rest of the file
    return std::make_unique<RangeLock>();
  }
  // Made first: a lock that nobody holds would stay. Giving back what was never locked is harmless.
  std::unique_ptr<RangeLock> held = std::make_unique<PosixRangeLock>(*this, range);
  int result = 0;
  do {
    struct flock where = place_of(range, mode == LockMode::kShared ? F_RDLCK : F_WRLCK);
    result = calls_.lock_range(descriptor_, F_OFD_SETLKW, &where);
  } while (result != 0 && errno == EINTR);
  if (result == 0) {
    return held;
  }
  const int error_number = errno;
  Status status = transfer_error("lock", range.begin, range.size(), error_number);
  return says_no_locks(error_number) ? Status(ErrorCode::kUnsupported, status.message()) : status;
}

void PosixFile::unlock(ByteRange range) const {
  struct flock where = place_of(range, F_UNLCK);
  if (descriptor_ >= 0) {
    calls_.lock_range(descriptor_, F_OFD_SETLK, &where);
  }
}

namespace {

class PosixOwnership : public RangeLock {
 public:
  explicit PosixOwnership(const PosixFile& file) : file_(file) {}
  PosixOwnership(const PosixOwnership&) = delete;
  PosixOwnership& operator=(const PosixOwnership&) = delete;
  ~PosixOwnership() override { file_.disown(); }

 private:
  const PosixFile& file_;
};

}  // namespace

// The system refuses a write lease on a file that anybody else has open, and keeps who opens it waiting until it is given back.
Result<std::unique_ptr<RangeLock>> PosixFile::own() {
  if (descriptor_ < 0) {
    return closed_file("own", path_);
  }
  std::unique_ptr<RangeLock> held = std::make_unique<PosixOwnership>(*this);
  if (calls_.set_lease(descriptor_, F_WRLCK) != 0) {
    return Status(ErrorCode::kUnsupported, error("own", errno).message());
  }
  return held;
}

void PosixFile::disown() const {
  if (descriptor_ >= 0) {
    calls_.set_lease(descriptor_, F_UNLCK);
  }
}

Result<int64_t> PosixFile::size() {
  if (descriptor_ < 0) {
    return closed_file("size", path_);
  }
  struct stat details = {};
  if (calls_.fstat(descriptor_, &details) != 0) {
    return error("size", errno);
  }
  return static_cast<int64_t>(details.st_size);
}

Status PosixFile::resize(int64_t bytes) {
  if (descriptor_ < 0) {
    return closed_file("resize", path_);
  }
  int result = 0;
  do {
    result = calls_.ftruncate(descriptor_, bytes);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? Status() : transfer_error("resize", bytes, 0, errno);
}

Status PosixFile::preallocate(int64_t bytes) {
  if (descriptor_ < 0) {
    return closed_file("preallocate", path_);
  }
  if (bytes == 0) {
    return {};
  }
  int result = 0;
  do {
    result = calls_.fallocate(descriptor_, 0, 0, bytes);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? Status() : transfer_error("preallocate", 0, bytes, errno);
}

Status PosixFile::sync() {
  if (descriptor_ < 0) {
    return closed_file("sync", path_);
  }
  int result = 0;
  do {
    result = calls_.fdatasync(descriptor_);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? Status() : error("sync", errno);
}

Status PosixFile::close() {
  if (descriptor_ < 0) {
    return closed_file("close", path_);
  }
  queue_.reset();
  if (inserter_ != nullptr) {
    inserter_->finish();
  }
  if (cached_descriptor_ >= 0) {
    calls_.close(std::exchange(cached_descriptor_, -1));
  }
  const int result = calls_.close(std::exchange(descriptor_, -1));
  // Linux has closed the descriptor even when the call was interrupted.
  return result == 0 || errno == EINTR ? Status() : error("close", errno);
}

}  // namespace stria::storage
