// Finds out whether data that don't match a sum are damaged, or were put more than once.
//
// Problem: of two puts with an element in common the file holds one value, and both sums. A mistake
// of the program, such as a box with its ghosts, must not look like a bad disk.
// Method: only where a sum is wrong are the other records of the dataset compared with its region,
// piece by piece, and the table of rows read there.
// Cost: none where all sums are right.
#pragma once

#include <cstdint>

#include "file/checksums/checksum_index.hpp"
#include "file/verify/summed_file.hpp"

namespace stria::file {

/// Tells whether another put shares elements with that of a record of the dataset.
Result<bool> shares_record(const SummedFile& from, int dataset, const SlabSum& slab);
/// Does the same for a row that has a sum of its own.
bool shares_row(const SummedFile& from, int dataset, int64_t row);

}  // namespace stria::file
