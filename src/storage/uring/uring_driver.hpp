// Posix files whose background and direct writes go through io_uring.
//
// Problem: one writer thread keeps one request under way, but a disk is fastest with several, and
// direct writes don't overlap by themselves.
// Method: runs of neighbours, cut to kRunBytes, are in the ring several at a time. Cached writes
// and all reads stay ordinary calls: the page cache takes them at memory speed, and a ring would
// only add cost.
// Cost: one ring per file, made by the first write that uses it. A file that can't get a ring is
// written the posix way.
#pragma once

#include <memory>
#include <string>

#include "storage/posix/posix_driver.hpp"

namespace stria::storage {

class UringDriver : public PosixDriver {
 public:
  /// kUnsupported, with the reason, where the kernel or its policy offers no io_uring. `calls` must
  /// outlive the driver.
  static Result<std::shared_ptr<Driver>> make(SystemCalls& calls = real_system_calls());

  const char* name() const override { return "uring"; }
  Result<std::unique_ptr<File>> open(const std::string& path, const OpenOptions& options) override;
  Result<std::unique_ptr<File>> open_again(const File& file, const OpenOptions& options) override;

 private:
  using PosixDriver::PosixDriver;
};

}  // namespace stria::storage
