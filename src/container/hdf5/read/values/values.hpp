// Reads values through libhdf5, whatever their layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "container/hdf5/read/libhdf5/library.hpp"
#include "container/spec.hpp"

namespace stria::container::h5 {

/// Reads [start, start + count) of a dataset, as Hdf5Reader::read_hyperslab(). Errors:
/// kInvalidArgument, kCorrupted, and kUnsupported (a missing filter, pointers in the elements, a
/// virtual dataset of other files).
Status read_selection(hid_t dataset, std::span<const int64_t> start, std::span<const int64_t> count, std::span<std::byte> out);

/// A part of a dataset, of which libhdf5 reads the elements without harm: check_layout().
struct Selection {
  Id space;
  int64_t elements = 0;
};
/// Selects the part [start, start + count). Errors: kInvalidArgument, and those of check_layout().
Result<Selection> selected(hid_t dataset, std::span<const int64_t> start, std::span<const int64_t> count);

/// Tells whether libhdf5 reads the elements of a dataset without harm, and as they were written.
/// Errors: kCorrupted, kUnsupported.
Status check_layout(hid_t dataset);

/// Reads an attribute's type, shape and value. Strings of variable length become fixed ones, as
/// long as the longest. kCorrupted when the value would be larger than the file.
Result<AttributeSpec> read_attribute(hid_t attribute, int64_t file_bytes);

/// Tells whether a dataset says that it is a netCDF dimension, and no variable.
bool is_bare_scale(hid_t dataset);
/// Tells whether a dataset says that it is a dimension scale.
bool is_scale(hid_t dataset);

/// Returns the path of the first scale of each of a dataset's dimensions, empty where it has none;
/// no paths where the dataset names no dimensions. kCorrupted when its list of them is damaged.
Result<std::vector<std::string>> scale_paths(hid_t dataset);

/// Returns the length in bytes of the longest string in a dataset of strings of variable length; at
/// least 1, or 0 when there are too many strings to look at each.
Result<int64_t> longest_text(hid_t dataset);

}  // namespace stria::container::h5
