// The system's calls on files that were opened inside a recorded call: what HDF5 and MPI-IO ask of
// the storage. Files that the program itself opens, its output and its pipes, are not recorded.
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdarg>

#include "wrapped_call.hpp"

namespace {

using stria::trace::BuiltIn;
using stria::trace::Direction;
using stria::wrap::next_definition;

// The table is by descriptor, so that a call on a file that isn't recorded costs only a look-up in
// an array.
constexpr size_t kDescriptors = 4096;
std::array<std::atomic<uint16_t>, kDescriptors> file_of_descriptor;

uint16_t file_of(int descriptor) {
  const auto place = static_cast<size_t>(descriptor);
  return descriptor >= 0 && place < kDescriptors ? file_of_descriptor[place].load(std::memory_order_relaxed) : uint16_t{0};
}

// The preloaded MPI-IO itself records what it opens.
int opened(int descriptor, const char* path, const void* caller) {
  if (descriptor >= 0 && static_cast<size_t>(descriptor) < kDescriptors && stria::wrap::inside_call() &&
      !stria::wrap::is_in_mpiio(caller)) {
    const uint16_t about = stria::trace::ring().file;
    const uint16_t file = about != 0 ? about : stria::trace::Recorder::instance().file(path);
    file_of_descriptor[static_cast<size_t>(descriptor)].store(file, std::memory_order_relaxed);
    stria::trace::Recorder::instance().counters(file).add(stria::trace::Counter::kOpens);
  }
  return descriptor;
}

int64_t bytes_in(const iovec* pieces, int count) {
  int64_t bytes = 0;
  for (int i = 0; i < count; ++i) {
    bytes += static_cast<int64_t>(pieces[i].iov_len);
  }
  return bytes;
}

/// The range of a request as FileCounters wants it.
struct Range {
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// Counts and records one request. `offset` -1: at the descriptor's position.
template <typename Move>
ssize_t request(int descriptor, Direction direction, int64_t offset, int64_t bytes, Move move) {
  const uint16_t file = file_of(descriptor);
  if (file == 0 || !stria::trace::is_counting()) {
    return move();
  }
  const BuiltIn kind = direction == Direction::kWrite ? BuiltIn::kStorageWrite : BuiltIn::kStorageRead;
  const Range range{offset >= 0 ? offset : std::max<int64_t>(::lseek(descriptor, 0, SEEK_CUR), 0), bytes};
  stria::trace::FileSpan span(stria::trace::kind(kind), file);
  span->set_offset(range.offset);
  span->set_bytes(bytes);
  const int64_t begin = stria::trace::ticks();
  const ssize_t result = move();
  const int64_t ticks = stria::trace::ticks() - begin;
  stria::trace::FileCounters& counters = stria::trace::Recorder::instance().counters(file);
  counters.request(direction, std::span<const Range>(&range, 1), ticks);
  counters.add(direction == Direction::kWrite ? stria::trace::Counter::kWriteNs : stria::trace::Counter::kReadNs,
               stria::trace::ticks_to_ns(ticks));
  return result;
}

template <typename Sync>
int synced(int descriptor, Sync sync) {
  const uint16_t file = file_of(descriptor);
  if (file == 0) {
    return sync();
  }
  const stria::trace::FileSpan span(stria::trace::kind(BuiltIn::kStorageSync), file);
  stria::trace::Recorder::instance().counters(file).add(stria::trace::Counter::kSyncs);
  return sync();
}

mode_t mode_argument(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : mode_t{0};
}

}  // namespace

extern "C" {

#define STRIA_TRACE_OPEN(NAME)                                                 \
  int NAME(const char* path, int flags, ...) {                                 \
    static auto* next = next_definition<int(const char*, int, ...)>(#NAME);    \
    va_list arguments;                                                         \
    va_start(arguments, flags);                                                \
    const mode_t mode = mode_argument(flags, arguments);                       \
    va_end(arguments);                                                         \
    return opened(next(path, flags, mode), path, __builtin_return_address(0)); \
  }
STRIA_TRACE_OPEN(open)
STRIA_TRACE_OPEN(open64)

int close(int descriptor) {
  static auto* next = next_definition<int(int)>("close");
  const uint16_t file = file_of(descriptor);
  if (file != 0) {
    file_of_descriptor[static_cast<size_t>(descriptor)].store(0, std::memory_order_relaxed);
    stria::trace::Recorder::instance().counters(file).add(stria::trace::Counter::kCloses);
  }
  return next(descriptor);
}

ssize_t read(int descriptor, void* data, size_t bytes) {
  static auto* next = next_definition<ssize_t(int, void*, size_t)>("read");
  return request(descriptor, Direction::kRead, -1, static_cast<int64_t>(bytes), [&] { return next(descriptor, data, bytes); });
}

ssize_t write(int descriptor, const void* data, size_t bytes) {
  static auto* next = next_definition<ssize_t(int, const void*, size_t)>("write");
  return request(descriptor, Direction::kWrite, -1, static_cast<int64_t>(bytes), [&] { return next(descriptor, data, bytes); });
}

#define STRIA_TRACE_CALL_AT(NAME, DIRECTION, BUFFER)                                      \
  ssize_t NAME(int descriptor, BUFFER data, size_t bytes, off_t offset) {                 \
    static auto* next = next_definition<ssize_t(int, BUFFER, size_t, off_t)>(#NAME);      \
    return request(descriptor, Direction::DIRECTION, offset, static_cast<int64_t>(bytes), \
                   [&] { return next(descriptor, data, bytes, offset); });                \
  }
STRIA_TRACE_CALL_AT(pread, kRead, void*)
STRIA_TRACE_CALL_AT(pread64, kRead, void*)
STRIA_TRACE_CALL_AT(pwrite, kWrite, const void*)
STRIA_TRACE_CALL_AT(pwrite64, kWrite, const void*)

#define STRIA_TRACE_LIST_AT(NAME, DIRECTION)                                            \
  ssize_t NAME(int descriptor, const iovec* pieces, int count, off_t offset) {          \
    static auto* next = next_definition<ssize_t(int, const iovec*, int, off_t)>(#NAME); \
    return request(descriptor, Direction::DIRECTION, offset, bytes_in(pieces, count),   \
                   [&] { return next(descriptor, pieces, count, offset); });            \
  }
STRIA_TRACE_LIST_AT(preadv, kRead)
STRIA_TRACE_LIST_AT(pwritev, kWrite)

#define STRIA_TRACE_LIST(NAME, DIRECTION)                                         \
  ssize_t NAME(int descriptor, const iovec* pieces, int count) {                  \
    static auto* next = next_definition<ssize_t(int, const iovec*, int)>(#NAME);  \
    return request(descriptor, Direction::DIRECTION, -1, bytes_in(pieces, count), \
                   [&] { return next(descriptor, pieces, count); });              \
  }
STRIA_TRACE_LIST(readv, kRead)
STRIA_TRACE_LIST(writev, kWrite)

int fsync(int descriptor) {
  static auto* next = next_definition<int(int)>("fsync");
  return synced(descriptor, [&] { return next(descriptor); });
}

int fdatasync(int descriptor) {
  static auto* next = next_definition<int(int)>("fdatasync");
  return synced(descriptor, [&] { return next(descriptor); });
}

}  // extern "C"
