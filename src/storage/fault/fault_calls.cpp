#include "storage/fault/fault_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace stria::storage {

namespace {

int64_t total_bytes(const iovec* pieces, int count) {
  int64_t total = 0;
  for (int i = 0; i < count; ++i) {
    total += static_cast<int64_t>(pieces[i].iov_len);
  }
  return total;
}

/// Returns the pieces cut to `bytes`.
std::vector<iovec> cut(const iovec* pieces, int count, int64_t bytes) {
  std::vector<iovec> head;
  for (int i = 0; i < count && bytes > 0; ++i) {
    const size_t now = std::min(pieces[i].iov_len, static_cast<size_t>(bytes));
    head.push_back({pieces[i].iov_base, now});
    bytes -= static_cast<int64_t>(now);
  }
  return head;
}

}  // namespace

std::string FaultCalls::path_of(int descriptor) {
  const std::lock_guard lock(mutex_);
  const auto found = paths_.find(descriptor);
  return found == paths_.end() ? std::string() : found->second;
}

bool FaultCalls::admit(Operation operation, const std::string& path) {
  const FaultVerdict verdict = script_->decide(operation, {path});
  errno = verdict.error_number;
  return verdict.error_number == 0;
}

// The rules apply to the path of the first opening when a file is opened again by its descriptor.
std::string FaultCalls::named(const std::string& path) {
  constexpr std::string_view kOpenFiles = "/proc/self/fd/";
  return path.starts_with(kOpenFiles) ? path_of(std::atoi(path.c_str() + kOpenFiles.size())) : path;
}

int FaultCalls::open(const char* path, int flags, mode_t mode) {
  const std::string name = named(path);
  if (!admit(Operation::kSysOpen, name)) {
    return -1;
  }
  const int descriptor = SystemCalls::open(path, flags, mode);
  if (descriptor >= 0) {
    const std::lock_guard lock(mutex_);
    paths_[descriptor] = name;
  }
  return descriptor;
}

int FaultCalls::close(int descriptor) {
  const std::string path = path_of(descriptor);
  {
    const std::lock_guard lock(mutex_);
    paths_.erase(descriptor);
  }
  // A close that fails has closed the descriptor nevertheless, like on Linux.
  const bool good = admit(Operation::kSysClose, path);
  const int error_number = errno;
  const int result = SystemCalls::close(descriptor);
  if (!good) {
    errno = error_number;
  }
  return good ? result : -1;
}

int FaultCalls::admit_transfer(int descriptor, bool is_write, int64_t offset, int64_t* bytes) {
  const std::string path = path_of(descriptor);
  const ByteRange range{offset, offset + *bytes};
  const FaultVerdict verdict = script_->decide(is_write ? Operation::kSysWrite : Operation::kSysRead, {path, {&range, 1}});
  if (verdict.error_number != 0 && (verdict.allowed_bytes == 0 || verdict.allowed_bytes == kUnlimited)) {
    return verdict.error_number;
  }
  // When the error comes after a part of the bytes, this call is short, and the next one, for
  // the rest, fails.
  *bytes = std::min(*bytes, verdict.allowed_bytes);
  return 0;
}

ssize_t FaultCalls::pwritev(int descriptor, const iovec* pieces, int count, int64_t offset) {
  int64_t bytes = total_bytes(pieces, count);
  if (const int error_number = admit_transfer(descriptor, true, offset, &bytes); error_number != 0) {
    errno = error_number;
    return -1;
  }
  const std::vector<iovec> allowed = cut(pieces, count, bytes);
  return SystemCalls::pwritev(descriptor, allowed.data(), static_cast<int>(allowed.size()), offset);
}

ssize_t FaultCalls::preadv(int descriptor, const iovec* pieces, int count, int64_t offset) {
  int64_t bytes = total_bytes(pieces, count);
  if (const int error_number = admit_transfer(descriptor, false, offset, &bytes); error_number != 0) {
    errno = error_number;
    return -1;
  }
  const std::vector<iovec> allowed = cut(pieces, count, bytes);
  return SystemCalls::preadv(descriptor, allowed.data(), static_cast<int>(allowed.size()), offset);
}

int FaultCalls::ftruncate(int descriptor, int64_t bytes) {
  return admit(Operation::kSysResize, path_of(descriptor)) ? SystemCalls::ftruncate(descriptor, bytes) : -1;
}

int FaultCalls::fallocate(int descriptor, int mode, int64_t offset, int64_t bytes) {
  return admit(Operation::kSysPreallocate, path_of(descriptor)) ? SystemCalls::fallocate(descriptor, mode, offset, bytes) : -1;
}

int FaultCalls::fdatasync(int descriptor) {
  return admit(Operation::kSysSync, path_of(descriptor)) ? SystemCalls::fdatasync(descriptor) : -1;
}

int FaultCalls::fsync(int descriptor) {
  return admit(Operation::kSysSync, path_of(descriptor)) ? SystemCalls::fsync(descriptor) : -1;
}

int FaultCalls::rename(const char* from, const char* to) {
  return admit(Operation::kSysRename, from) ? SystemCalls::rename(from, to) : -1;
}

int FaultCalls::unlink(const char* path) {
  return admit(Operation::kSysRemove, path) ? SystemCalls::unlink(path) : -1;
}

}  // namespace stria::storage
