// Looks at chunks that pass filters of libhdf5's own before libhdf5 undoes them.
//
// Problem: szip, nbit and scale-offset read as many bytes as their values say, whether the chunk
// has them or not, and what they make is taken for a whole chunk.
// Method: the filters of a chunk are gone through from the last to the first, with the size alone
// where the bytes aren't known any more. What a compressor of another kind has made can't be looked
// into; zlib's have a sum of their own.
// Cost: chunks are read twice.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <span>

#include "stria/status.hpp"

namespace stria::container::h5 {

/// Tells whether libhdf5 may undo the filters of the part [start, start + count) of a dataset.
/// kCorrupted where a chunk is shorter than they read. Other datasets pass at once. The caller has
/// found that the part lies in the dataset.
Status check_filtered_chunks(hid_t dataset, std::span<const int64_t> start, std::span<const int64_t> count);

}  // namespace stria::container::h5
