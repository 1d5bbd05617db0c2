// How a program's tracing begins and ends by itself: with the first communicator that files are opened on, and with MPI.
//
// Problem: a library sees neither MPI_Init nor the whole of the program's ranks; a program may open its first file on one rank
// alone. Method: the run is that of the first communicator of all ranks that joins; until then of the first with more than one
// rank of which none has a run. At the end of MPI, which is collective, an attribute of MPI_COMM_SELF calls back: each run ends
// over its own communicator. A rank that never met another writes a trace of its own. Without STRIA_TRACE or STRIA_TRACE_DIR
// nothing is sent.
#pragma once

#include <memory>
#include <string>

#include "comm/comm.hpp"
#include "stria/trace.hpp"

namespace stria {

/// Whether the environment has STRIA_TRACE or STRIA_TRACE_DIR: without them no program's tracing begins by itself.
bool is_trace_asked_for();

/// Tells tracing that the ranks of `comm` open a file together. kInvalidArgument when STRIA_TRACE is no level; an error when
/// the trace can't be made. Collective: yes, over `comm`; the same outcome on every rank.
Status join_trace(const std::shared_ptr<Comm>& comm);

/// Begins the run of start() and of the wrappers; kInvalidArgument when there is one already. Collective: yes.
Status start_trace(const std::shared_ptr<Comm>& comm, const trace::Options& options);

/// At the end of a program that never initialised MPI: writes what it recorded, if that is about any file.
Status write_trace_without_mpi();

/// Ends the run, if there is one, and returns the path of its file. Collective: yes, over the run's communicator.
Result<std::string> finish_trace();

}  // namespace stria
