// The engine as it is, on the ranks of a run.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "access/request/hints.hpp"
#include "run/request.hpp"
#include "run/run.hpp"
#include "storage/driver.hpp"

namespace stria::simulate {

/// A contiguous piece of the file, and whose memory holds it.
struct OwnedPiece {
  int64_t offset;
  int64_t bytes;
  int rank;
};

/// Holds what all ranks of a run share.
struct RunShared {
  const Machine& machine;
  const RunOptions& options;
  const access::ResolvedHints& hints;
  Clock& clock;
  Store& store;
  storage::Driver& driver;
  storage::Driver& memory;  ///< the bytes behind it, of a run that carries them
  RunOutcome& outcome;      ///< what rank 0 tells, and the times
  bool reads = false;       ///< what is going on now
  Status status{};          ///< the status of the first rank that failed
  size_t most_calls = 0;    ///< the most that a rank has; known when all ranks have met

  /// Charges what every collective call costs a rank, whoever makes it.
  void charge_call() const { clock.charge(machine.nodes.collective_call_s); }

  // The ways of peers need the following: their ranks know what others will send.
  /// The senders and their bytes stand under the number of an exchange and the receiver.
  std::map<std::pair<int64_t, int>, std::vector<std::pair<int, int64_t>>> announced{};
  /// Aggregators, and by rank the index of each, found once for all ranks.
  std::vector<int> aggregator_ranks{};
  std::map<int, int> aggregator_of_rank{};
  /// The rounds of a call stand under the number of its first exchange, found once for all ranks.
  std::map<int64_t, int64_t> rounds{};
  /// What each rank holds, by its place in the file, for output through one rank.
  std::vector<OwnedPiece> owners{};
  std::vector<std::byte> bytes_of_nobody{};
  /// Memory of so many bytes, with whatever is there. It stays until more is asked for.
  std::span<std::byte> nowhere(int64_t bytes) {
    bytes_of_nobody.resize(std::max(bytes_of_nobody.size(), static_cast<size_t>(bytes)));
    return std::span(bytes_of_nobody).first(static_cast<size_t>(bytes));
  }
};

inline constexpr const char* kFilePath = "checkpoint";
inline constexpr int64_t kHeaderBytes = 4096;

/// Rank 0 makes the file, and all open it. Collective: yes.
Result<std::unique_ptr<storage::File>> open_everywhere(RunShared& shared, Comm& comm);

/// Moves all parts of the workload in one commit, as File::commit() moves them: planned from the
/// shape of the whole, opened by the ranks that need it, written under another name. Collective:
/// yes.
Status commit_all(RunShared& shared, Comm& comm, const bench::Workload& workload);

/// Makes each call of the workload as one collective call, as the drop-in for MPI-IO does.
/// Collective: yes.
Status move_by_calls(RunShared& shared, Comm& comm, const bench::Workload& workload);

/// Each rank moves by itself, by a plan of its own. Collective: yes, for the file.
Status move_alone(RunShared& shared, Comm& comm, const bench::Workload& workload);

/// Does does the same behind the creation of each dataset, for which HDF5 wants all ranks. Rank 0
/// writes what describes it. Collective: yes.
Status move_alone_in_step(RunShared& shared, Comm& comm, const bench::Workload& workload);

/// Moves makes one file a rank, which the rank writes by itself.
Status move_own_file(RunShared& shared, Comm& comm, const bench::Workload& workload);

}  // namespace stria::simulate
