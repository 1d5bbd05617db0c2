// One open file as all ranks see it: the handle that reading and writing share, with its rules for
// threads and for failures.
//
// What it holds is the same on every rank, except the pending transfers. Every collective member
// validates locally, agrees with the other ranks (meet/meetings.hpp), and returns the same outcome
// on all of them. A put or a get becomes a Transfer, which is pending until flush() or commit()
// moves all of them as one request. What follows for a write is in write_session.hpp, for a read in
// read_session.hpp, and src/README.md tells the life of a write.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "file/define/catalog.hpp"
#include "file/meet/meetings.hpp"
#include "file/move/transfer.hpp"
#include "file/session/accounts.hpp"
#include "file/session/agreement.hpp"
#include "file/session/call_gate.hpp"
#include "file/session/environment.hpp"
#include "file/session/file_identity.hpp"
#include "storage/driver.hpp"
#include "stria/file.hpp"

namespace stria::file {

class Session {
 public:
  virtual ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Begins a call from outside, which calls().leave() ends. kInvalidArgument while another thread
  /// is in a call, and from a report of progress: this one must do nothing, and isn't ended; the
  /// next collective call then fails on all ranks. Collective: no.
  Status begin_call();
  CallGate& calls() { return calls_; }
  /// Returns how this rank meets the others, and what it has to say then.
  Meetings& meetings() { return meetings_; }
  /// Returns what the calls have cost.
  Accounts& accounts() { return accounts_; }

  /// Moves what is pending. Collective: yes.
  virtual Status flush() = 0;
  /// Moves what is pending and completes. Collective: yes.
  virtual Status commit() = 0;
  /// Gives up what is pending, and the file. Collective: yes.
  virtual Status abandon() = 0;
  /// Ends this rank's part; its later calls are refused. Makes the next collective call of the
  /// others fail, unless the file has ended everywhere. `reason` completes "rank N …". It doesn't
  /// wait for other ranks. Collective: no.
  virtual void leave(std::string_view reason) noexcept;

  /// Records a transfer. After an error the next flush fails. Collective: no.
  Status record(int dataset, const Hyperslab& slab, const Memory& memory);
  Status record(int dataset, const ElementMap& elements, const Memory& memory);
  /// Reads the columns of a dataset of records, and the size of one. Collective: no.
  virtual Result<std::vector<Column>> read_columns(const std::string& dataset_path, int64_t& row_bytes) = 0;
  /// Calls `report` while data are moved.
  void set_progress(std::function<void(const Progress&)> report);

  const std::string& path() const { return path_; }
  virtual Format format() const = 0;
  /// Returns how it was opened, in words behind the file's name.
  virtual std::string how_opened() const = 0;
  /// The file is put into; otherwise it is got from.
  virtual bool is_written() const = 0;
  /// Finds the number of a dataset, which catalog() knows it by.
  virtual Result<int> find(const std::string& dataset_path);
  const Catalog& catalog() const { return catalog_; }
  Comm& comm() const { return *environment_.comm; }
  const Report& report() const { return accounts_.report(); }
  const Environment& environment() const { return environment_; }
  /// Returns the hints, with the planner's choice where they leave the collective buffers to it.
  Hints hints_in_effect() const;

 protected:
  Session(Environment environment, std::string path, std::shared_ptr<RollCall> roll_call);

  /// Sees to it that the transfer means what its memory holds now. Local; may throw std::bad_alloc.
  virtual Status secure(Transfer& /*transfer*/) { return Status(); }
  /// Keeps what `make` returns as pending.
  template <typename Make>
  Status record_made(const Make& make);
  /// Agrees on the beginning, and takes over which file rank 0's (null elsewhere) is, where it is
  /// and what it can do. Collective: yes.
  Status agree_on_file(Call call, const Status& mine, storage::File* file, const std::string& found_path);

  CallGate calls_;
  Environment environment_;
  std::string path_;                    // the path as the program gave it
  std::string stored_path_;             // the path as the storage knows it
  storage::Capabilities capabilities_;  // the capabilities of rank 0's file
  FileIdentity identity_;               // the identity of the same file
  Catalog catalog_;
  std::vector<Transfer> pending_;
  std::function<void(const Progress&)> progress_;
  Meetings meetings_;
  Accounts accounts_;
};

/// Returns the place of this rank's rows behind those of lower ranks. Collective: yes.
Result<Rows> place_rows(Session& session, int64_t count);

/// Describes the opening of `path` by `call`, as all ranks must say it alike: the path and the
/// hints by which collective operations are decided.
DefinitionText describe_opening(const Environment& environment, const std::string& path, const char* call);
/// Returns a hash of the same, without the call.
uint64_t hash_of_opening(const Environment& environment, const std::string& path);

}  // namespace stria::file
