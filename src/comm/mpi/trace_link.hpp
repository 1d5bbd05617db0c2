// Describes what the preloaded MPI-IO offers to libstria_trace, when that is preloaded too, so that
// both write one trace.
#pragma once

#include <mpi.h>

#include "stria/status.hpp"
#include "trace/record/recorder_link.hpp"

namespace stria {

struct TraceLink {
  trace::RecorderLink recorder;
  Status (*join)(MPI_Comm comm) = nullptr;  ///< join_trace(); collective
  Status (*write_without_mpi)() = nullptr;  ///< write_trace_without_mpi()
};

}  // namespace stria

/// libstria_trace finds it by its name. The number in the name changes whenever TraceLink changes.
extern "C" const stria::TraceLink* stria_mpiio_trace_link_1();
