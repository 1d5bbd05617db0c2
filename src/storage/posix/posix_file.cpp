#include "storage/posix/posix_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "storage/messages.hpp"
#include "storage/posix/file_system.hpp"
#include "storage/posix/remote_names.hpp"

namespace stria::storage {

namespace {

// The kernel cuts calls near 2 GiB. Runs of this size also keep the message of a failed call near
// the place of the failure.
constexpr int64_t kLargestRunBytes = int64_t{1} << 30;

// Most lists are one run already, so that no list of runs has to be made.
template <typename Segment>
bool is_one_run(std::span<const Segment> segments) {
  return segments.size() == 1 && segments[0].bytes <= kLargestRunBytes;
}

}  // namespace

PosixFile::PosixFile(SystemCalls& calls, std::string path, int descriptor, const OpenOptions& options)
    : calls_(calls),
      path_(std::move(path)),
      descriptor_(descriptor),
      direct_(options.direct),
      capabilities_(probe_capabilities(descriptor)) {
  // A sole writer never waits for the inode's lock, and write() takes less time than inserting.
  capabilities_.parallel_writes = capabilities_.parallel_writes && !options.sole_writer;
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
  descriptor_ = -1;  // its locks are gone
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
      // A call that writes nothing without an error would be repeated for ever.
      return transfer_error("write", offset, left, now < 0 ? errno : EIO);
    }
    offset += now;
    left -= now;
    pieces = skip_bytes(pieces, now);
  }
  return {};
}

// Pieces that can't be inserted are collected in `rest` until the next insertion, so that
// neighbours still go into one call.
Status PosixFile::write_by_pages(int64_t offset, std::span<iovec> pieces) {
  int64_t end = offset;
  for (const iovec& piece : pieces) {
    end += static_cast<int64_t>(piece.iov_len);
  }
  STRIA_RETURN_IF_ERROR(write_last_page_first(end, pieces.back()));
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

// Pages can be inserted only within the file's size. That size can't just be set: a rank that has
// seen a smaller file would cut off what another rank has written since. So the last page is
// written first where the file is too short, and taken off the piece.
Status PosixFile::write_last_page_first(int64_t end, iovec& last_piece) {
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
  int error_number = bytes == 0 ? 0 : calls_.admit_transfer(descriptor_, true, offset, &admitted);
  while (error_number == EINTR) {
    admitted = bytes;
    error_number = calls_.admit_transfer(descriptor_, true, offset, &admitted);
  }
  if (error_number != 0) {
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
    cached_descriptor_ = calls_.open(own_path().c_str(), O_RDONLY | O_CLOEXEC, 0);
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
  // The caller keeps the data but not necessarily the list. This calls write() of this class, since
  // that of a derived class may not be thread-safe.
  return queue([this, list = std::vector<WriteSegment>(segments.begin(), segments.end())] { return PosixFile::write(list); });
}

std::unique_ptr<PendingWrite> PosixFile::start_locked_write(std::span<const WriteSegment> segments, const LockTaker& take) {
  if (descriptor_ < 0) {
    return File::start_write(segments);
  }
  return queue([this, take, list = std::vector<WriteSegment>(segments.begin(), segments.end())]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const auto lock, take());
    return PosixFile::write(list);
  });
}

std::unique_ptr<PendingWrite> PosixFile::queue(std::function<Status()> job) {
  if (queue_ == nullptr) {
    queue_ = std::make_unique<WriteQueue>();
  }
  return queue_->start(std::move(job));
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
  return read_runs(make_runs(segments, kLargestRunBytes));
}

// A file that is cut meanwhile ends where it was found shortest. Bytes read behind that place don't
// count, and no more are read there, though the file may have grown again.
Result<int64_t> PosixFile::read_runs(RunList list) {
  int64_t end = std::numeric_limits<int64_t>::max();
  for (const Run& run : list.runs) {
    const Run before_end{run.offset, std::min(run.bytes, end - run.offset), run.first_piece, run.piece_count};
    if (before_end.bytes <= 0) {
      continue;
    }
    const auto pieces = std::span(list.pieces).subspan(run.first_piece, run.piece_count);
    STRIA_ASSIGN_OR_RETURN(const int64_t now,
                           read_run(before_end, before_end.bytes == run.bytes ? pieces : cut_to(pieces, before_end.bytes)));
    if (now < before_end.bytes) {
      end = run.offset + now;
    }
  }
  int64_t total = 0;
  for (const Run& run : list.runs) {
    total += std::clamp<int64_t>(end - run.offset, 0, run.bytes);
  }
  return total;
}

std::string PosixFile::own_path() const {
  return "/proc/self/fd/" + std::to_string(descriptor_);
}

Result<Identity> PosixFile::identity() {
  if (descriptor_ < 0) {
    return closed_file("identity", path_);
  }
  struct stat details = {};
  if (calls_.fstat(descriptor_, &details) != 0) {
    return error("identity", errno);
  }
  return identity_of(details);
}

// The ends tell whether the range is in the cache: to ask for all of its pages would take time.
void PosixFile::will_read(ByteRange range) {
  if (descriptor_ < 0 || direct_ || range.empty()) {
    return;
  }
  if (!calls_.is_cached(descriptor_, range.begin) || !calls_.is_cached(descriptor_, range.end - 1)) {
    calls_.read_ahead(descriptor_, range.begin, range.size());
  }
}

// Such file systems promise to look at the server when a file is opened. Opening also waits for
// pages on their way, which posix_fadvise would skip.
Status PosixFile::refresh(ByteRange range) {
  if (descriptor_ < 0) {
    return closed_file("refresh", path_);
  }
  if (range.begin < range.end) {
    const int again = calls_.open(own_path().c_str(), O_RDONLY | O_CLOEXEC, 0);
    if (again < 0) {
      return error("refresh", errno);
    }
    calls_.close(again);
  }
  ask_for_size(descriptor_);
  return {};
}

Status PosixFile::hand_over(ByteRange range) {
  if (descriptor_ < 0) {
    return closed_file("write", path_);
  }
  if (range.begin >= range.end || calls_.write_back(descriptor_, range.begin, range.size()) == 0) {
    return {};
  }
  return transfer_error("write", range.begin, range.size(), errno);
}

Result<int64_t> PosixFile::size() {
  if (descriptor_ < 0) {
    return closed_file("size", path_);
  }
  if (!capabilities_.node_local_cache) {
    ask_for_size(descriptor_);
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
