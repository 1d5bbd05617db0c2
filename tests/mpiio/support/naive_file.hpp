// The oracle's file, a vector of bytes that is written one byte at a time; and the real file as
// POSIX sees it, without MPI-IO.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpiio/support/random_shape.hpp"

namespace mpiio {

/// Returns a byte that depends on all three, so that it shows where data come from.
uint8_t mark(uint64_t seed, int64_t rank, int64_t position);

/// Bytes of memory with a margin on both sides, for `copies` of a shape whose offsets
/// may be negative.
class Memory {
 public:
  Memory(const Shape& shape, int64_t copies, uint8_t fill);
  void* base() { return bytes_.data() + before_; }
  uint8_t& at(int64_t offset) { return bytes_[static_cast<size_t>(before_ + offset)]; }
  bool operator==(const Memory& other) const { return bytes_ == other.bytes_; }
  /// Returns the first byte that differs, as an offset from base().
  int64_t first_difference(const Memory& other) const;

 private:
  int64_t before_ = 0;
  std::vector<uint8_t> bytes_;
};

struct NaiveFile {
  std::vector<uint8_t> bytes;

  int64_t size() const { return static_cast<int64_t>(bytes.size()); }
  void write(int64_t offset, uint8_t value);
  /// Bytes of data that the view has from its beginning to the end of the file.
  int64_t visible_bytes(const View& view) const;
};

/// Makes a file of these bytes, or removes it when there are none. Local.
void make_file(const std::string& path, const std::vector<uint8_t>& bytes);
/// Reads all bytes of a file; fails the case when it can't be read.
std::vector<uint8_t> read_file(const std::string& path);
/// Fails the case unless both are the same.
void expect_same(const std::vector<uint8_t>& got, const std::vector<uint8_t>& wanted, const std::string& what);

}  // namespace mpiio
