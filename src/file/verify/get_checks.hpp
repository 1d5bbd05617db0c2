// Gets against the sums of what they read.
//
// Method: rows that pass by whole are hashed while they are unpacked. Of rows that are got in part,
// and of puts that are not got as they were put, the rest is read too.
// Cost: of a get by whole rows 8 bytes a row; else what it touches, once more.
#pragma once

#include <vector>

#include "file/move/transfer.hpp"
#include "file/move/transfer_set.hpp"
#include "file/verify/summed_file.hpp"

namespace stria::file {

/// Checks what gets have read, of which `set` has taken sums on the way. kCorrupted names dataset
/// and rows. Local.
Status check_gets(const SummedFile& from, const std::vector<Transfer>& gets, const TransferSet& set);
/// Checks a small dataset that one rank reads for all. Local.
Status check_small(const SummedFile& from, int dataset);

}  // namespace stria::file
