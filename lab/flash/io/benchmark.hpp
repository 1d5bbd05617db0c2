// `stria flash io`: the FLASH I/O benchmark (Ross 2001, Latham 2012) through Stria, and through
// plain system calls for comparison.
//
// Modes take turns round by round, so that changes of the machine's speed affect all alike. The
// first round warms up and is not counted. A round's time runs from a barrier to the return of the
// slowest rank, open to close.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "stria/file.hpp"
#include "workload/parameters.hpp"

namespace stria::flash {

struct IoOptions {
  WorkloadParameters workload;
  /// Spread evenly over the ranks. 0: workload.blocks_on() says how many each rank has.
  int64_t total_blocks = 0;
  int rounds = 5;
  std::string directory = ".";
  bool checkpoint = true;
  bool plot_files = true;  ///< cell-centred and with corners
  bool standard = true;    ///< layouts of the checkpoint
  bool experimental = true;
  int64_t plot_variables = 4;
  bool in_background = false;  ///< also by commit_async(), timed until it returns
  bool read = false;           ///< also read the checkpoint back into guard-celled blocks
  /// The run only reads this checkpoint, which another run kept, into blocks that are spread evenly
  /// over the ranks. It decides nxb, nvar and the number of blocks. With `verify`, guard_cells must
  /// be those of that run.
  std::string read_from;
  std::string values;   ///< Unk::take_values(), or empty
  bool limits = false;  ///< also the plain system calls
  bool sync = false;
  bool checksums = true;
  std::string compress;  ///< the checkpoints: Filters::from_text(), or empty
  bool named = false;    ///< their dimensions have names
  Format format = Format::kHdf5;
  bool verify = false;  ///< check every value of every file written
  bool keep = false;
  Hints hints;
};

/// One mode's rounds. Phases: mean over the ranks, per round.
struct ModeResult {
  std::string name;
  std::string kind;  ///< "checkpoint", "plot" or "read"
  int64_t useful_bytes = 0;
  int64_t file_bytes = 0;  ///< the last file that was written, with its parts; 0: not known
  std::vector<double> seconds;
  std::map<std::string, std::vector<double>> phases;
  /// The most that a rank held in any round above its arrays; -1: the system doesn't tell.
  int64_t memory_bytes = -1;
  std::string method;  ///< the method that the engine used
  std::string reason;
  std::string file;  ///< path of the last file, if it is kept or was there before
};

using Tell = std::function<void(const std::string&)>;

/// Runs the benchmark. If `options.read_from` names a file, `options` gets the shape of that file.
/// On rank 0 `progress` is called with a line of text now and then, and `warn` once with each hint
/// that could not be followed. Throws stria::Error, the same on all ranks. Collective: yes.
std::vector<ModeResult> run_io_benchmark(MPI_Comm comm, IoOptions& options, const Tell& progress, const Tell& warn);

}  // namespace stria::flash
