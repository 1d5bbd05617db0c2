// An existing file that is read: how it is opened, and how what is pending is got.
//
// Method: the steps are functions over a FileToRead (gets.hpp), from opening it to a flush
// (content.hpp, early_reads.hpp, gets.hpp). What rank 0 reads for all is in small_content.hpp, and
// what is asked by name in lookups.hpp; both use what is public here.
// Cost: a get takes one meeting where all ranks have read before it, else two.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "file/read/gets.hpp"
#include "file/session/session.hpp"

namespace stria::file {

class ReadSession final : public Session {
 public:
  /// Rank 0 reads the catalog and sends it to all ranks. Collective: yes; the same
  /// outcome everywhere.
  static Result<std::shared_ptr<ReadSession>> open(Environment environment, const std::string& path,
                                                   const OpenOptions& options);
  ~ReadSession() override;

  OpenFile& file() override { return reading_.file; }
  std::variant<WriteSession*, ReadSession*> itself() override { return this; }
  /// This rank reads the file by this; on rank 0 it has a reader.
  const ReadFile& source() const { return reading_.source; }
  /// Returns the sums of the file, as far as the catalog is whole.
  const ChecksumIndex& sums() const { return reading_.sums.index; }

  /// Records a get. After an error the next flush fails. Local.
  Status record(int dataset, const Hyperslab& slab, const Memory& memory) {
    return file::record(reading_.file, nullptr, dataset, slab, memory);
  }
  Status record(int dataset, const ElementMap& elements, const Memory& memory) {
    return file::record(reading_.file, nullptr, dataset, elements, memory);
  }
  Result<int> find(const std::string& dataset_path) override;
  Result<std::vector<Column>> read_columns(const std::string& dataset_path, int64_t& row_bytes) override;
  /// Tells whether the catalog is whole; else datasets are looked up one by one, by the reader.
  bool is_complete() const { return reading_.is_whole; }
  /// Reads the catalog whole where it isn't, which is on one rank only. Collective: no.
  Status complete();
  /// Returns the bytes that a dataset takes in the file; -1 when only libhdf5 can tell. Collective:
  /// no.
  Result<int64_t> stored_bytes(int number);

  Status flush() override;
  Status commit() override;
  Status abandon() override;
  void leave(std::string_view reason) noexcept override { file::leave(reading_.file, reason); }

  /// Rank 0's whole content of a small dataset, on every rank, unless one of them has failed
  /// `before`. Collective: yes; the same outcome everywhere.
  Result<std::vector<std::byte>> read_small(const std::string& dataset_path, const Status& before, Call call);
  /// Compares the whole file with its sums, except the datasets named in `except`. The ranks share
  /// the work, and all get the result. `remarks` gets what is no damage but can't be checked or
  /// should be known. Collective: yes.
  Result<std::vector<Damage>> verify(std::vector<std::string>* remarks = nullptr, const std::vector<std::string>& except = {});

 private:
  ReadSession(Environment environment, const std::string& path, bool verify, std::shared_ptr<RollCall> roll_call);

  FileToRead reading_;
};

}  // namespace stria::file
