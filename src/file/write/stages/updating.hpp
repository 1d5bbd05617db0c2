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
#include "comm/comm.hpp"
#include "file/define/catalog.hpp"
#include "file/move/transfer.hpp"
#include "file/write/metadata/gathering.hpp"
#include "file/write/old/old_file.hpp"
#include "file/write/target/new_file.hpp"
#include "storage/driver.hpp"
#include "stria/phases.hpp"

namespace stria::file {

class Updating {
 public:
  /// What must outlive this.
  struct Means {
    Comm& comm;
    const Catalog& catalog;
    OldFile& old;  ///< has the sums, on rank 0 with their seal
    NewFile& file;
    Gathering& gathering;
    PhaseTimes& times;
  };
  explicit Updating(const Means& means) : means_(means) {}

  /// Whether any dataset is overwritten. The same on every rank.
  bool any() const;
  /// Keeps which rows and chunks puts touch, before they are moved, and gives those into chunks
  /// their places in the file. kUnsupported where the file doesn't have a chunk. Local.
  Status note(std::span<Transfer> puts);
  /// From now on bytes that the file has may be lost. Local.
  void note_begun() { has_begun_ = has_begun_ || any(); }
  bool has_begun() const { return has_begun_; }
  /// After this rank's data were moved, or failed to be: has the file's sums follow if it has any.
  /// Collective: yes; where it fails before the end, the outcome is the same everywhere.
  Status sum_again(const Status& moved, bool checksums);

 private:
  /// Where the file has a dataset's sums.
  struct Place {
    bool is_summed = false;
    int64_t table = -1;
    int64_t column = -1;
    bool has_records = false;
  };
  /// This rank's share, when all ranks have written: rows in their tables, and of anything else the
  /// records that it appends to `records`.
  Status sum_share(storage::File& file, std::vector<std::byte>& records) const;
  /// On rank 0, when all ranks have done so: the sums of the tables.
  Status sum_tables(storage::File& file) const;
  Place place_of(const DatasetEntry& dataset) const;
  Status sum_rows(storage::File& file, const DatasetEntry& dataset, const Place& place, ByteRange rows) const;
  Status sum_chunks(int number) const;
  int number_before(const DatasetEntry& dataset) const;
  Result<uint64_t> sum_of_raw(storage::File& file, const DatasetEntry& dataset, ByteRange raw) const;

  Means means_;
  std::vector<std::vector<ByteRange>> touched_;         // rows, of each dataset
  std::vector<std::vector<ByteRange>> touched_chunks_;  // likewise
  bool has_begun_ = false;
};

}  // namespace stria::file
