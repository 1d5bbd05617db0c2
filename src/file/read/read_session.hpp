// An existing file that is read: its catalog, gets, attributes and verification.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "access/failure/abort_signal.hpp"
#include "file/background/staging_place.hpp"
#include "file/checksums/checksum_index.hpp"
#include "file/chunks/chunk_reader.hpp"
#include "file/move/transfer_set.hpp"
#include "file/parity/parity_set.hpp"
#include "file/session/session.hpp"
#include "file/verify/findings.hpp"
#include "file/verify/row_sums.hpp"
#include "file/verify/sum_records.hpp"
#include "file/verify/summed_file.hpp"
#include "storage/parted/part_map.hpp"
#include "storage/steady/steady_file.hpp"

namespace stria::file {

class ReadSession : public Session {
 public:
  /// Rank 0 reads the catalog and sends it to all ranks. Collective: yes; the same
  /// outcome everywhere.
  static Result<std::shared_ptr<ReadSession>> open(Environment environment, const std::string& path,
                                                   const OpenOptions& options);
  ~ReadSession() override;

  Status flush() override { return move_pending(Call::kFlush); }
  Status commit() override { return move_pending(Call::kCommit); }
  Status abandon() override;
  Format format() const override { return format_; }
  std::string how_opened() const override { return "is open to be read"; }
  bool is_written() const override { return false; }
  Result<std::vector<Column>> read_columns(const std::string& dataset_path, int64_t& row_bytes) override;

  /// The parts that hold the raw data; null where the file itself does.
  const storage::PartMap* parts() const { return parts_.get(); }
  /// What the file says of itself. On rank 0.
  const container::Reader& reader() const { return *reader_; }
  /// What is damaged in the catalog of a file that is looked up by and by is an error here.
  Result<bool> has_checksums();
  Result<std::vector<std::string>> dataset_paths();
  Result<int> find(const std::string& dataset_path) override;
  // Groups and links: lookups.cpp.
  Result<bool> has_group(const std::string& path);
  Result<std::vector<std::string>> members(const std::string& group);
  /// The object and the file to which the link at `path` leads; empty where it leads to no file.
  Result<std::pair<std::string, std::string>> link_to_file(const std::string& path);

  // Small content that rank 0 reads for all ranks: small_content.cpp. Collective: yes.
  Result<std::vector<std::byte>> read_table(const std::string& dataset_path, std::vector<Column>& columns, int64_t& row_bytes);
  Result<std::vector<std::string>> read_strings(const std::string& dataset_path);
  Result<double> read_number_attribute(const std::string& object, const std::string& name);
  Result<container::AttributeSpec> read_attribute(const std::string& object, const std::string& name);
  Result<std::vector<AttributeInfo>> list_attributes(const std::string& object);

  /// The bytes that a dataset takes in the file; -1 when only libhdf5 can tell. Collective: no.
  Result<int64_t> stored_bytes(int number);

  /// Compares the whole file with its sums, except the datasets named in `except`. The ranks share
  /// the work, and all get the result. `remarks` gets what is no damage but can't be checked or
  /// should be known. Collective: yes.
  Result<std::vector<Damage>> verify(std::vector<std::string>* remarks = nullptr, const std::vector<std::string>& except = {});

 private:
  ReadSession(Environment environment, const std::string& path, const OpenOptions& options,
              std::shared_ptr<RollCall> roll_call);

  template <typename Value, typename Ask, typename Decode>
  Result<Value> ask_root(Ask&& ask, Decode&& decode);
  Status begin();
  Result<std::vector<std::byte>> open_root();
  Result<std::vector<std::byte>> open_as_it_is();
  Result<std::vector<std::byte>> read_whole_catalog();
  Result<bool> may_be_lazy() const;
  /// Reads the catalog whole, where datasets have been looked up one by one.
  Status complete();
  Status take_sums();
  Result<Nearest> find_file();
  void take_nearest(const Nearest& nearest);
  Status move_pending(Call call);
  // What a rank reads before it meets the others: early_reads.cpp.
  struct Early {
    int64_t bytes = 0;  // which are no longer pending
    bool has_failed = false;
  };
  bool may_read_early() const;
  Early read_early();
  Result<Agreed> meet_after(const Early& early, Call call);
  Status end_early(const Early& early);
  Result<std::vector<std::byte>> read_small_once(const std::string& dataset_path, const Status& before, Call call);
  Result<std::vector<std::byte>> read_small(const std::string& dataset_path, const Status& before, Call call);
  Status read_whole(int number, std::vector<std::byte>& content);
  Status take_catalog(std::span<const std::byte> message);
  Status without_index(const Status& problem);
  Status open_handle();
  /// Takes the parts into the handle, where the file has some.
  Status take_parts(std::span<const std::byte> table);
  void join_parts();
  // How damage is met where there is parity: healing.cpp.
  Status find_parity();
  /// Rank 0, before the others take part: whether to open the file again by its parity.
  Result<bool> heal_root(const Status& failure);
  /// After a call that has failed on all ranks: whether to make it again, by the file's parity.
  /// Collective: yes; the same outcome everywhere.
  bool heal(const Status& failure);
  /// Makes a collective call that all ranks end alike, and where that fails by damage once more.
  template <typename Call>
  auto healing(Call&& call) -> decltype(call()) {
    auto outcome = call();
    return !outcome.ok() && heal(status_of(outcome)) ? call() : std::move(outcome);
  }
  static const Status& status_of(const Status& status) { return status; }
  template <typename Value>
  static Status status_of(const Result<Value>& result) {
    return result.status();
  }
  void note_healing(const Status& failure);
  void drop_handles() noexcept;
  Result<std::unique_ptr<storage::File>> open_plain_or_healed();
  Result<std::unique_ptr<storage::File>> open_healed_part(int number);
  Status move(const access::RequestShape& shape);
  Result<Findings> check_whole(const std::vector<std::string>& except);
  Status move_as(const access::Plan& plan, const access::RequestShape& shape);
  Status together(const std::function<Status()>& work);
  Status move_all(const access::Plan& plan);
  Status read_chunks(const std::vector<Transfer>& transfers, ProgressMeter& progress);
  Status load_chunk_sums();
  Status read_through_library(const Transfer& transfer, ProgressMeter& progress);
  Status deliver_records(std::span<const Transfer> transfers);

  /// The file for an operation that compares data with their sums. \pre open_handle()
  SummedFile summed();
  /// Whether data are checked on the way of a read.
  bool checks() const { return checksums_.present && options_.verify; }

  OpenOptions options_;
  bool is_lazy_ = false;                           // the catalog has what was asked for
  bool is_staged_ = false;                         // what is read; stored_path_ says where
  std::shared_ptr<const storage::PartMap> parts_;  // null: all data are in the file itself
  std::vector<std::byte> head_;                    // of the file, as rank 0 has read it
  std::vector<std::string> file_remarks_;          // what the reader has to say of the file
  std::shared_ptr<ParitySet> parity_;              // by which it is read; null: as it is
  std::string healing_remark_;
  std::unique_ptr<storage::File> file_;
  storage::SteadyFile* steady_ = nullptr;  // rank 0's, within file_
  std::unique_ptr<container::Reader> reader_;
  ChecksumIndex checksums_;
  Format format_ = Format::kHdf5;
  access::AbortSignal* signal_ = nullptr;  // of the operation under way, where failures are told
  ChunkReader chunks_{{path_, catalog_, file_, reader_}};
  bool chunk_sums_loaded_ = false;
  SumRecords sum_records_;  // of catalog_ and checksums_
  RowSums row_sums_;
};

}  // namespace stria::file
