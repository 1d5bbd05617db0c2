// An existing file that is read: how it is opened, and how what is pending is got.
//
// Method: the steps are functions over values (content.hpp, early_reads.hpp, gets.hpp). What one
// leaves for the next stands here. What rank 0 reads for all is in small_content.hpp, and what is
// asked by name in lookups.hpp; both use what is public here.
// Cost: a get takes one meeting where all ranks have read before it, else two.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "file/read/content.hpp"
#include "file/read/early_reads.hpp"
#include "file/read/gets.hpp"
#include "file/session/session.hpp"
#include "file/verify/findings.hpp"

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
  Result<int> find(const std::string& dataset_path) override;

  /// This rank reads the file by this; on rank 0 it has a reader.
  const ReadFile& file() const { return file_; }
  /// Tells whether the catalog is whole; else datasets are looked up one by one, by the reader.
  bool is_complete() const { return is_whole_; }
  /// Reads the catalog whole where it isn't, which is on one rank only. Collective: no.
  Status complete();
  /// Returns those of the file, as far as the catalog is whole.
  const ChecksumIndex& sums() const { return sums_.index; }
  /// Returns the bytes that a dataset takes in the file; -1 when only libhdf5 can tell. Collective:
  /// no.
  Result<int64_t> stored_bytes(int number);

  /// Rank 0's whole content of a small dataset, on every rank, unless one of them has failed
  /// `before`. Collective: yes; the same outcome everywhere.
  Result<std::vector<std::byte>> read_small(const std::string& dataset_path, const Status& before, Call call);
  /// Compares the whole file with its sums, except the datasets named in `except`. The ranks share
  /// the work, and all get the result. `remarks` gets what is no damage but can't be checked or
  /// should be known. Collective: yes.
  Result<std::vector<Damage>> verify(std::vector<std::string>* remarks = nullptr, const std::vector<std::string>& except = {});

 private:
  ReadSession(Environment environment, const std::string& path, const OpenOptions& options,
              std::shared_ptr<RollCall> roll_call);

  /// Returns what the functions of this file read from.
  ReadFrom from();
  Status begin();
  /// Takes over what was opened on this rank, or told by rank 0. Local.
  Status take(OpenedFile opened);
  /// Moves conducts a flush: what is read early, the meeting, the move. Collective: yes; the same
  /// outcome everywhere.
  Status move_pending(Call call);
  EarlyReads read_early();
  Result<Agreed> meet_after(const EarlyReads& early, Call call);
  /// Moves what is pending by the plan of all ranks. Collective: yes; the same outcome everywhere.
  Status move(const access::RequestShape& shape);
  /// Decides, after a call that has failed on all ranks, whether to make it again by the file's
  /// parity. Collective: yes; the same outcome everywhere.
  /// Collective: yes; the same outcome everywhere.
  bool heal(const Status& failure);
  /// Makes a collective call that all ranks end alike, and where that fails by damage once more.
  template <typename Call>
  auto healing(Call&& call) -> decltype(call());

  OpenOptions options_;
  Format format_ = Format::kHdf5;
  bool is_whole_ = true;
  ReadFile file_;
  FileSums sums_;
  ChunkReader chunks_{{path_, catalog_, file_.file, file_.reader}};
};

}  // namespace stria::file
