// The requests of a recorded run, for the workload that plays them again.
#pragma once

#include <memory>
#include <string>

#include "trace/format/trace_file.hpp"
#include "workload/replay.hpp"

namespace stria::tool {

struct RecordedRun {
  std::shared_ptr<const bench::Recording> requests;
  bool writes = true;       ///< false: it only read
  bool collective = false;  ///< most were in calls of all ranks
  std::string told;         ///< what is played, in words
};

/// Returns the requests to the file of which the run moved most: what it wrote, or read where it
/// wrote nothing. Calls of MPI-IO count where the trace has their places and those of different
/// ranks don't interleave; else the requests to the storage. Where each rank has a file of its own,
/// these files count. Throws stria::Error (kNotFound) where the trace has neither.
RecordedRun recorded_run(const trace::TraceFile& trace);

}  // namespace stria::tool
