// The file under libhdf5 while it writes one anew. It writes to a storage::File, and notes where
// metadata lie.
//
// Problem: Stria's seal has a sum of everything in a file that isn't raw data, and libhdf5 puts
// metadata wherever there is room.
// Method: libhdf5 says of each write what it is of. Raw data that are all zeros, behind everything
// that was written so far, stay a hole.
// Cost: 16 bytes of memory for each stretch.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/byte_range.hpp"
#include "container/hdf5/read/libhdf5/library.hpp"
#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// An error makes the call of libhdf5 fail, and is kept for take_error().
class TargetFile {
 public:
  /// `file` is new and empty, and must outlive this.
  explicit TargetFile(storage::File& file) : file_(file) {}

  /// What was never written reads as zeros.
  Status read(int64_t offset, int64_t bytes, std::byte* to);
  Status write(H5FD_mem_t kind, int64_t offset, int64_t bytes, const std::byte* from);
  Status resize(int64_t bytes);
  int64_t end() const { return end_; }
  /// Returns the stretches that metadata lie in, in order. What lies between two pieces of metadata
  /// without being raw data belongs to the stretch.
  std::vector<ByteRange> metadata() const;

  /// Returns the first error since the last call, or success.
  Status take_error() { return std::exchange(error_, Status()); }
  void keep_error(const Status& status) {
    if (error_.ok()) {
      error_ = status;
    }
  }

 private:
  storage::File& file_;
  int64_t end_ = 0;
  std::vector<ByteRange> metadata_;
  std::vector<ByteRange> raw_data_;
  Status error_;
};

/// Opens a TargetFile. The driver must be closed after the file: libhdf5 1.10 calls it when it has
/// given it back already.
struct TargetAccess {
  Id driver;
  Id list;
};
Result<TargetAccess> make_target_access(TargetFile& file);

}  // namespace stria::container::h5
