// Data against the sums that the file has of them: on the way of a read, and of a whole file.
//
// Problem: what was put by rows has sums in tables, other puts records of their own, and what
// nobody put must read as the fill value.
// Method: rows that pass by whole are hashed there; of everything else that a read touches the rest
// is read as well. Where elements were put more than once, the sum of each put but one is wrong: a
// mismatch is no damage where another put shares elements, which is looked up then.
// Cost: of a read by whole rows 8 bytes a row; else what it touches, once more.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "access/failure/abort_signal.hpp"
#include "base/hash.hpp"
#include "comm/comm.hpp"
#include "container/chunks/chunk_grid.hpp"
#include "file/checksums/checksum_index.hpp"
#include "file/chunks/chunk_reader.hpp"
#include "file/define/catalog.hpp"
#include "file/move/transfer_set.hpp"
#include "file/verify/findings.hpp"
#include "storage/driver.hpp"

namespace stria::file {

/// Everything here is local.
class SumChecker {
 public:
  /// What is looked at; it belongs to the session, and may be filled in later than the
  /// checker is made.
  struct Subject {
    const std::string& path;
    const Catalog& catalog;
    const ChecksumIndex& checksums;
    const std::unique_ptr<storage::File>& file;
    ChunkReader& chunks;
    /// The signal of the operation under way; null: nobody tells of failures.
    access::AbortSignal* const& signal;
  };
  explicit SumChecker(const Subject& seen) : seen_(seen) {}

  /// Finds each dataset's records, once catalog and checksums are known.
  void find_slabs();
  /// Forgets what was read of the file, which is read in another way from now on.
  void forget_content() {
    table_rows_ = {};
    trusted_tables_.clear();
    bad_chunks_.reset();
    repeated_.clear();
  }
  /// Whether the list of sums has it: else another program has added it.
  bool is_listed(int dataset) const { return listed_[static_cast<size_t>(dataset)] != 0; }
  bool has_slabs(int dataset) const { return !slabs_of_[static_cast<size_t>(dataset)].empty(); }

  // On the way of a read: get_checks.cpp. kCorrupted names dataset and rows.
  Status check_sums(const std::vector<Transfer>& transfers, const TransferSet& set);
  /// Checks a small dataset that one rank reads for all.
  Status check_table(int dataset);

  // What looks at a whole file: read_checks.cpp.
  /// This rank's share of a dataset: its rows where they are summed, and what nobody put.
  Status check_dataset(int dataset, const Comm& comm, Findings& findings);
  Status check_slab(const SlabSum& slab, std::vector<Damage>& found);
  /// From now on chunks are compared with the sums of their bytes, if the file has some that
  /// hold for it.
  Status load_chunk_sums(ByteRange superblock);
  /// Rows that don't match their sums, but were put more than once; they are given up.
  std::vector<Damage> take_repeated() { return std::exchange(repeated_, {}); }
  /// This rank's share of the tables of sums.
  Status check_tables(const Comm& comm, std::vector<Damage>& found);
  /// Hashes the file's bytes, or a dataset's raw data in one piece or in rows.
  Status hash_into(const Datatype& region, int64_t displacement, StreamingHash& hash, const DatasetEntry* of = nullptr);
  Result<uint64_t> hash_range(ByteRange range);

 private:
  Status check_transfer(const Transfer& transfer, const UnitHasher& hasher, std::vector<Damage>& found);
  Status check_rows(const Transfer& transfer, const UnitHasher& hasher, std::vector<Damage>& found, bool& all_known);
  Status check_touched(const Transfer& transfer, const UnitHasher& hasher, std::vector<Damage>& found);
  Status trust_table(int table);
  Status table_damaged(int table) const;

  // A mismatch, of a record or of a row: damage, unless the elements were put again. put_again.cpp.
  Status mismatch(const SlabSum& slab, int dataset, std::vector<Damage>& found);
  Status mismatch(int dataset, int64_t row, std::vector<Damage>& found);
  Result<bool> shares_rows(const SlabSum& slab, int dataset);
  bool shares_record(const SlabSum& slab, int dataset) const;
  bool is_any_repeated(int dataset) const;

  Status damaged(const Damage& damage) const;
  Status cut_short(const char* before_what) const;
  std::optional<int> entry_of(int checksum_dataset) const;
  Status read_table_rows(int table, int64_t first_row, int64_t row_count);
  Result<std::vector<uint64_t>> read_row_sums(int dataset, int64_t first_row, int64_t row_count);
  Result<bool> table_is_right(int table);
  Status read_raw(const DatasetEntry& entry, ByteRange range, std::byte* out);
  Status read_data(int dataset, ByteRange range, std::byte* out, std::vector<Damage>& found);
  std::span<const std::byte> zeros(int64_t most_bytes);
  std::span<const std::byte> zeros_of_bad_chunk(int dataset, ByteRange range);
  Result<std::span<const std::byte>> chunk_data(int dataset, ByteRange range, std::vector<Damage>& found);
  Result<uint64_t> hash_region(int dataset, const Datatype& region, int64_t displacement, std::vector<Damage>& found);
  Result<std::vector<uint64_t>> hash_rows(int dataset, int64_t first_row, int64_t row_count, std::vector<Damage>& found);
  Status check_stored_rows(int dataset, ByteRange rows, std::vector<Damage>& found, bool& any_sum);
  Status mark_summed(int dataset, ByteRange window, std::vector<char>& marks);
  Status check_unwritten(int dataset, ByteRange range, std::vector<Damage>& found);
  Status check_chunks(int dataset, ByteRange range, Findings& findings);

  /// Rows of a table of sums, all columns.
  struct TableRows {
    int table = -1;
    int64_t first_row = 0;
    int64_t row_count = 0;
    std::vector<uint64_t> sums;
  };

  /// Chunks that can't be read, so that each is tried once, however many runs it has.
  struct BadChunks {
    int dataset = -1;
    container::ChunkGrid grid;
    std::set<int64_t> numbers;
  };

  Subject seen_;
  std::optional<BadChunks> bad_chunks_;              // of the dataset in which one was met last
  std::vector<std::byte> zeros_;                     // for chunks that can't be read
  std::vector<std::vector<int>> slabs_of_;           // of each dataset: the numbers of its records
  std::vector<std::vector<ByteRange>> repeated_of_;  // raw data of rows that were put again
  std::vector<Damage> repeated_;
  std::vector<char> listed_;  // of each dataset: whether the list of sums has it
  TableRows table_rows_;
  std::set<int> trusted_tables_;  // whose own sums were looked at
};

}  // namespace stria::file
