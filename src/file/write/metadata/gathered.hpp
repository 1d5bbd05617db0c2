// Describes what the ranks learn of their data while packing: the smallest and the largest values,
// and checksums.
//
// Gathered is what one rank has learnt; it travels to rank 0 as one message, which adds it to a
// GatheredByAll. Sums of whole rows don't travel: each rank writes its own into their tables.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "datatype/pack/pack.hpp"
#include "file/checksums/checksum_index.hpp"
#include "file/checksums/row_tables.hpp"
#include "file/chunks/packed_chunks.hpp"
#include "file/define/catalog.hpp"
#include "file/move/put_places.hpp"
#include "file/move/transfer_set.hpp"

namespace stria::file {

/// Returns the record of a put that isn't summed by rows, without its sum.
Result<SlabSum> record_of(const Transfer& put, const DatasetEntry& dataset);

class Gathered {
 public:
  /// Adds what a set has gathered of its transfers, and hashes again what could not be
  /// hashed on the way.
  Status keep(TransferSet& set, std::span<const Transfer> transfers, const Catalog& catalog);
  /// Notes what is about to move. kInvalidArgument where two of these puts share an element.
  Status note_puts(std::span<const Transfer> pending, const Catalog& catalog) {
    return puts_.note(pending, catalog.datasets());
  }
  /// Adds chunks that this rank has placed.
  void keep_chunks(int dataset, std::vector<SummedChunk> chunks);
  /// Adds records of regions that were summed elsewhere.
  void keep_records(std::span<const std::byte> records);
  /// Drops all sums, of rows and in records.
  void drop_sums();
  /// Tells whether this rank has sums of rows to write.
  bool has_row_sums() const { return !row_sums_.empty(); }
  /// Lays the sums of rows out as they go into their tables. Once, when everything is kept.
  void lay_out(std::span<const RowTable> tables, const Catalog& catalog);
  /// Encodes the message for rank 0. \pre lay_out()
  std::vector<std::byte> encode(const Catalog& catalog) const;
  /// Returns the sums of rows that are still to be written, for the caller to write; they point
  /// into this.
  std::vector<storage::WriteSegment> take_row_sums();

 private:
  void keep_value_ranges(const TransferSet& set, std::span<const Transfer> transfers);
  Status keep_sums(const TransferSet& set, std::span<const Transfer> transfers, const Catalog& catalog);
  void keep_chunk_sums(const TransferSet& set, std::span<const Transfer> transfers);

  std::vector<ValueRange> value_ranges_;  // the ranges of each dataset
  // .table holds the dataset and .index the row until they are laid out.
  std::vector<RowSum> row_sums_;
  PutPlaces puts_;
  bool laid_out_ = false;
  RowSumBytes row_sum_bytes_;
  std::vector<std::byte> slab_records_;           // the records of what was not put by whole rows
  std::vector<std::vector<SummedChunk>> chunks_;  // the chunks of each dataset
};

/// Rank 0 has this.
struct GatheredByAll {
  std::vector<ValueRange> value_ranges;               ///< the ranges of each dataset
  std::vector<std::vector<TableShare>> table_shares;  ///< what all ranks put into each row table
  std::vector<std::byte> slab_records;
  std::vector<std::vector<SummedChunk>> chunks;  ///< the chunks of each dataset, in no order
  std::vector<PutPlace> puts;
  int rank_count = 0;  ///< the ranks whose messages were added

  GatheredByAll(const Catalog& catalog, size_t table_count)
      : value_ranges(static_cast<size_t>(catalog.size())),
        table_shares(table_count),
        chunks(static_cast<size_t>(catalog.size())) {}
  /// Adds the next rank's message.
  Status add(std::span<const std::byte> message, const Catalog& catalog);
};

}  // namespace stria::file
