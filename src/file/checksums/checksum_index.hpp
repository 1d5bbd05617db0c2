// The checksums of a file. The file holds them in the group ".stria", which other readers can
// ignore. See docs/formats/hdf5.md.
//
//   .stria/datasets   one fixed-length string per dataset: its path; the position is the dataset's
//                     number. `datasets`, `placement` and `seal` are among them
//   .stria/placement  int64 {datasets, 2}: the row table that holds the dataset's row sums and the
//                     column in it, or -1, -1
//   .stria/rows_<g>   uint64 {rows, columns}: XXH3-64 of each row of each dataset of the table; 0
//                     where a row has none
//   .stria/slabs      uint8 {n}: the XXH3-64 of all that follows, then records (dataset int64,
//                     sum uint64, region displacement int64, Datatype) of everything that was not
//                     put by whole rows; the sum is 0 for rows that were put again
//   .stria/seal       what all of this can be trusted for: file/checksums/seal.hpp
//
// Rows are summed where a row has at least kLeastRowBytes: blocks of an AMR mesh. Sums are written
// by the ranks that have them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_range.hpp"
#include "container/container.hpp"
#include "file/checksums/row_tables.hpp"
#include "file/checksums/seal.hpp"
#include "stria/datatype.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// The sum of a record that has none. With a row table, its rows were put more than once, so that
/// the sum of each may be that of another put; in a growing one another program has added them.
inline constexpr uint64_t kNoSum = 0;

/// A sum of a region of a dataset that is not made of whole rows.
struct SlabSum {
  int dataset = 0;
  int64_t displacement = 0;  ///< the displacement of the region, from the beginning of the raw data
  Datatype region;
  uint64_t sum = 0;
};

/// Returns where a record's region lies in its dataset, from the first byte to the last.
ByteRange hull_of(const SlabSum& slab);
void encode_slab_sum(const SlabSum& slab, std::vector<std::byte>& record);
/// kFormat when the bytes are not records of datasets below `dataset_count`.
Result<std::vector<SlabSum>> decode_slab_sums(std::span<const std::byte> records, int64_t dataset_count);

/// All that a file says about its checksums. It is the same on every rank once it has
/// been broadcast.
struct ChecksumIndex {
  bool present = false;
  std::vector<std::string> paths;
  std::vector<std::pair<int64_t, int64_t>> placement;
  std::vector<std::array<int64_t, 3>> tables;  ///< data offset, rows and columns of each row table
  std::vector<SlabSum> slabs;
  bool is_sealed = false;  ///< false: an older version wrote the file
  Seal seal;
  /// Where the seal's bytes are in the file; -1 when another program has packed it.
  int64_t seal_offset = -1;
  /// Another program has changed the file since, by its metadata.
  bool is_changed = false;
  Status problem;  ///< why nothing else is filled in although sums are present

  /// Tells whether every place of a row table holds a sum, so that a 0 there is damage.
  bool is_full(int64_t table) const;
};

/// Reads the index of a file of `file_bytes`; `present` is false when the file has none. kFormat
/// when the content makes no sense; kCorrupted when its own sums don't match. An index that is
/// returned never points outside the file, or to a row or column that doesn't exist.
Result<ChecksumIndex> read_checksum_index(const container::Reader& reader, int64_t file_bytes);
std::vector<std::byte> encode_index(const ChecksumIndex& index);
Result<ChecksumIndex> decode_index(std::span<const std::byte> message);

}  // namespace stria::file
