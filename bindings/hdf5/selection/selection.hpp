// Selections of HDF5's dataspaces as regions of memory.
//
// Problem: libhdf5 walks a selection element by element, or piece by piece, whenever it moves data.
// Method: it is asked once what is selected: a regular hyperslab, the blocks of an irregular one,
// or a list of points. This becomes a Datatype, whose bytes come in HDF5's order: that of the
// elements in the array, and of points that of their list.
// Cost: five questions for a regular hyperslab; for others a list in proportion to its pieces.
#pragma once

#include <optional>
#include <vector>

#include "hdf5/library/library.hpp"
#include "stria/datatype.hpp"

namespace stria::hdf5 {

/// Says what is selected along one dimension: `count` blocks of `block` elements.
struct Steps {
  hsize_t start = 0;
  hsize_t stride = 1;
  hsize_t count = 1;
  hsize_t block = 1;

  bool is_one_block() const { return count == 1 || stride == block; }
  hsize_t elements() const { return count * block; }
};

/// Returns the lengths of the dataspace's dimensions; empty for one value. No value where it is no
/// array.
std::optional<std::vector<hsize_t>> lengths_of(const Library& library, hid_t space);

/// Returns the selection as steps along each dimension; no value where it is none.
std::optional<std::vector<Steps>> regular_steps(const Library& library, hid_t space);

/// Says what the bytes are for: an element may be selected twice to be written to the file, while
/// of two that are read into one place HDF5's way decides which stays.
enum class Use { kToFile, kFromFile };

/// Describes bytes of an array: a datatype, and how far its base lies behind the array's.
struct Selected {
  int64_t base_bytes = 0;
  Datatype type;
};

/// Returns which bytes of an array of elements of `element_bytes` bytes are selected. kUnsupported
/// for what can't be described, and kInvalidArgument where it lies outside of the array. Each
/// thread keeps the types of its last regular hyperslabs.
Result<Selected> selected_memory(const Library& library, hid_t space, int64_t element_bytes, Use use);

}  // namespace stria::hdf5
