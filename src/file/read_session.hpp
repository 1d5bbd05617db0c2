// An existing file being read: its catalogue, gets, attributes, verification.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "access/failure_news.hpp"
#include "file/session.hpp"

namespace stria::file {

class ReadSession : public Session {
 public:
  /// Rank 0 reads the catalogue and tells everybody. Collective: yes; the same outcome everywhere.
  static Result<std::shared_ptr<ReadSession>> open(Environment environment, const std::string& path,
                                                   const OpenOptions& options);

  Status flush() override { return commit(); }
  Status commit() override;
  Status abandon() override;

  bool has_checksums() const { return checksums_.present; }
  /// Everything but Stria's own tables.
  std::vector<std::string> dataset_paths() const;

  // Small content that rank 0 reads for everybody. Collective: yes.
  Result<std::vector<std::byte>> read_table(const std::string& dataset_path, std::vector<Column>& columns, int64_t& row_bytes);
  Result<std::vector<std::string>> read_strings(const std::string& dataset_path);
  Result<double> read_number_attribute(const std::string& object, const std::string& name);

  /// Compares all data with the sums; the ranks share the work and the result. Collective: yes.
  Result<std::vector<Damage>> verify();

 private:
  ReadSession(Environment environment, const std::string& path, const OpenOptions& options);

  Status open_root();
  Result<std::vector<std::byte>> read_small(const std::string& dataset_path, const Status& before);
  Status read_whole(int number, std::vector<std::byte>& content);
  Status read_number(const std::string& object, const std::string& name, double& value);
  Status take_catalogue(std::span<const std::byte> message);
  Status attach_row_sums();
  Status open_handle();
  Status move(const access::RequestShape& shape);
  Status together(const std::function<Status()>& work);
  Status failure_elsewhere() const;
  Status move_all(const access::Plan& plan);
  Status read_engine(const access::Plan& plan, TransferSet& set, access::Context& context);
  Status read_through_library(const Transfer& transfer, const access::Context& context);
  Status check_sums(const std::vector<Transfer>& transfers, const TransferSet& set);
  Status check_table(int dataset);
  Status check_rows(const Transfer& transfer, const UnitHasher& hasher, bool& all_known);
  Result<std::vector<uint64_t>> read_row_sums(int dataset, int64_t first_row, int64_t row_count);

  void verify_rows(int dataset, std::vector<Damage>& found, Status& status);
  void verify_row_range(int dataset, int64_t first, int64_t last, std::vector<Damage>& found, Status& status);
  Result<std::vector<uint64_t>> hash_rows(const DatasetEntry& entry, int64_t first_row, int64_t row_count);
  void verify_slab(const SlabSum& slab, std::vector<Damage>& found, Status& status);
  Result<uint64_t> hash_region(const Datatype& region, int64_t displacement);
  Status verify_share(std::vector<Damage>& found);
  Result<std::vector<Damage>> share_damage(const std::vector<Damage>& mine);
  int entry_of(int checksum_dataset) const;

  OpenOptions options_;
  std::unique_ptr<storage::File> file_;
  std::unique_ptr<container::Hdf5Reader> reader_;
  ChecksumIndex checksums_;
  access::FailureNews* news_ = nullptr;  // of the operation under way, where failures are told
};

}  // namespace stria::file
