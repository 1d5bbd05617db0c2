// Finds out whether libhdf5 may read elements of variable length, or references to regions.
//
// Problem: such an element is a length and a place in a global heap. libhdf5 1.10 copies what is at
// the place, however long it is, into memory of that length, and doesn't look whether it is there.
// Method: the stored elements are gone through first, lists within lists too. All objects must be
// there and have just the length that the elements say, and all together not more than a file can
// hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "container/hdf5/read/stored/global_heap.hpp"
#include "container/hdf5/read/stored/object_header.hpp"
#include "container/hdf5/read/stored/stored_type.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

class HeapPlaces {
 public:
  /// `source` must outlive this.
  explicit HeapPlaces(const MetadataSource& source);
  /// Elements as the file has them, one behind the other. kCorrupted.
  Status check(const StoredType& type, std::span<const std::byte> elements);

 private:
  Status check_element(const StoredType& type, std::span<const std::byte> element);
  Status check_list(const StoredType& type, std::span<const std::byte> element);
  Status check_region(std::span<const std::byte> element);

  const MetadataSource& source_;
  HeapObjects objects_;
  int64_t bytes_left_;  // the bytes that lists may have
};

}  // namespace stria::container::h5
