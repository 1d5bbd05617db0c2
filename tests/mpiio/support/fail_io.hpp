// Storage that fails under any MPI-IO: the controls of fail_io.cpp, a library for LD_PRELOAD that
// comes before the C library's calls.
//
// A test asks, from within the program, that from now on this process's writes (or reads, or syncs)
// of one file fail. It affects all code that calls the C library, but not io_uring.
#pragma once

#include <dlfcn.h>

#include <string>

namespace mpiio {

enum class Operation { kNone = 0, kWrite = 1, kRead = 2, kSync = 3 };

/// Controls the preloaded library. Where that is absent, it only says so.
class FailIo {
 public:
  using Arm = void (*)(const char*, int, int, int);
  using Hits = int (*)();

  bool is_loaded() const { return arm_ != nullptr; }
  /// Every operation of this kind on a file whose path contains `path` fails with `error`, from the
  /// call after the next `skip` on.
  void arm(const std::string& path, Operation operation, int skip, int error) const {
    arm_(path.c_str(), static_cast<int>(operation), skip, error);
  }
  /// The next operation of this kind on such a file begins so many milliseconds later.
  void delay_one(const std::string& path, Operation operation, int milliseconds) const {
    arm_(path.c_str(), static_cast<int>(operation), 0, -milliseconds);
  }
  void disarm() const { arm_("", 0, 0, 0); }
  /// Operations that were failed since arm().
  int hits() const { return hits_(); }

 private:
  Arm arm_ = reinterpret_cast<Arm>(dlsym(RTLD_DEFAULT, "fail_io_arm"));
  Hits hits_ = reinterpret_cast<Hits>(dlsym(RTLD_DEFAULT, "fail_io_hits"));
};

}  // namespace mpiio
