// The superblock of a file that grows: what it says, and the one that takes its place.
//
// Problem: the end of the file and the address of its root group must change together, whatever
// ends the program.
// Method: both are in the superblock, which lies within the first sector of the file and is written
// in one piece. Every version is kept as it is but for these two numbers and the checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stria/status.hpp"

namespace stria::container::h5 {

class SuperblockSlot {
 public:
  /// The most bytes that a superblock takes.
  static constexpr size_t kBytesMax = 128;

  /// Reads the first bytes of a file. kUnsupported says why such a file can't grow.
  static Result<SuperblockSlot> decode(std::span<const std::byte> file_begin);

  int64_t file_bytes() const;
  int64_t root_address() const;
  /// Returns the same superblock with other numbers.
  std::vector<std::byte> encode(int64_t file_bytes, int64_t root_address) const;

 private:
  std::vector<std::byte> bytes_;
  size_t end_at_ = 0;     // where the end of the file stands
  size_t root_at_ = 0;    // the place of the root group's address
  bool has_sum_ = false;  // at its end
  size_t cached_at_ = 0;  // what versions 0 and 1 repeat of the root group; 0: nothing
};

}  // namespace stria::container::h5
