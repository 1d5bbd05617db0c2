// Collections of a global heap (format specification III.E): where elements of variable length lie.
//
// Problem: HDF5 keeps no checksum of them, and libhdf5 1.10 trusts them: an object of size 0 makes
// it loop, one that is missing or too long makes it read and write outside of its memory.
// Method: a collection is looked through once, and each object is copied out with its true length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "container/hdf5/read/stored/object_header.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// One collection, all of it.
class HeapCollection {
 public:
  /// kCorrupted when it makes no sense.
  static Result<HeapCollection> read(const MetadataSource& source, int64_t address);
  /// Returns the bytes of an object; kCorrupted when there is none of this index.
  Result<std::span<const std::byte>> object(int64_t index) const;
  int64_t bytes() const { return static_cast<int64_t>(content_.size()); }

 private:
  Status index_objects(size_t length_bytes);

  std::vector<std::byte> content_;
  std::map<int64_t, std::pair<size_t, size_t>> places_;  // where an object begins, its length
};

/// Reads objects one after another, mostly of the same collection.
class HeapObjects {
 public:
  explicit HeapObjects(const MetadataSource& source) : source_(source) {}
  /// The bytes stay until the next call. Errors: kCorrupted, or of the storage.
  Result<std::span<const std::byte>> object(int64_t address, int64_t index);

 private:
  const MetadataSource& source_;
  int64_t address_ = -1;
  HeapCollection collection_;
};

}  // namespace stria::container::h5
