// The bytes of an HDF5 file that say which rows of a dataset lie in which other files: a virtual
// dataset, which HDF5 1.10 and later read.
//
// Source: "HDF5 File Format Specification Version 3.0", The HDF Group. The comments name its
// sections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "container/hdf5/form/format.hpp"
#include "container/spec.hpp"

namespace stria::container::h5 {

/// Says where an object of a global heap lies: its collection, and its number in there.
struct HeapPlace {
  int64_t address = kNowhere;
  int64_t index = 0;
};

/// One collection of a global heap (III.E).
class GlobalHeap {
 public:
  /// No more should be added, for the sake of readers, which read a collection whole.
  bool is_full() const;
  /// Returns the number of the new object.
  int64_t add(std::span<const std::byte> object);
  /// Returns the collection, and begins the next one.
  std::vector<std::byte> take();

 private:
  Encoder objects_;
  int64_t count_ = 0;
};

/// Returns the global heap block of a virtual dataset (III.F): the rows of `elsewhere`, each of
/// which is all of the dataset `path` of another file. `dims` is the shape of the whole. \pre dims
/// has at least one dimension
std::vector<std::byte> mapping_block(const std::string& path, std::span<const int64_t> dims,
                                     std::span<const RowsElsewhere> elsewhere);
/// Writes a data layout message, version 4 (IV.A.2.i): virtual.
void put_virtual_layout(Encoder& to, const HeapPlace& mappings);

}  // namespace stria::container::h5
