// The metadata of a new file, as a Writer makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/byte_range.hpp"

namespace stria::container {

/// The bytes of the file that are not raw data of datasets. Extents are sorted and don't overlap.
struct SparseImage {
  struct Extent {
    int64_t offset = 0;
    std::vector<std::byte> bytes;
  };
  std::vector<Extent> extents;
  /// What a growing file gets at 0 when everything else is safe, and what makes it valid.
  std::vector<std::byte> switch_over;
  int64_t file_bytes = 0;  ///< the size that the finished file must have
  ByteRange superblock;    ///< what Reader::superblock() returns
  /// What other programs change when they add rows, and nothing else; empty where they can't.
  ByteRange row_count;
  /// Where the contents of tables lie in the file, in the order in which they were made;
  /// none is empty.
  std::vector<ByteRange> tables;

  /// Returns the bytes of a range. \pre the range lies within one extent, or within switch_over
  std::span<std::byte> at(ByteRange range);
};

}  // namespace stria::container
