// Attributes that have no room in the header of their object (format specification III.A.2, III.G):
// a B-tree of version 2 names them, and a fractal heap has them.
//
// Problem: what of them libhdf5 may read must be known before, and it gives values only in the form
// that they have in memory.
// Method: both structures are read here, as far as libhdf5 makes them: heaps without filters whose
// objects fit into blocks. libhdf5 checks the checksums when it reads the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "container/hdf5/read/stored/object_header.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// Reads the records of a B-tree of version 2, in order. kCorrupted when it makes no sense.
Result<std::vector<std::vector<std::byte>>> read_tree_records(const MetadataSource& source, int64_t address);

/// A heap whose objects go by an ID of some bytes.
class FractalHeap {
 public:
  static Result<FractalHeap> open(const MetadataSource& source, int64_t address);
  /// kCorrupted where there is no such object; kUnsupported for one that lies in no block.
  Result<std::vector<std::byte>> object(std::span<const std::byte> id) const;

 private:
  explicit FractalHeap(const MetadataSource& source) : source_(&source) {}
  Result<std::vector<std::byte>> managed_object(int64_t offset, int64_t bytes) const;
  /// The same from a block of blocks in `rows` rows, of whose space the object begins at `offset`.
  struct Wanted {
    int64_t offset = 0;
    int64_t bytes = 0;
  };
  Result<std::vector<std::byte>> find(int64_t block_address, int64_t rows, Wanted wanted, int depth) const;
  int64_t row_block_bytes(int64_t row) const;

  const MetadataSource* source_;
  int64_t width_ = 0;  // blocks in a row
  int64_t first_block_bytes_ = 0;
  int64_t direct_block_bytes_max_ = 0;
  int64_t object_bytes_max_ = 0;
  int64_t offset_bytes_ = 0;  // the bytes of an offset in the heap
  int64_t root_address_ = -1;
  int64_t root_rows_ = 0;  // 0: the root is a block of objects
};

}  // namespace stria::container::h5
