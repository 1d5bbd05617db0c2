// System calls that fail, stop short or are interrupted as a script says. They test how the real
// drivers go on.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "storage/fault/fault_script.hpp"
#include "storage/posix/calls/system_calls.hpp"

namespace stria::storage {

/// Asks the script before each call, and makes the real call where the script lets it
/// pass. Thread-safe.
class FaultCalls : public SystemCalls {
 public:
  explicit FaultCalls(std::shared_ptr<FaultScript> script) : script_(std::move(script)) {}

  int open(const char* path, int flags, mode_t mode) override;
  int close(int descriptor) override;
  ssize_t pwritev(int descriptor, const iovec* pieces, int count, int64_t offset) override;
  ssize_t preadv(int descriptor, const iovec* pieces, int count, int64_t offset) override;
  int ftruncate(int descriptor, int64_t bytes) override;
  int fallocate(int descriptor, int mode, int64_t offset, int64_t bytes) override;
  int fdatasync(int descriptor) override;
  int fsync(int descriptor) override;
  int rename(const char* from, const char* to) override;
  int unlink(const char* path) override;
  int admit_transfer(int descriptor, bool is_write, int64_t offset, int64_t* bytes) override;

 private:
  /// Returns the path by which the descriptor was opened, for rules about paths.
  std::string path_of(int descriptor);
  std::string named(const std::string& path);
  /// Asks the script. True when the call may go on; otherwise errno says why not.
  bool admit(Operation operation, const std::string& path);

  std::shared_ptr<FaultScript> script_;
  std::mutex mutex_;
  std::map<int, std::string> paths_;
};

}  // namespace stria::storage
