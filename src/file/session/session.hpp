// One open file as all ranks see it: what reading and writing share.
//
// The state is the same on every rank, except the pending transfers. Every collective member
// validates locally, agrees with the other ranks, and returns the same outcome on all of them. Each
// begins with meet(). A put or a get becomes a Transfer, which is pending until flush() or commit()
// moves all of them as one request. What follows for a write is in write_session.hpp, for a read in
// read_session.hpp, and src/README.md tells the life of a write.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "access/failure/memory_reserve.hpp"
#include "access/plan/planner.hpp"
#include "access/request/hints.hpp"
#include "base/out_of_memory.hpp"
#include "comm/comm.hpp"
#include "comm/waiting.hpp"
#include "container/formats.hpp"
#include "file/define/catalog.hpp"
#include "file/meet/definition_log.hpp"
#include "file/meet/equality_sums.hpp"
#include "file/meet/roll_call.hpp"
#include "file/move/transfer.hpp"
#include "file/session/call_gate.hpp"
#include "file/session/file_identity.hpp"
#include "storage/driver.hpp"
#include "stria/file.hpp"
#include "trace/counters/file_counters.hpp"

namespace stria::file {

/// What a session runs on. A test can bring its own.
struct Environment {
  std::shared_ptr<Comm> comm;
  std::shared_ptr<storage::Driver> driver;
  /// Makes the driver for handles past the page cache when one is first wanted; null:
  /// `driver` it is.
  std::function<std::shared_ptr<storage::Driver>()> make_direct_driver;
  access::ResolvedHints hints;
  std::vector<std::string> hint_warnings;
  const container::FileFormat* format = &container::default_format();  ///< of new files
  bool absolute_paths = false;  ///< the program may leave its directory while the file is open
  /// Why this rank can't take part, there being no driver; every rank hears of it at the
  /// first agreement.
  Status problem;
  /// On rank 0: the problem is the failure of an earlier commit in the background, of which the
  /// program has to hear before this call is begun.
  bool puts_off = false;
};

/// What a rank tells the others of its pending transfers, besides their shape.
struct Aside {
  int64_t useful_bytes = 0;  ///< recorded since the last agreement and not pending
  int64_t sum_bytes = 0;     ///< of the sums of what is pending
};

/// What all ranks know after they have agreed to move what is pending; the same on every rank.
struct Agreed {
  access::RequestShape shape;
  int64_t sum_bytes = 0;     ///< of the sums of what is pending, on all ranks
  int64_t useful_bytes = 0;  ///< of all ranks' Aside
};

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
  const CallGate& calls() const { return calls_; }

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
  /// Says that a call can't be made on this rank: the next collective call fails on all. Returns
  /// the status with the file's name; success stays success. Collective: no.
  Status refuse(const Status& status);
  /// The columns of a dataset of records, and the size of one. Collective: no.
  virtual Result<std::vector<Column>> read_columns(const std::string& dataset_path, int64_t& row_bytes) = 0;
  /// The place of this rank's rows behind those of lower ranks. Collective: yes.
  Result<Rows> place_rows(int64_t count);
  /// Calls `report` while data are moved.
  void set_progress(std::function<void(const Progress&)> report);

  const std::string& path() const { return path_; }
  virtual Format format() const = 0;
  /// How it was opened, in words behind the file's name.
  virtual std::string how_opened() const = 0;
  /// The file is put into; otherwise it is got from.
  virtual bool is_written() const = 0;
  bool is_open() const { return !finished_; }
  /// The reason why an earlier call failed on this rank, so that the next collective call will
  /// fail; success otherwise.
  const Status& failure() const { return poisoned_; }
  const DatasetEntry& dataset(int index) const { return catalog_[index]; }
  virtual Result<int> find(const std::string& dataset_path);
  std::span<const DatasetEntry> datasets() const { return catalog_.datasets(); }
  Comm& comm() const { return *environment_.comm; }
  const Report& report() const { return report_; }
  const Environment& environment() const { return environment_; }
  /// The hints, with the planner's choice where they leave the collective buffers to it.
  Hints hints_in_effect() const;
  /// The note for reports of waits in `call`, which must live as long as the program.
  CallNote note(const char* call) const;
  /// Counts a call of put() or get().
  void count_transfer(bool put, int64_t bytes);
  /// The recorder's number of this file.
  uint16_t trace_id() const { return trace_id_; }

 protected:
  Session(Environment environment, std::string path, std::shared_ptr<RollCall> roll_call);

