// One run's trace: its ranks agree on a name, record into parts, and merge them into one file.
//
// Problem: a trace should be one file, also where ranks don't share a directory, and should survive a crash of the program.
// Method: each rank's part is a file of its own, NAME.parts/rank_000012.part; at the end the ranks send theirs to rank 0, which
// writes them one behind the other under a temporary name. Parts go once the whole is there. Cost: rank 0 takes in all parts,
// one at a time, in pieces of a few megabytes.
#pragma once

#include <string>

#include "comm/comm.hpp"
#include "stria/trace.hpp"
#include "trace/recorder.hpp"

namespace stria {

struct TraceRun {
  std::string path;  ///< of the file to be: DIRECTORY/PROGRAM_TIME_PID.stria-trace
};

/// Makes what the recorders of `comm`'s ranks record one run, in a new file in options.directory, with a part file for each
/// rank where options.level records spans. Collective: yes; the same outcome on every rank.
Result<TraceRun> begin_trace_run(Comm& comm, trace::Recorder& recorder, const trace::Options& options);

/// Ends the run and writes its file. After an error the parts are still there. Collective: yes; the same outcome on every rank.
Status finish_trace_run(Comm& comm, trace::Recorder& recorder, const TraceRun& run);

}  // namespace stria
