// Tracing: which spans are recorded, where they go, and spans of a program's own.
//
// Without a line of code: STRIA_TRACE=full STRIA_TRACE_DIR=DIR in the environment writes
// DIR/PROGRAM_TIME_PID.stria-trace when MPI ends. `stria trace stats FILE` shows what is in it.
#pragma once

#ifndef STRIA_NO_MPI
#include <mpi.h>
#endif

#include <cstdint>
#include <string>

namespace stria::trace {

/// Says what is recorded; each level adds to the one before.
enum class Level : int {
  kOff,       ///< nothing
  kCounters,  ///< counters of every file: the default
  kApp,       ///< a span for each call of the application
  kLibrary,   ///< the phases inside: pack, exchange, write, …
  kFull,      ///< each request to the storage and each message
};

struct Options {
  Level level = Level::kFull;
  std::string directory = ".";  ///< shared by all ranks, or each node has its own
};

#ifndef STRIA_NO_MPI
/// Begins to record the ranks of `comm` as one run, and compares their clocks. Without this call
/// STRIA_TRACE begins a run, with the first communicator of all ranks on which a file is opened.
/// Throws stria::Error (kInvalidArgument) when a run has begun already. Collective: yes.
void start(MPI_Comm comm, const Options& options);

/// Begins at once the run that STRIA_TRACE and STRIA_TRACE_DIR ask for, if any, so that the first
/// file's time doesn't include the comparison of clocks. Throws stria::Error on all ranks when a
/// variable is wrong or nothing can be written. Collective: yes.
void start_from_environment(MPI_Comm comm);

/// Ends the run that start() or STRIA_TRACE began: compares clocks again, and merges what the ranks
/// have recorded. Returns the path of the trace file, or "" when there is none. Without this call
/// MPI_Finalize ends the run. Throws stria::Error on all ranks when the file can't be written.
/// Collective: yes, over the communicator of the run.
std::string finish();
#endif

/// Changes what this rank records from now on. Collective: no.
void set_level(Level level);
Level level();

/// Writes what this rank has recorded so far to its part of the trace, where a crash of the program
/// can't harm it. Commits do this by themselves. Collective: no.
void flush();

/// A region of the program. While it lives, a span of this name is recorded around the calls, at
/// level app and above. `name` must be a literal, or live as long as the program.
class Region {
 public:
  explicit Region(const char* name);
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

 private:
  alignas(8) unsigned char span_[64];
};

}  // namespace stria::trace
