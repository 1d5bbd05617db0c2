// Thin wrappers of the system calls that the limits use: whole transfers, errors as Status,
// time by phase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "stria/status.hpp"

namespace stria::flash {

/// Returns the seconds of a steady clock.
double now_s();

/// Runs `action` and adds the seconds that it took to `*total_s`; returns what it returns.
template <typename Action>
auto timed(double* total_s, Action action) {
  struct Adder {
    double* total_s;
    double start_s = now_s();
    ~Adder() { *total_s += now_s() - start_s; }
  } adder{total_s};
  return action();
}

/// A file descriptor that closes itself.
class PlainFile {
 public:
  PlainFile() = default;
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;
  ~PlainFile() { (void)close(); }

  Status open(const std::string& path, int flags);
  Status sync();
  Status close();
  int descriptor() const { return descriptor_; }

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// Writes or reads all bytes, in as many calls as the system wants. \errors from the system; kIo
/// when a file ends too early
Status write_all(int descriptor, const std::byte* data, int64_t bytes, int64_t offset);
Status read_all(int descriptor, std::byte* data, int64_t bytes, int64_t offset);

}  // namespace stria::flash
