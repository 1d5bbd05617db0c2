// One open file as all ranks see it: the only place that strings the layers together.
//
// State is the same on every rank but for the pending transfers. Every collective member validates locally, agrees, and returns
// the same outcome on all ranks. The life of a write: put() → Transfer; flush(): TransferSet → planner → access method;
// commit(): the same while rank 0 makes the HDF5 objects, row sums, one message a rank to rank 0, metadata image, sync, rename,
// outcome.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "access/hints.hpp"
#include "access/memory_reserve.hpp"
#include "access/planner.hpp"
#include "comm/comm.hpp"
#include "container/hdf5/reader.hpp"
#include "container/hdf5/writer.hpp"
#include "file/catalog.hpp"
#include "file/checksum_store.hpp"
#include "file/transfer_set.hpp"
#include "storage/driver.hpp"
#include "stria/file.hpp"
#include "trace/file_counters.hpp"

namespace stria::file {

/// Where a session runs and on what; a test can bring its own.
struct Environment {
  std::shared_ptr<Comm> comm;
  std::shared_ptr<storage::Driver> driver;
  /// Makes the driver for handles past the page cache when one is first wanted; null: `driver` it is.
  std::function<std::shared_ptr<storage::Driver>()> make_direct_driver;
  access::ResolvedHints hints;
  std::vector<std::string> hint_warnings;
  Status problem;  ///< why this rank can't take part, there being no driver; every rank hears of it at the first agreement
};

/// What `make` returns, or kResourceExhausted where it runs out of memory: an exception would leave the other ranks waiting.
template <typename Make>
auto or_out_of_memory(Make&& make) -> decltype(make()) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kResourceExhausted, "out of memory");
  }
}

class Session {
 public:
  virtual ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Moves what is pending. Collective: yes.
  virtual Status flush() = 0;
  /// Moves what is pending and completes. Collective: yes.
  virtual Status commit() = 0;
  virtual Status abandon() = 0;

  /// Records a transfer; an error poisons the next flush. Collective: no.
  Status record(int dataset, const Hyperslab& slab, const Memory& memory);

  const std::string& path() const { return path_; }
  const DatasetEntry& dataset(int index) const { return datasets_[static_cast<size_t>(index)]; }
  Result<int> find(const std::string& dataset_path) const;
  std::span<const DatasetEntry> datasets() const { return datasets_; }
  Comm& comm() const { return *environment_.comm; }
  const Report& report() const { return report_; }
  const Environment& environment() const { return environment_; }
  /// Counts a call of put() or get().
  void count_transfer(bool put, int64_t bytes);
  /// The recorder's number of this file.
  uint16_t trace_id() const { return trace_id_; }

 protected:
  Session(Environment environment, std::string path);

  int add(DatasetEntry entry);
  bool is_root() const { return comm().rank() == 0; }
  /// Of the hints that all ranks must share, because they decide which collective operations follow.
  uint64_t hints_hash() const { return hints_hash_; }
  /// Sets memory aside for what a collective operation can't do without once the ranks have agreed to move.
  Status set_reserve_aside();
  /// Says that a pending call failed on this rank.
  void poison(const Status& status);
  /// The shape of the transfers of all ranks, and whether any rank is poisoned or `extra_hash` differs among them. Collective:
  /// yes.
  Result<access::RequestShape> agree_on_request(bool write, bool durable, uint64_t extra_hash);
  /// Agrees on the beginning, and tells everybody what rank 0's file (null elsewhere) can do. Collective: yes.
  Status agree_on_open(const Status& mine, const storage::File* file);
  void note_time();
  /// Keeps what was planned, in the report and for the trace.
  void note_plan(const access::Plan& plan);

  Environment environment_;
  const uint64_t hints_hash_;
  std::string path_;
  storage::Capabilities capabilities_;  // of rank 0's file
  std::vector<DatasetEntry> datasets_;
  std::unordered_map<std::string, int> index_of_path_;
  std::vector<Transfer> pending_;
  Status poisoned_;
  access::MemoryReserve reserve_;
  Report report_;
  uint16_t trace_id_ = 0;
  trace::FileCounters* counters_ = nullptr;
  PhaseTimes counted_phases_;  ///< what the counters know of report_.phases
  std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
};

}  // namespace stria::file
