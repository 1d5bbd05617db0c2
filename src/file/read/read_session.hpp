// An existing file being read: its catalog, gets, attributes, verification.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "access/failure/abort_signal.hpp"
#include "base/hash.hpp"
#include "file/checksums/checksum_index.hpp"
#include "file/move/transfer_set.hpp"
#include "file/session/session.hpp"

namespace stria::file {

/// What a check of the whole file has found.
struct Findings {
  std::vector<Damage> damages;
  std::vector<int64_t> summed;  ///< datasets of whose rows at least one has a sum
  std::vector<std::string> remarks;
};

/// Notes rows as damaged; together with those before them where they follow each other.
void add_damage(std::vector<Damage>& found, const std::string& dataset, int64_t first_row, int64_t last_row);

class ReadSession : public Session {
 public:
  /// Rank 0 reads the catalog and tells everybody. Collective: yes; the same outcome everywhere.
  static Result<std::shared_ptr<ReadSession>> open(Environment environment, const std::string& path,
                                                   const OpenOptions& options);
  ~ReadSession() override;

  Status flush() override { return move_pending(Call::kFlush); }
  Status commit() override { return move_pending(Call::kCommit); }
  Status abandon() override;

  bool has_checksums() const { return checksums_.present; }
  /// Everything but Stria's own tables.
  std::vector<std::string> dataset_paths() const;

  // Small content that rank 0 reads for everybody. Collective: yes.
  Result<std::vector<std::byte>> read_table(const std::string& dataset_path, std::vector<Column>& columns, int64_t& row_bytes);
  Result<std::vector<std::string>> read_strings(const std::string& dataset_path);
  Result<double> read_number_attribute(const std::string& object, const std::string& name);
  Result<container::AttributeSpec> read_attribute(const std::string& object, const std::string& name);
  Result<std::vector<AttributeInfo>> list_attributes(const std::string& object);

  /// Compares the whole file, but for the datasets named in `except`, with the sums; the ranks share the work and the result.
  /// `remarks`: what is no damage, but can't be checked or should be known. Collective: yes.
  Result<std::vector<Damage>> verify(std::vector<std::string>* remarks = nullptr, const std::vector<std::string>& except = {});

 private:
  ReadSession(Environment environment, const std::string& path, const OpenOptions& options,
              std::shared_ptr<RollCall> roll_call);

  template <typename Value, typename Ask, typename Decode>
  Result<Value> ask_root(Ask&& ask, Decode&& decode);
  Status begin();
  Status open_root();
  Status move_pending(Call call);
  Result<std::vector<std::byte>> read_small(const std::string& dataset_path, const Status& before, std::optional<Call> call);
  Status read_whole(int number, std::vector<std::byte>& content);
  Status take_catalog(std::span<const std::byte> message);
  Status attach_row_sums();
  Status without_index(const Status& problem);
  Status open_handle();
  Status move(const access::RequestShape& shape);
  Status together(const std::function<Status()>& work);
  Status failure_elsewhere() const;
  Status move_all(const access::Plan& plan);
  Status read_through_library(const Transfer& transfer);

  // On the way of a read: get_checks.cpp.
  bool checks() const;
  Status check_sums(const std::vector<Transfer>& transfers, const TransferSet& set);
  Status check_transfer(const Transfer& transfer, const UnitHasher& hasher, std::vector<Damage>& found);
  Status check_rows(const Transfer& transfer, const UnitHasher& hasher, std::vector<Damage>& found, bool& all_known);
  Status check_touched(const Transfer& transfer, const UnitHasher& hasher, std::vector<Damage>& found);
  Status check_table(int dataset);
  Status trust_table(int table);
  Status table_damaged(int table) const;

  // Data against sums: read_checks.cpp.
  Status damaged(const Damage& damage) const;
  Status not_raw(int dataset) const;
  Status cut_short(const char* before_what) const;
  int entry_of(int checksum_dataset) const;
  Status read_table_rows(int table, int64_t first_row, int64_t row_count);
  Result<std::vector<uint64_t>> read_row_sums(int dataset, int64_t first_row, int64_t row_count);
  Result<bool> table_is_right(int table);
  Status hash_into(const Datatype& region, int64_t displacement, StreamingHash& hash);
  Result<uint64_t> hash_region(const Datatype& region, int64_t displacement);
  Result<uint64_t> hash_range(ByteRange range);
  Result<std::vector<uint64_t>> hash_rows(const DatasetEntry& entry, int64_t first_row, int64_t row_count);
  Status verify_slab(const SlabSum& slab, std::vector<Damage>& found);
  Status verify_rows(int dataset, ByteRange rows, std::vector<Damage>& found, bool& any_sum);
  Status mark_summed(int dataset, ByteRange window, std::vector<char>& marks);
  Status verify_unwritten(int dataset, ByteRange range, std::vector<Damage>& found);

  // The whole file: verify.cpp.
  Status verify_share(const std::vector<std::string>& except, Findings& findings);
  Status verify_dataset(int dataset, Findings& findings);
  Status verify_tables(std::vector<Damage>& found);
  Status verify_metadata(Findings& findings);
  void verify_names(Findings& findings);
  void remark_on_datasets(Findings& findings);
  Status share_findings(Findings& findings);

  /// Rows of a table of sums, all columns.
  struct TableRows {
    int table = -1;
    int64_t first_row = 0;
    int64_t row_count = 0;
    std::vector<uint64_t> sums;
  };

  OpenOptions options_;
  std::unique_ptr<storage::File> file_;
  std::unique_ptr<container::Reader> reader_;
  ChecksumIndex checksums_;
  std::vector<std::vector<int>> slabs_of_;  // of each dataset: the numbers of its records
  TableRows table_rows_;
  std::set<int> trusted_tables_;           // whose own sums were looked at
  access::AbortSignal* signal_ = nullptr;  // of the operation under way, where failures are told
};

}  // namespace stria::file
