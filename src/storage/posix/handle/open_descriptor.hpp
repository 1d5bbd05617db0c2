// A descriptor that is open, and the name that messages give it: what the transfers and the locks
// of a posix file work on.
#pragma once

#include <cstdint>
#include <string>

#include "storage/driver.hpp"
#include "storage/posix/calls/system_calls.hpp"

namespace stria::storage {

class OpenDescriptor {
 public:
  OpenDescriptor(SystemCalls& calls, std::string path, int descriptor, const OpenOptions& options);
  OpenDescriptor(const OpenDescriptor&) = delete;
  OpenDescriptor& operator=(const OpenDescriptor&) = delete;
  ~OpenDescriptor();

  SystemCalls& calls() const { return calls_; }
  const std::string& path() const { return path_; }
  const Capabilities& capabilities() const { return capabilities_; }
  bool is_direct() const { return direct_; }
  bool is_open() const { return number_ >= 0; }
  /// -1 once it is closed.
  int number() const { return number_; }
  /// Returns a path by which this process reaches the open file as long as it is open; path() may
  /// mean another file by now.
  std::string own_path() const;
  /// Returns the bytes of the file, as its server has them.
  Result<int64_t> size() const;
  Status close();

  Status error(const char* operation, int error_number) const;
  /// Returns the error of a transfer: operation, file, place and reason. It names the alignment
  /// that direct I/O needs where that is the likely cause.
  Status transfer_error(const char* operation, int64_t offset, int64_t bytes, int error_number) const;

 private:
  SystemCalls& calls_;
  std::string path_;
  int number_;
  bool direct_;
  Capabilities capabilities_;
};

}  // namespace stria::storage
