#include "storage/posix/handle/open_descriptor.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/check.hpp"
#include "storage/messages.hpp"
#include "storage/posix/file_system/file_system.hpp"
#include "storage/posix/file_system/remote_names.hpp"

namespace stria::storage {

OpenDescriptor::OpenDescriptor(SystemCalls& calls, std::string path, int descriptor, const OpenOptions& options)
    : calls_(calls),
      path_(std::move(path)),
      number_(descriptor),
      direct_(options.direct),
      capabilities_(probe_capabilities(descriptor)) {
  // A sole writer never waits for the inode's lock, and write() takes less time than inserting.
  capabilities_.parallel_writes = capabilities_.parallel_writes && !options.sole_writer;
}

OpenDescriptor::~OpenDescriptor() {
  if (is_open()) {
    calls_.close(number_);
  }
}

std::string OpenDescriptor::own_path() const {
  return "/proc/self/fd/" + std::to_string(number_);
}

Result<int64_t> OpenDescriptor::size() const {
  if (!is_open()) {
    return closed_file("size", path_);
  }
  if (!capabilities_.node_local_cache) {
    ask_for_size(number_);
  }
  struct stat details = {};
  if (calls_.fstat(number_, &details) != 0) {
    return error("size", errno);
  }
  return static_cast<int64_t>(details.st_size);
}

Status OpenDescriptor::close() {
  STRIA_CHECK(is_open(), path_);  // another file may have the number by now
  const int result = calls_.close(std::exchange(number_, -1));
  // Linux has closed the descriptor even when the call was interrupted.
  return result == 0 || errno == EINTR ? Status() : error("close", errno);
}

Status OpenDescriptor::error(const char* operation, int error_number) const {
  return Status::from_errno(error_number, describe(operation, path_));
}

Status OpenDescriptor::transfer_error(const char* operation, int64_t offset, int64_t bytes, int error_number) const {
  Status status = Status::from_errno(error_number, describe(operation, path_, offset, bytes));
  if (direct_ && error_number == EINVAL) {
    status = status.with_message(status.message() + " (direct I/O: offset, size and memory must be multiples of " +
                                 std::to_string(capabilities_.direct_align_bytes) + " bytes)");
  }
  return status;
}

}  // namespace stria::storage
