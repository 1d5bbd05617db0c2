// Reads elements of which libhdf5 makes others in memory (remade_types.hpp).
//
// Problem: text of any length lies in heaps, and how long it is only the text tells; but all ranks
// have to know how many bytes a record has.
// Method: texts are read once to find the longest of each member, when a dataset is described, and
// again with the records, where each is copied into a string of that length.
// Cost: the texts of a dataset are read when it is described.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "container/hdf5/read/libhdf5/library.hpp"
#include "container/spec.hpp"

namespace stria::container::h5 {

/// Finds how long the longest text of each member is, at least 1, and lays the element out with it.
/// `element` is describe_type() of the dataset's type.
Status measure_texts(hid_t dataset, ElementSpec& element);

/// Reads [start, start + count) of a dataset whose type takes_library(), as
/// Hdf5Reader::read_hyperslab(). kUnsupported where nothing of its elements can be read.
/// measure_texts() has seen `element`.
Status read_remade(hid_t dataset, const ElementSpec& element, std::span<const int64_t> start, std::span<const int64_t> count,
                   std::span<std::byte> out);

}  // namespace stria::container::h5
