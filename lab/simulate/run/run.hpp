// One run: a workload of `stria bench` on so many ranks of a machine, written or read by the engine
// or in a way of its peers.
#pragma once

#include <cstdint>
#include <string>

#include "machine/machine.hpp"
#include "network/timed_comm.hpp"
#include "store/store.hpp"
#include "stria/hints.hpp"
#include "workload/catalog.hpp"

namespace stria::simulate {

struct RunOptions {
  const bench::WorkloadKind* kind = nullptr;
  bench::Chosen chosen;
  int ranks = 1;
  Hints hints;
  std::string through = "library";  ///< one of ways()
  bool reads = false;               ///< false: it writes
  /// Bytes travel and are written, and every byte of the file is checked.
  bool carries_data = false;
  uint64_t seed = 1;
  bool records_timeline = false;
};

struct RunOutcome {
  double seconds = 0;        ///< from the first rank's begin to the last rank's end
  double open_s = 0;         ///< the part until the file is open everywhere it must be
  int64_t useful_bytes = 0;  ///< the bytes of all ranks
  std::string method;
  std::string reason;
  int aggregators = 0;
  StoreTotals store;
  double busiest_server_s = 0;
  double mean_server_s = 0;
  double metadata_s = 0;
  double locks_s = 0;
  Traffic traffic;
  int64_t events = 0;
  Timeline timeline;  ///< where the options ask for it
};

/// A name of RunOptions::through, and what it means.
struct Way {
  std::string name;
  std::string help;
};
const std::vector<Way>& ways();

/// kInvalidArgument for what the workload or a hint can't be; kCorrupted when data that the run
/// carried aren't in the file. Throws stria::Error as the workload does.
Result<RunOutcome> run(const Machine& machine, const RunOptions& options);

}  // namespace stria::simulate
