// HDF5's scale-offset filter for integers.
//
// Problem: counters and numbers of blocks need few of their bits, and deflate is slow to find out.
// Method: a chunk keeps its smallest value once, and of each element the difference from it, in as
// many bits as the greatest difference needs. Elements that have the fill value get the code of all
// ones, so that a few of them make no chunk larger.
// Cost: two passes over the chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "container/spec.hpp"

namespace stria::container {

/// Tells whether the filter takes such elements.
bool takes_scale_offset(const ElementSpec& element);

/// Returns the values that the filter has in a dataset's header.
std::vector<uint32_t> scale_offset_values(const DatasetSpec& spec);

/// Appends the chunk to `out`; false, and appends nothing, where it wouldn't get smaller.
bool scale_offset(const DatasetSpec& spec, std::span<const std::byte> chunk, std::vector<std::byte>& out);
/// kCorrupted where `stored` isn't a chunk of this size.
Status undo_scale_offset(const DatasetSpec& spec, std::span<const std::byte> stored, std::span<std::byte> chunk);

}  // namespace stria::container
