// The functions of stria/trace.hpp that all ranks call.
#include "comm/mpi/mpi_comm.hpp"
#include "comm/mpi/trace_join.hpp"
#include "stria/trace.hpp"

namespace stria::trace {

void start(MPI_Comm comm, const Options& options) {
  start_trace(cached_mpi_comm(comm).value(), options).throw_if_error();
}

void start_from_environment(MPI_Comm comm) {
  join_trace(cached_mpi_comm(comm).value()).throw_if_error();
}

std::string finish() {
  return finish_trace().value();
}

}  // namespace stria::trace
