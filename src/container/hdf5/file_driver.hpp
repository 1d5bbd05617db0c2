// Puts a C++ object in the place of the file under libhdf5 (an H5FD class of ours).
#pragma once

#include <cstdint>
#include <string>

#include "container/hdf5/library.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// What libhdf5 sees as its file. Offsets are absolute; sizes and offsets come from the library, which got them from the file:
/// every implementation checks them. An error makes the library's call fail and is kept for take_error().
class DriverFile {
 public:
  virtual ~DriverFile() = default;

  /// The place of `bytes` new bytes of the given kind.
  virtual Result<int64_t> allocate(H5FD_mem_t kind, int64_t bytes) = 0;
  virtual void release(H5FD_mem_t kind, int64_t offset, int64_t bytes) = 0;
  /// Where allocated space of the kind ends (the library checks its accesses against it), and setting that.
  virtual int64_t allocated_end(H5FD_mem_t kind) const = 0;
  virtual Status set_allocated_end(H5FD_mem_t kind, int64_t end) = 0;
  /// The size of the file.
  virtual int64_t file_end() const = 0;
  virtual Status read(H5FD_mem_t kind, int64_t offset, int64_t bytes, void* to) = 0;
  virtual Status write(int64_t offset, int64_t bytes, const void* from) = 0;

  /// The first error of a read or write since the last call, else success: more exact than what libhdf5 makes of it.
  Status take_error() { return std::exchange(error_, Status()); }
  void keep_error(const Status& status) {
    if (error_.ok()) {
      error_ = status;
    }
  }

  /// Used by the driver: the library has it open. A second opening (an external link to the same name) is refused.
  bool open = false;
  /// Whether the library may gather small raw reads through its sieve buffer.
  bool sieve = false;

 private:
  Status error_;
};

/// Makes a file access property list that has libhdf5 open `file`, which must stay until the HDF5 file is closed. \pre in a
/// LibraryScope
Result<Id> make_access_list(DriverFile& file);

}  // namespace stria::container::h5
