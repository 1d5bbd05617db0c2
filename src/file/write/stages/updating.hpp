// Elements of datasets that a file has already, overwritten in place: the sums that follow them.
//
// Problem: a sum is of a whole row, of which several ranks may have put elements, and tables of
// sums have sums themselves.
// Method: when all ranks have written, each rank reads the rows again in which it has put
// something, and puts their sums into the file's own table. Where the file has sums of other
// regions of a dataset, the ranks share all of it and make new ones. When these are written,
// rank 0 sums up the tables. What is put into chunks is put to their places before it moves, and
// each rank sums those up anew in which it has put something.
// Cost: reading what was put once more, by whole rows; a dataset of short rows whole; 8 bytes for
// each row of the tables. With chunks: a copy of what is put, and an open and the index of chunks
// on each rank.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/byte_range.hpp"
#include "file/define/catalog.hpp"
#include "file/move/transfer.hpp"
#include "file/session/open_file.hpp"
#include "file/write/metadata/defined.hpp"
#include "file/write/metadata/gathering.hpp"
#include "file/write/old/old_file.hpp"
#include "file/write/target/new_file.hpp"

namespace stria::file {

/// Says what this rank overwrites of each dataset.
struct Touched {
  std::vector<std::vector<ByteRange>> rows;
  std::vector<std::vector<ByteRange>> chunks;
};

/// Tells whether any dataset is overwritten. The same on every rank.
bool updates_any(const Catalog& catalog);
/// Keeps which rows and chunks puts touch, before they are moved, and gives those into chunks their
/// places in the file. kUnsupported where the file doesn't have a chunk. Local.
Status note_touched(const Catalog& catalog, OldFile& old, std::span<Transfer> puts, Touched& touched);

/// Has the file's sums, if it has any, follow what all ranks have moved: those of `defined.old`, on
/// rank 0 with their seal.
/// Collective: yes; where it fails before the end, the outcome is the same everywhere.
Status sum_again(OpenFile& file, Defined& defined, NewFile& target, Gathering& gathering, const Touched& touched);

}  // namespace stria::file
