#include "storage/posix/handle/posix_transfers.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "storage/messages.hpp"

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

PosixTransfers::PosixTransfers(const OpenDescriptor& file) : file_(file) {
  if (file.capabilities().parallel_writes) {
    inserter_ = std::make_unique<PageInserter>(file.number());
  }
}

PosixTransfers::~PosixTransfers() {
  finish();
}

void PosixTransfers::finish() {
  if (inserter_ != nullptr) {
    inserter_->finish();
  }
  if (cached_descriptor_ >= 0) {
    file_.calls().close(std::exchange(cached_descriptor_, -1));
  }
}

Status PosixTransfers::write_run(const Run& run, std::span<iovec> pieces) {
  const bool by_pages = inserter_ != nullptr && run.bytes >= PageInserter::kLeastBytes;
  return by_pages ? write_by_pages(run.offset, pieces) : write_plainly(run.offset, pieces);
}

Status PosixTransfers::write_plainly(int64_t offset, std::span<iovec> pieces) {
  int64_t left = 0;
  for (const iovec& piece : pieces) {
    left += static_cast<int64_t>(piece.iov_len);
  }
  STRIA_CHECK(offset >= 0, offset);
  while (left > 0) {
    const ssize_t now = file_.calls().pwritev(file_.number(), pieces.data(), static_cast<int>(pieces.size()), offset);
    if (now < 0 && errno == EINTR) {
      continue;
    }
    if (now <= 0) {
      // A call that writes nothing without an error would be repeated for ever.
      return file_.transfer_error("write", offset, left, now < 0 ? errno : EIO);
    }
    STRIA_CHECK(now <= left, now, left, offset);
    offset += now;
    left -= now;
    pieces = skip_bytes(pieces, now);
  }
  return {};
}

// Pieces that can't be inserted are collected in `rest` until the next insertion, so that
// neighbours still go into one call.
Status PosixTransfers::write_by_pages(int64_t offset, std::span<iovec> pieces) {
  int64_t end = offset;
  for (const iovec& piece : pieces) {
    end += static_cast<int64_t>(piece.iov_len);
  }
  STRIA_ASSERT(!pieces.empty() && inserter_ != nullptr, offset);
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
Status PosixTransfers::write_last_page_first(int64_t end, iovec& last_piece) {
  if (end <= least_size_) {
    return {};
  }
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, file_.size());
  if (bytes < end) {
    const int64_t tail_bytes =
        std::min<int64_t>(static_cast<int64_t>(last_piece.iov_len), (end - 1) % file_.capabilities().block_bytes + 1);
    last_piece.iov_len -= static_cast<size_t>(tail_bytes);
    iovec tail{static_cast<std::byte*>(last_piece.iov_base) + last_piece.iov_len, static_cast<size_t>(tail_bytes)};
    STRIA_RETURN_IF_ERROR(write_plainly(end - tail_bytes, {&tail, 1}));
  }
  least_size_ = std::max(bytes, end);
  return {};
}

Result<int64_t> PosixTransfers::insert_pages(int64_t offset, const std::byte* data, int64_t bytes) {
  int64_t admitted = bytes;
  int error_number = bytes == 0 ? 0 : file_.calls().admit_transfer(file_.number(), true, offset, &admitted);
  while (error_number == EINTR) {
    admitted = bytes;
    error_number = file_.calls().admit_transfer(file_.number(), true, offset, &admitted);
  }
  if (error_number != 0) {
    return file_.transfer_error("write", offset, bytes, error_number);
  }
  STRIA_CHECK(0 <= admitted && admitted <= bytes, admitted, bytes);
  return inserter_->insert(offset, data, align_down(admitted, file_.capabilities().block_bytes));
}

Result<int64_t> PosixTransfers::read_run_from(int descriptor, const Run& run, std::span<iovec> pieces) {
  int64_t done = 0;
  while (done < run.bytes) {
    const ssize_t now = file_.calls().preadv(descriptor, pieces.data(), static_cast<int>(pieces.size()), run.offset + done);
    if (now < 0 && errno == EINTR) {
      continue;
    }
    if (now < 0) {
      return file_.transfer_error("read", run.offset + done, run.bytes - done, errno);
    }
    if (now == 0) {
      break;
    }
    done += now;
    pieces = skip_bytes(pieces, now);
  }
  return done;
}

bool PosixTransfers::can_read_directly(const Run& run, std::span<const iovec> pieces, int64_t file_bytes) const {
  const int64_t align = file_.capabilities().direct_align_bytes;
  STRIA_CHECK(align > 0, align);
  const bool pieces_aligned = std::all_of(pieces.begin(), pieces.end(), [&](const iovec& piece) {
    return reinterpret_cast<uintptr_t>(piece.iov_base) % static_cast<uintptr_t>(align) == 0 &&
           piece.iov_len % static_cast<size_t>(align) == 0;
  });
  return pieces_aligned && run.offset % align == 0 && run.offset + run.bytes <= file_bytes;
}

Result<int64_t> PosixTransfers::read_run_directly_or_not(const Run& run, std::span<iovec> pieces) {
  STRIA_ASSIGN_OR_RETURN(const int64_t file_bytes, file_.size());
  if (can_read_directly(run, pieces, file_bytes)) {
    return read_run_from(file_.number(), run, pieces);
  }
  if (cached_descriptor_ < 0) {
    cached_descriptor_ = file_.calls().open(file_.own_path().c_str(), O_RDONLY | O_CLOEXEC, 0);
    if (cached_descriptor_ < 0) {
      return file_.transfer_error("read", run.offset, run.bytes, errno);
    }
  }
  return read_run_from(cached_descriptor_, run, pieces);
}

Result<int64_t> PosixTransfers::read_run(const Run& run, std::span<iovec> pieces) {
  return file_.is_direct() ? read_run_directly_or_not(run, pieces) : read_run_from(file_.number(), run, pieces);
}

Status PosixTransfers::write(std::span<const WriteSegment> segments) {
  if (!file_.is_open()) {
    return closed_file("write", file_.path());
  }
  STRIA_RETURN_IF_ERROR(check_segments("write", file_.path(), segments));
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

Result<int64_t> PosixTransfers::read(std::span<const ReadSegment> segments) {
  if (!file_.is_open()) {
    return closed_file("read", file_.path());
  }
  STRIA_RETURN_IF_ERROR(check_segments("read", file_.path(), segments));
  if (is_one_run(segments)) {
    iovec piece{segments[0].data, static_cast<size_t>(segments[0].bytes)};
    return read_run({segments[0].offset, segments[0].bytes, 0, 1}, {&piece, 1});
  }
  return read_runs(make_runs(segments, kLargestRunBytes));
}

// A file that is cut meanwhile ends where it was found shortest. Bytes read behind that place don't
// count, and no more are read there, though the file may have grown again.
Result<int64_t> PosixTransfers::read_runs(RunList list) {
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

}  // namespace stria::storage
