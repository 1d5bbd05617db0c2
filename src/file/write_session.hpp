// A new file being written: definitions, puts, the commit.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "file/part_exchange.hpp"
#include "file/session.hpp"

namespace stria::file {

class WriteSession : public Session {
 public:
  /// Creates the temporary file. Collective: yes; the same outcome everywhere.
  static Result<std::shared_ptr<WriteSession>> create(Environment environment, const std::string& path,
                                                      const CreateOptions& options);
  ~WriteSession() override;

  // Definitions: recorded on every rank, carried out by rank 0 at the next flush.
  Result<int> create_dataset(const container::DatasetSpec& spec, const DatasetOptions& options);
  void create_table(container::DatasetSpec spec, std::vector<std::byte> content);
  void set_attribute(container::AttributeSpec attribute);

  Status flush() override;
  Status commit() override;
  Status abandon() override;

  /// The name under which the file at `path` is written until its commit.
  static std::string partial_path(const std::string& path);

 private:
  using Definition = std::function<Status(container::Hdf5Writer&)>;

  WriteSession(Environment environment, const std::string& path, const CreateOptions& options);

  Status create_partial();
  void define(uint64_t fingerprint, Definition definition);
  Result<int64_t> plan_place(int64_t bytes, int64_t alignment_bytes);
  Status already_finished() const;
  Result<access::RequestShape> agree_on_pending();
  /// Moves what is pending, and makes the metadata when it is the `last` time. The outcome is this rank's own.
  Status move(const access::RequestShape& shape, bool last);
  Status open_handles(const access::Plan& plan);
  Status reserve_space();
  Status transfer(const access::Plan& plan, TransferSet& set, access::Context& context, bool last);
  Status keep(TransferSet& set);
  void keep_sums(const TransferSet& set);
  void keep_value_ranges(const TransferSet& set);
  void define_checksum_tables();

  // The commit: write_commit.cpp.
  Status build_metadata();
  Status build_dataset(const DatasetEntry& dataset);
  Status build_row_table(size_t number);
  Status reserve_value_range(const DatasetEntry& dataset);
  void lay_out_sums();
  Status hand_in(const Status& mine);
  void finish_parts();
  Status assemble();
  Status make_image();
  Status write_image();
  Status complete(Status mine);
  Status write_sums();
  Status sync_other_nodes(const Status& mine);
  Status close_handles();
  std::vector<std::byte> gathered_part() const;
  void merge_part(std::span<const std::byte> part);
  Status collect(const Status& mine);
  Status finish_file();
  Status write_value_ranges();
  void add_table_sums();
  Status settle();
  Status share_outcome(const Status& mine);
  Status fail(const Status& status);
  void discard();

  CreateOptions options_;
  std::string partial_path_;
  bool finished_ = false;
  bool published_ = false;  // the file has its name

  // Rank 0 only.
  std::unique_ptr<storage::File> created_;
  std::optional<container::Hdf5Writer> writer_;

  // Opened when the first transfer needs them; on rank 0 `created_` serves.
  std::unique_ptr<storage::File> opened_file_;
  std::shared_ptr<storage::Driver> direct_driver_;
  std::unique_ptr<storage::File> direct_file_;
  storage::File* file_ = nullptr;

  std::vector<Definition> definitions_;  // not yet carried out
  uint64_t definitions_hash_ = 0;
  int64_t planned_end_ = container::Hdf5Writer::first_raw_offset();  // of all datasets' raw data; the same on every rank
  std::vector<RowTable> row_tables_;
  std::vector<RowSum> row_sums_;  // .table holds the dataset and .index the row until the tables are placed
  // Small datasets made whole, those that hold checksums among them; sums on rank 0 only.
  struct TableSum {
    std::string path;
    int64_t bytes = 0;
    uint64_t sum = 0;
  };
  std::vector<TableSum> table_sums_;
  std::vector<std::byte> slab_records_;
  std::vector<std::byte> all_slab_records_;
  RowSumBytes row_sum_bytes_;             // of row_sums_, being written
  PartExchange parts_;                    // what the commit gathers
  std::vector<ValueRange> value_ranges_;  // a dataset
  container::SparseImage image_;
  std::vector<std::array<int, 2>> range_attributes_;  // rank 0: minimum and maximum of each dataset that wants them
};

}  // namespace stria::file
