// Describes what another program has changed in a file that has sums.
//
// Problem: a program that adds rows to a dataset changes the dataset's header in place. What the
// metadata were is then unknown, and the new rows have no sums; neither is damage.
// Method: the superblock has another sum where the file got longer. Where it didn't, and there are
// rows that the sums don't know, the metadata have.
// Cost: a sum of 48 bytes; of the metadata where the last rows of a growing dataset have no sums.
#pragma once

#include <vector>

#include "base/hash.hpp"
#include "container/container.hpp"
#include "file/checksums/checksum_index.hpp"
#include "file/define/catalog.hpp"
#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Rows of a growing dataset behind all that have sums.
struct RowsWithoutSums {
  int dataset = 0;  ///< its number in the catalog
  int listed = 0;   ///< those that are among the sums
  int64_t first_row = 0;
};
std::vector<RowsWithoutSums> rows_without_sums(const ChecksumIndex& index, const Catalog& catalog);

/// Returns where the raw data of the datasets lie that are in one piece.
std::vector<ByteRange> extents_of(const Catalog& catalog);

/// Adds the bytes of a stretch of the file to a hash. kCorrupted where it ends before.
Status hash_range(storage::File& file, ByteRange range, StreamingHash& hash);

/// Finds out whether another program has changed an HDF5 file since the sums were made, and notes
/// it in the index.
Status note_changes(storage::File& file, const container::Reader& reader, const Catalog& catalog, ChecksumIndex& index);

}  // namespace stria::file
