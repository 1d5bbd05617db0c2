// The trace of one run: the ranks agree on a name, record into parts, and merge the parts
// into one file.
//
// Problem: a trace should be one file, even where ranks don't share a directory, and it should
// survive a crash of the program.
// Method: the part of each rank is a file, NAME.parts/rank_000012.part. At the end the ranks send
// their parts to rank 0, which writes them one behind another under a temporary name. The parts are
// removed once the whole file is there.
// Cost: rank 0 receives all parts, one at a time, in pieces of a few megabytes.
#pragma once

#include <string>

#include "comm/comm.hpp"
#include "stria/trace.hpp"
#include "trace/record/recorder.hpp"

namespace stria {

struct TraceRun {
  std::string path;  ///< where the file will be: DIRECTORY/PROGRAM_TIME_PID.stria-trace
};

/// Begins a run of the ranks of `comm`, with a new file in options.directory. Each rank gets a part
/// file where options.level records spans. Collective: yes; the same outcome on every rank.
Result<TraceRun> begin_trace_run(Comm& comm, trace::Recorder& recorder, const trace::Options& options);

/// Ends the run and writes its file. After an error the parts remain. Collective: yes; the same
/// outcome on every rank.
Status finish_trace_run(Comm& comm, trace::Recorder& recorder, const TraceRun& run);

}  // namespace stria
