// The metadata of a new file, as a Writer makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/byte_range.hpp"

namespace stria::container {

/// The bytes of the file that are not raw data of datasets: sorted, not overlapping.
struct SparseImage {
  struct Extent {
    int64_t offset = 0;
    std::vector<std::byte> bytes;
  };
  std::vector<Extent> extents;
  int64_t file_bytes = 0;         ///< the size that the finished file must have
  ByteRange superblock;           ///< as Reader::superblock()
  std::vector<ByteRange> tables;  ///< where the contents of tables lie in it, in the order in which they were made; none empty

  /// The bytes of a range. \pre it lies within one extent
  std::span<std::byte> at(ByteRange range);
};

}  // namespace stria::container
