// The checksums of a file, kept in the file: group ".stria", which other readers have no reason to look at. See
// docs/formats/hdf5.md.
//
//   .stria/datasets    one fixed-length string a dataset: its path; the position is the dataset's number. `datasets` and
//   `placement` are among them .stria/placement   int64 {datasets, 2}: the row table that holds the dataset's row sums and the
//   column in it, or -1, -1 .stria/rows_<g>    uint64 {rows, columns}: XXH3-64 of each row of each dataset of the table; 0:
//   never written .stria/slabs       uint8 {n}: the XXH3-64 of all that follows, then records (dataset int64, sum uint64,
//   region displacement int64, Datatype) of everything that was not put by whole rows
//
// Rows are summed where a row has at least kLeastRowBytes: blocks of an AMR mesh. Sums are written by the ranks that have them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "container/hdf5/reader.hpp"
#include "file/catalog.hpp"
#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::file {

inline constexpr int64_t kLeastRowBytes = 512;
inline constexpr const char* kChecksumGroup = ".stria";

/// Datasets whose rows are summed in one table: they have the same number of rows.
struct RowTable {
  int64_t row_count = 0;
  std::vector<int> datasets;
  int64_t data_offset = -1;

  std::string path(size_t number) const;
};

/// Groups the datasets into row tables and notes each one's place in its entry. Deterministic.
std::vector<RowTable> place_row_sums(std::vector<DatasetEntry>& datasets);

/// A sum of a row, with its table and its position there.
struct RowSum {
  int table = 0;
  int64_t index = 0;
  uint64_t sum = 0;
};

/// Row sums as they go into their tables: `segments` say where, and point into `values`.
struct RowSumBytes {
  std::vector<uint64_t> values;
  std::vector<storage::WriteSegment> segments;
};
/// Puts row sums at their places, neighbours together; of a row that was put again, the last.
RowSumBytes lay_out_row_sums(std::span<const RowTable> tables, std::vector<RowSum> sums);

/// A sum of a region of a dataset that is not made of whole rows.
struct SlabSum {
  int dataset = 0;
  int64_t displacement = 0;  ///< of the region, from the beginning of the raw data
  Datatype region;
  uint64_t sum = 0;
};

/// The sum of bytes as it is stored, never 0.
uint64_t sum_of(std::span<const std::byte> data);

/// The content of .stria/slabs: the records, with their own sum before them.
std::vector<std::byte> seal_slab_sums(std::vector<std::byte> records);

void encode_slab_sum(const SlabSum& slab, std::vector<std::byte>& record);
/// kFormat when the bytes are not records of datasets below `dataset_count`.
Result<std::vector<SlabSum>> decode_slab_sums(std::span<const std::byte> records, int64_t dataset_count);

/// All that a file says of its checksums; equal on every rank once it was broadcast.
struct ChecksumIndex {
  bool present = false;
  std::vector<std::string> paths;
  std::vector<std::pair<int64_t, int64_t>> placement;
  std::vector<std::array<int64_t, 3>> tables;  ///< data offset, rows and columns of each row table
  std::vector<SlabSum> slabs;
};

/// Reads the index of a file of `file_bytes`; `present` is false when it has none. kFormat when what is there makes no sense:
/// nothing in the index then reaches out of the file or names a row or column that isn't there.
Result<ChecksumIndex> read_checksum_index(const container::Hdf5Reader& reader, int64_t file_bytes);
std::vector<std::byte> encode_index(const ChecksumIndex& index);
Result<ChecksumIndex> decode_index(std::span<const std::byte> message);

}  // namespace stria::file
