#include "limits/plain_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace stria::flash {
namespace {

// One call holds the file's write lock. It is small enough to let the other ranks in, and large
// enough to make calls cheap.
constexpr int64_t kLargestCallBytes = int64_t{8} << 20;

// The text is made here, not by Status::from_errno: that is part of the library, which the peers'
// bench must not link.
Status system_error(const std::string& what) {
  const int number = errno;
  const ErrorCode code = number == ENOSPC || number == EDQUOT  ? ErrorCode::kNoSpace
                         : number == EACCES || number == EPERM ? ErrorCode::kPermissionDenied
                         : number == ENOENT                    ? ErrorCode::kNotFound
                                                               : ErrorCode::kIo;
  return {code, fmt::format("{}: {}", what, std::strerror(number))};
}

}  // namespace

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Status PlainFile::open(const std::string& path, int flags) {
  path_ = path;
  const int no_links = (flags & O_CREAT) != 0 ? O_NOFOLLOW : 0;  // the name is the benchmark's own
  descriptor_ = ::open(path.c_str(), flags | no_links | O_CLOEXEC, 0644);
  return descriptor_ >= 0 ? Status() : system_error("cannot open " + path);
}

Status PlainFile::sync() {
  return ::fsync(descriptor_) == 0 ? Status() : system_error("cannot sync " + path_);
}

Status PlainFile::close() {
  if (descriptor_ < 0) {
    return {};
  }
  const int outcome = ::close(descriptor_);
  descriptor_ = -1;
  return outcome == 0 ? Status() : system_error("cannot close " + path_);
}

Status write_all(int descriptor, const std::byte* data, int64_t bytes, int64_t offset) {
  for (int64_t done = 0; done < bytes;) {
    const auto want = static_cast<size_t>(std::min(bytes - done, kLargestCallBytes));
    const ssize_t wrote = ::pwrite(descriptor, data + done, want, offset + done);
    if (wrote < 0 && errno != EINTR) {
      return system_error(fmt::format("cannot write {} bytes at {}", want, offset + done));
    }
    done += std::max<ssize_t>(wrote, 0);
  }
  return {};
}

Status read_all(int descriptor, std::byte* data, int64_t bytes, int64_t offset) {
  for (int64_t done = 0; done < bytes;) {
    const auto want = static_cast<size_t>(std::min(bytes - done, kLargestCallBytes));
    const ssize_t got = ::pread(descriptor, data + done, want, offset + done);
    if (got == 0) {
      return {ErrorCode::kIo, fmt::format("the file ends at {}, {} bytes early", offset + done, bytes - done)};
    }
    if (got < 0 && errno != EINTR) {
      return system_error(fmt::format("cannot read {} bytes at {}", want, offset + done));
    }
    done += std::max<ssize_t>(got, 0);
  }
  return {};
}

}  // namespace stria::flash
