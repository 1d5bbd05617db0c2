// Describes how a program's tracing begins and ends by itself: it begins with the first
// communicator on which a file is opened, and ends with MPI.
//
// Problem: a library sees neither MPI_Init nor all of the program's ranks, and a program may open
// its first file on one rank alone.
// Method: the run is that of the first communicator of all ranks that joins. Until then it is that
// of the first communicator with several ranks none of which has a run. At the end of MPI, which is
// collective, an attribute of MPI_COMM_SELF calls back, and each run ends over its own
// communicator. A rank that never met another writes a trace of its own. Without STRIA_TRACE or
// STRIA_TRACE_DIR nothing is sent.
#pragma once

#include <memory>
#include <string>

#include "comm/comm.hpp"
#include "stria/trace.hpp"

namespace stria {

/// Tells whether the environment has STRIA_TRACE or STRIA_TRACE_DIR. Without them tracing never
/// begins by itself.
bool is_trace_asked_for();

/// Tells the tracing that the ranks of `comm` open a file together. kInvalidArgument when
/// STRIA_TRACE is no level; other errors when the trace can't be made. Collective: yes, over
/// `comm`; the same outcome on every rank.
Status join_trace(const std::shared_ptr<Comm>& comm);

/// Begins a run for trace::start() and for the wrappers; kInvalidArgument when there has been one
/// already. Collective: yes.
Status start_trace(const std::shared_ptr<Comm>& comm, const trace::Options& options);

/// Writes what a program has recorded that never initialised MPI, at its end, if that is about any
/// file.
Status write_trace_without_mpi();

/// Ends the run, if there is one, and returns the path of its file. Collective: yes, over the
/// run's communicator.
Result<std::string> finish_trace();

}  // namespace stria
