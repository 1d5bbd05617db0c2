// The file under libhdf5 while an existing file is read. It reads from a storage::File.
//
// Problem: libhdf5 reads metadata in pieces of tens to hundreds of bytes, each a round trip on a
// parallel file system.
// Method: metadata are read in whole pages of 64 KiB, which are kept (16 MiB at most). Raw data
// pass straight through.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// Offsets and sizes come from libhdf5, which got them from the file, so they are checked. An error
/// makes the call of libhdf5 fail, and is kept for take_error().
class StorageFile {
 public:
  StorageFile(storage::File& file, int64_t file_bytes) : file_(&file), file_bytes_(file_bytes) {}

  /// Makes every read fail from now on, because the storage file goes away.
  void detach() { file_ = nullptr; }
  /// Returns the size of the file.
  int64_t file_bytes() const { return file_bytes_; }
  Status read(H5FD_mem_t kind, int64_t offset, int64_t bytes, void* to);

  /// Returns the first error since the last call, or success. It is more exact than what libhdf5
  /// makes of it.
  Status take_error() { return std::exchange(error_, Status()); }
  void keep_error(const Status& status) {
    if (error_.ok()) {
      error_ = status;
    }
  }

  /// The H5FD class sets this while libhdf5 has the file open. A second opening (by an external
  /// link to the same name) is refused.
  bool open = false;

 private:
  Status read_through(int64_t offset, int64_t bytes, std::byte* to);
  Result<const std::vector<std::byte>*> page(int64_t index);

  storage::File* file_;
  int64_t file_bytes_;
  std::unordered_map<int64_t, std::vector<std::byte>> pages_;
  Status error_;
};

}  // namespace stria::container::h5
