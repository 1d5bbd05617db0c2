// The engine as it is, on the ranks of a run.
#pragma once

#include "access/request/hints.hpp"
#include "run/request.hpp"
#include "run/run.hpp"
#include "storage/driver.hpp"

namespace stria::simulate {

/// What all ranks of a run share.
struct RunShared {
  const Machine& machine;
  const RunOptions& options;
  const access::ResolvedHints& hints;
  Clock& clock;
  Store& store;
  storage::Driver& driver;
  storage::Driver& memory;  ///< the bytes behind it, of a run that carries them
  RunOutcome& outcome;      ///< what rank 0 tells, and the times
  Status status;            ///< of the first rank that failed
};

inline constexpr const char* kFilePath = "checkpoint";

/// All parts of the workload in one commit, as File::commit() moves them: planned from the shape of
/// the whole, opened by the ranks that need it, written under another name. Collective: yes.
Status commit_all(RunShared& shared, Comm& comm, const bench::Workload& workload);

/// Each call of the workload as one collective call, as the drop-in for MPI-IO does. Collective:
/// yes.
Status move_by_calls(RunShared& shared, Comm& comm, const bench::Workload& workload);

/// Each rank by itself, by a plan of its own. Collective: yes, for the file.
Status move_alone(RunShared& shared, Comm& comm, const bench::Workload& workload);

/// One file a rank, each of which a rank makes and writes by itself.
Status move_own_file(RunShared& shared, Comm& comm, const bench::Workload& workload);

}  // namespace stria::simulate
