#include "storage/messages.hpp"

#include "base/shown_path.hpp"
#include "storage/path.hpp"

namespace stria::storage {

std::string describe(const char* operation, const std::string& path) {
  return std::string(operation) + " '" + shown_path(path) + "'";
}

std::string describe(const char* operation, const std::string& path, int64_t offset, int64_t bytes) {
  return describe(operation, path) + " at offset " + std::to_string(offset) + " (" + std::to_string(bytes) + " bytes)";
}

std::string why_unseen(Driver& driver, const std::string& path) {
  const std::string real = driver.follow_links(path);
  const std::string directory = directory_of(real);
  if (real == path || driver.list_directory(directory).status().code() != ErrorCode::kNotFound) {
    return "";
  }
  const std::string shown = shown_path(directory);
  return "in '" + shown + "', which isn't seen here; 'stria drain " + shown + "' on its node brings it home";
}

Status closed_file(const char* operation, const std::string& path) {
  return Status(ErrorCode::kInvalidArgument, describe(operation, path) + ": the file is closed");
}

Status bad_segment(const char* operation, const std::string& path, int64_t offset, int64_t bytes) {
  return Status(ErrorCode::kInvalidArgument, describe(operation, path, offset, bytes) + ": not a place in a file");
}

Status check_open_again(const File& file, bool known, const OpenOptions& options) {
  const bool creates = options.mode == OpenOptions::Mode::kCreate || options.mode == OpenOptions::Mode::kCreateNew;
  if (creates || options.exclusive_lock) {
    return Status(ErrorCode::kInvalidArgument,
                  describe("open", file.path()) + " again: an open file is neither created nor locked so");
  }
  if (!known) {
    return Status(ErrorCode::kUnsupported, describe("open", file.path()) + " again: it is a file of another kind of storage");
  }
  return {};
}

Status not_mine(const char* operation, const std::string& path) {
  return Status(ErrorCode::kPermissionDenied,
                describe(operation, path) +
                    ": it is a link, belongs to another user, or is no plain file of one name: remove it, or "
                    "write to another directory");
}

Status file_in_use(const std::string& path) {
  return Status(ErrorCode::kAlreadyExists, describe("lock", path) + ": in use by another program");
}

}  // namespace stria::storage
