// The file under libhdf5 while an existing file is read: reads come from a storage::File.
//
// Problem: libhdf5 reads metadata in pieces of tens to hundreds of bytes, each a round trip on a parallel file system.
// Method: metadata are read by whole 64 KiB pages that are kept (16 MiB at most); raw data pass straight through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "container/hdf5/file_driver.hpp"
#include "storage/driver.hpp"

namespace stria::container::h5 {

class StorageFile final : public DriverFile {
 public:
  StorageFile(storage::File& file, int64_t file_bytes) : file_(&file), file_bytes_(file_bytes) { sieve = true; }

  /// Every read fails from now on: the storage file goes away.
  void detach() { file_ = nullptr; }

  Result<int64_t> allocate(H5FD_mem_t kind, int64_t bytes) override;
  void release(H5FD_mem_t kind, int64_t offset, int64_t bytes) override;
  int64_t allocated_end(H5FD_mem_t kind) const override;
  Status set_allocated_end(H5FD_mem_t kind, int64_t end) override;
  int64_t file_end() const override;
  Status read(H5FD_mem_t kind, int64_t offset, int64_t bytes, void* to) override;
  Status write(int64_t offset, int64_t bytes, const void* from) override;

 private:
  Status read_through(int64_t offset, int64_t bytes, std::byte* to);
  Result<const std::vector<std::byte>*> page(int64_t index);

  storage::File* file_;
  int64_t file_bytes_;
  int64_t allocated_end_ = 0;
  std::unordered_map<int64_t, std::vector<std::byte>> pages_;
};

}  // namespace stria::container::h5
