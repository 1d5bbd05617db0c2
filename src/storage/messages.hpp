// The words of storage errors: operation, file, place, and the system's reason. Every driver uses
// the same words, so that people can search for them and tests can rely on them.
#pragma once

#include <cstdint>
#include <string>

#include "storage/driver.hpp"

namespace stria::storage {

/// Returns "write 'PATH'".
std::string describe(const char* operation, const std::string& path);
/// Returns "write 'PATH' at offset N (M bytes)".
std::string describe(const char* operation, const std::string& path, int64_t offset, int64_t bytes);

/// Errors that come from no system call: a closed handle, a segment that no file can hold.
Status closed_file(const char* operation, const std::string& path);
Status bad_segment(const char* operation, const std::string& path, int64_t offset, int64_t bytes);
/// Checks the arguments of open_again(). `known`: the handle belongs to the driver's storage.
Status check_open_again(const File& file, bool known, const OpenOptions& options);
/// Returns the error of a file that another program has locked.
Status file_in_use(const std::string& path);

/// Returns where a file lies that isn't found by its name, because a link leads to a directory that
/// this machine doesn't see, as of another node's own disk, and what to do; else empty.
std::string why_unseen(Driver& driver, const std::string& path);

/// Returns the error of a file that OpenOptions::mine_only keeps out.
Status not_mine(const char* operation, const std::string& path);

/// True when [offset, offset + bytes) can be a place in a file.
inline bool is_valid_segment(int64_t offset, int64_t bytes) {
  return offset >= 0 && bytes >= 0 && bytes <= INT64_MAX - offset;
}

/// Checks every segment of a list; an error names the first that no file can hold.
template <typename Segments>
Status check_segments(const char* operation, const std::string& path, const Segments& segments) {
  for (const auto& segment : segments) {
    if (!is_valid_segment(segment.offset, segment.bytes)) {
      return bad_segment(operation, path, segment.offset, segment.bytes);
    }
  }
  return {};
}

}  // namespace stria::storage
