// Describes how what a rank learns while packing leaves it: to rank 0 as one message, and sums of
// rows into their tables.
//
// Method: it is kept transfer by transfer, and handed in once the last bytes are packed, before
// they are written. Rank 0 takes it from all ranks when it needs it for the metadata. Each call
// gets the file's catalog, and the times to which it adds its own.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "comm/comm.hpp"
#include "file/checksums/row_tables.hpp"
#include "file/define/catalog.hpp"
#include "file/meet/part_exchange.hpp"
#include "file/move/transfer_set.hpp"
#include "file/write/metadata/gathered.hpp"
#include "storage/driver.hpp"
#include "stria/phases.hpp"

namespace stria::file {

class Gathering {
 public:
  /// Takes the tables of row sums, which are known at the commit.
  void set_tables(std::vector<RowTable> tables) { tables_ = std::move(tables); }
  std::span<const RowTable> tables() const { return tables_; }

  /// Drops all sums and their tables. Local.
  void drop_sums() {
    tables_.clear();
    gathered_.drop_sums();
  }
  /// Notes where puts are about to move to. kInvalidArgument where two share an element. Local.
  Status note_puts(std::span<const Transfer> pending, const Catalog& catalog) { return gathered_.note_puts(pending, catalog); }
  /// Keeps what was gathered while packing. Local.
  Status keep(TransferSet& set, std::span<const Transfer> transfers, const Catalog& catalog, PhaseTimes& times);
  /// Keeps records of regions that were summed elsewhere. Local.
  void keep_records(std::span<const std::byte> records) { gathered_.keep_records(records); }
  /// Tells whether this rank will have sums of rows to write. \pre before hand_in()
  bool has_row_sums() const {
    STRIA_ASSERT(!parts_.started());
    return gathered_.has_row_sums();
  }
  /// Keeps where this rank's chunks of a dataset will lie. Local.
  void keep_chunks(int dataset, std::vector<SummedChunk> chunks) { gathered_.keep_chunks(dataset, std::move(chunks)); }
  /// Sends rank 0 what is kept, or why there is nothing; later calls do nothing. Returns what this
  /// rank's outcome is now. Never waits. `comm` must outlive finish().
  Status hand_in(Status mine, Comm& comm, const Catalog& catalog, PhaseTimes& times);
  /// Returns the sums of rows for the caller to write; empty when they were taken before. \pre
  /// hand_in()
  std::vector<storage::WriteSegment> take_row_sums() {
    STRIA_ASSERT(parts_.started());
    return gathered_.take_row_sums();
  }
  /// Writes the sums that were not written together with the last data.
  Status write_row_sums(storage::File* file, PhaseTimes& times);
  /// Waits until what was handed in has arrived.
  void finish(PhaseTimes& times);
  /// Returns, on rank 0 and after finish(), what all ranks have gathered, or the first failure,
  /// among them puts of different ranks that share an element.
  Result<GatheredByAll> take_all(const Catalog& catalog);

 private:
  std::vector<RowTable> tables_;
  Gathered gathered_;
  PartExchange parts_;
};

}  // namespace stria::file