  // How every file begins: with a roll call, so that ranks which can't even make a session are
  // heard, and those that make another call.
  /// The roll call of the next file of `comm`. Collective: yes, without communication.
  static std::shared_ptr<RollCall> begin_roll_call(Comm& comm);
  /// Takes part in the first meeting for a rank that has no session. Returns the error that all
  /// ranks return. Collective: with the meet() of the others.
  static Status give_up_opening(Comm& comm, RollCall& roll_call, Call call, const Status& why);

  /// Why there is no dataset of this name, behind the file's name.
  virtual std::string why_missing(const std::string& dataset_path) const;
  bool is_root() const { return comm().rank() == 0; }
  /// The limits of the hints.
  WaitLimits wait_limits() const;
  /// A hash of the path and of the hints that all ranks must share, because they decide which
  /// collective operations follow.
  uint64_t hash_of_opening() const;
  /// `call` of this file, with those.
  DefinitionText describe_opening(const char* call) const;
  /// Sets memory aside for what a collective operation needs once the ranks have agreed to move.
  Status set_reserve_aside();
  /// Sees to it that the transfer means what its memory holds now. Local; may throw std::bad_alloc.
  virtual Status secure(Transfer& /*transfer*/) { return Status(); }
  /// Keeps what `make` returns as pending.
  template <typename Make>
  Status record_made(const Make& make);
  /// Notes that a pending call failed on this rank.
  void poison(const Status& status);
  /// Begins every collective call. Returns the same error on all ranks when a rank has left, when
  /// ranks make different calls, or when `mine` is an error on any rank. Otherwise `sums` becomes
  /// the sums over all ranks, and each number of `least` the least that any rank gives. Collective:
  /// yes.
  Status meet(Call call, const Status& mine, std::span<int64_t> sums = {}, std::span<int64_t> least = {});
  /// The same, and gives rank 0's bytes to all ranks. Collective: yes.
  Status meet_and_share(Call call, const Status& mine, std::vector<std::byte>& bytes);
  /// Refuses a call after the end of the file on this rank.
  Status check_open() const;
  /// Agrees on what there is to move; an error where any rank is poisoned, or the log differs.
  /// Collective: yes.
  Result<Agreed> agree_on_request(Call call, bool write, const Aside& aside = {});
  /// Adds a transfer to the shape of a request. Local.
  static void add_to(access::RequestShape& shape, const Transfer& transfer);
  /// The shape with what the catalog tells of the stretches of the file. Local.
  access::RequestShape with_lanes(access::RequestShape shape) const;
  /// Agrees on the beginning, and tells everybody which file rank 0's (null elsewhere) is and what
  /// it can do. `found_path`, of rank 0, becomes stored_path_ on all ranks. Collective: yes.
  Status agree_on_open(Call call, const Status& mine, storage::File* file, const std::string& found_path);
  /// This rank's part of the sums of which check_log_terms() tells whether all have the same log.
  std::array<int64_t, 2 * kEqualityTerms + 1> log_terms() const;
  /// Success, or what differs. Collective: yes, where something does.
  Status check_log_terms(std::span<const int64_t, 2 * kEqualityTerms + 1> sums);
  /// Takes rank 0's path. Collective: yes.
  Status share_path(int64_t path_bytes, const std::string& found_path);
  void note_time();
  /// Keeps what was planned, in the report and for the trace.
  void note_plan(const access::Plan& plan);
  /// The second of these, of the report's reason.
  void trace_plan(const access::Plan& plan);
  /// What the ranks chose besides the plan; nothing where that is empty. May throw std::bad_alloc.
  void note_choice(const access::Plan& plan, const std::string& choice);

  CallGate calls_;
  Environment environment_;
  std::string path_;                    // as the program gave it
  std::string stored_path_;             // as the storage knows it
  storage::Capabilities capabilities_;  // of rank 0's file
  FileIdentity identity_;               // of the same
  Catalog catalog_;
  std::vector<Transfer> pending_;
  std::function<void(const Progress&)> progress_;
  Status poisoned_;
  bool put_off_ = false;  ///< not begun, on any rank: Environment::puts_off of rank 0
  bool finished_ = true;  ///< not begun, ended on all ranks, or left by this one
  access::MemoryReserve reserve_;
  std::shared_ptr<RollCall> roll_call_;
  DefinitionLog log_;
  Report report_;
  uint16_t trace_id_ = 0;
  trace::FileCounters* counters_ = nullptr;
  PhaseTimes counted_phases_;  ///< what the counters know of report_.phases
  std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
};

}  // namespace stria::file
