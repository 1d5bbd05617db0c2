// The superblock of any HDF5 file (format specification II), as far as it matters when a file is
// written anew: where it is, which group is the root, and where the file ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// Reads the bytes of a file from `offset` on; fewer where it ends.
Result<std::vector<std::byte>> read_at(storage::File& file, int64_t offset, int64_t bytes);

class EditedSuperblock {
 public:
  /// Looks where the format allows one: at 0, 512, 1,024 and so on. kFormat when there is none;
  /// kCorrupted when it is cut short.
  static Result<EditedSuperblock> find(storage::File& file);

  int64_t version() const { return version_; }
  /// Tells whether addresses have 8 bytes, as nearly always.
  bool has_wide_addresses() const { return address_bytes_ == 8; }
  /// Returns where it lies. What is before it is the user block.
  int64_t offset() const { return offset_; }
  /// Returns the address of the root group's header.
  int64_t root() const;
  void set_root(int64_t address);
  void set_end(int64_t address);
  /// Returns the bytes that stand at offset(), with what was set.
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  Status decode(storage::File& file);
  void put(size_t at, int64_t value);
  void renew_sum();

  int64_t offset_ = 0;
  int64_t version_ = 0;
  size_t address_bytes_ = 8;
  size_t end_at_ = 0;
  size_t root_at_ = 0;
  size_t cached_at_ = 0;  // what versions 0 and 1 keep of the root group besides; 0: nothing
  bool has_sum_ = false;
  std::vector<std::byte> bytes_;
};

}  // namespace stria::container::h5
