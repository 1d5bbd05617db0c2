#include "storage/posix/calls/page_inserter.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/byte_range.hpp"

namespace stria::storage {

namespace {

#ifndef UFFD_USER_MODE_ONLY
constexpr int UFFD_USER_MODE_ONLY = 1;  // since Linux 5.11; needs no privilege
#endif

constexpr int64_t kMappedBytes = int64_t{16} << 30;  // at once; addresses only
constexpr int64_t kResidentBytes = 4 << 20;

bool is_wanted() {
  const char* value = std::getenv("STRIA_INSERT_PAGES");
  return value == nullptr || std::string_view(value) != "0";
}

// One descriptor for all files of the process, made when the first is opened. It belongs to the
// memory of the process that made it, so that a forked child doesn't use it.
class FaultDescriptor {
 public:
  static FaultDescriptor& instance() {
    static FaultDescriptor* const descriptor = new FaultDescriptor;
    return *descriptor;
  }
  bool is_usable() const { return number_ >= 0 && owner_ == getpid(); }

  template <typename Request>
  bool call(unsigned long operation, Request* request) const {
    return is_usable() && ioctl(number_, operation, request) == 0;
  }

 private:
  FaultDescriptor() : owner_(getpid()) {
    if (!is_wanted()) {
      return;
    }
    number_ = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
    uffdio_api api = {};
    api.api = UFFD_API;
    api.features = UFFD_FEATURE_MISSING_SHMEM;
    if (number_ >= 0 && ioctl(number_, UFFDIO_API, &api) != 0) {
      ::close(number_);
      number_ = -1;
    }
  }

  int number_ = -1;
  const pid_t owner_;
};

}  // namespace

// A tmpfs mounted for large pages shows it in its block size; writing large pages is faster
// than inserting small ones. A file with set-user-ID or set-group-ID bits is left to write(),
// which clears them.
bool PageInserter::can_serve(int descriptor, const struct stat& details, uint32_t file_system) {
  return file_system == TMPFS_MAGIC && S_ISREG(details.st_mode) && details.st_blksize == sysconf(_SC_PAGESIZE) &&
         (details.st_mode & (S_ISUID | S_ISGID)) == 0 && (fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_RDWR &&
         FaultDescriptor::instance().is_usable();
}

PageInserter::PageInserter(int descriptor) : descriptor_(descriptor), page_bytes_(sysconf(_SC_PAGESIZE)) {}

PageInserter::~PageInserter() {
  finish();
  unmap();
}

void PageInserter::finish() {
  if (std::exchange(has_inserted_, false)) {
    futimens(descriptor_, nullptr);  // a write would have set the time
  }
}

PageInserter::Stretch PageInserter::whole_pages(int64_t offset, int64_t bytes) const {
  if (bytes < kLeastBytes) {
    return {offset, 0};
  }
  int64_t begin = align_up(offset, page_bytes_);
  int64_t end = align_down(offset + bytes, page_bytes_);
  return end - begin >= kLeastBytes && begin >= occupied_end_ ? Stretch{begin, end - begin} : Stretch{offset, 0};
}

int64_t PageInserter::insert(int64_t offset, const std::byte* data, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!map(offset, offset + bytes)) {
    occupied_end_ = INT64_MAX;  // the next attempt would fail too
    return 0;
  }
  int64_t done = 0;
  while (done < bytes) {
    if (resident_bytes_ >= kResidentBytes) {
      let_go();
    }
    uffdio_copy request = {};
    request.dst = reinterpret_cast<uintptr_t>(mapping_) + static_cast<uintptr_t>(offset + done - mapped_begin_);
    request.src = reinterpret_cast<uintptr_t>(data + done);
    request.len = static_cast<uint64_t>(std::min(bytes - done, kResidentBytes - resident_bytes_));
    request.mode = UFFDIO_COPY_MODE_DONTWAKE;  // no thread waits for the page
    const bool all = FaultDescriptor::instance().call(UFFDIO_COPY, &request);
    if (request.copy > 0) {
      done += request.copy;
      resident_bytes_ += request.copy;
    } else if (!all) {
      note_obstacle(request.copy == -EEXIST);
      break;
    }
  }
  has_inserted_ = has_inserted_ || done > 0;
  return done;
}

// A page that exists is the sign of an old file. All pages up to its end then count as present,
// since each would cost a failed attempt.
void PageInserter::note_obstacle(bool page_exists) {
  struct stat details = {};
  if (page_exists && fstat(descriptor_, &details) == 0) {
    occupied_end_ = std::max<int64_t>(occupied_end_, details.st_size);
  }
}

bool PageInserter::map(int64_t begin, int64_t end) {
  if (mapping_ != nullptr && mapped_begin_ <= begin && end <= mapped_end_) {
    return true;
  }
  unmap();
  if (end > INT64_MAX - kMappedBytes) {
    return false;
  }
  const int64_t from = align_down(begin, kMappedBytes);
  const int64_t to = align_up(end, kMappedBytes);
  void* const place = mmap(nullptr, static_cast<size_t>(to - from), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, from);
  if (place == MAP_FAILED) {
    return false;
  }
  mapping_ = static_cast<std::byte*>(place);
  mapped_begin_ = from;
  mapped_end_ = to;
  madvise(place, static_cast<size_t>(to - from), MADV_DONTDUMP);
  uffdio_register range = {};
  range.range = {reinterpret_cast<uintptr_t>(place), static_cast<uint64_t>(to - from)};
  range.mode = UFFDIO_REGISTER_MODE_MISSING;
  if (!FaultDescriptor::instance().call(UFFDIO_REGISTER, &range)) {
    unmap();
    return false;
  }
  return true;
}

void PageInserter::unmap() {
  if (mapping_ != nullptr) {
    munmap(mapping_, static_cast<size_t>(mapped_end_ - mapped_begin_));
    mapping_ = nullptr;
    resident_bytes_ = 0;
  }
}

// Drops the pages from this process; the file keeps them.
void PageInserter::let_go() {
  madvise(mapping_, static_cast<size_t>(mapped_end_ - mapped_begin_), MADV_DONTNEED);
  resident_bytes_ = 0;
}

}  // namespace stria::storage
