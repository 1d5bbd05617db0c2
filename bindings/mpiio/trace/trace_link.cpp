#include "comm/mpi/trace_link.hpp"

#include "comm/mpi/mpi_comm.hpp"
#include "comm/mpi/trace_join.hpp"
#include "trace/record/levels.hpp"

namespace {

// A program can't ask the drop-in for its counters. Without a trace they would never be read, and
// they take a tenth of a small call.
const bool kUncounted = [] {
  const bool uncounted = !stria::is_trace_asked_for();
  if (uncounted) {
    stria::trace::apply_level(stria::trace::Level::kOff);
  }
  return uncounted;
}();

stria::Status join(MPI_Comm comm) {
  STRIA_ASSIGN_OR_RETURN(const std::shared_ptr<stria::Comm> ours, stria::cached_mpi_comm(comm));
  return stria::join_trace(ours);
}

}  // namespace

extern "C" const stria::TraceLink* stria_mpiio_trace_link_1() {
  static const stria::TraceLink link{stria::trace::offered_link(), join, stria::write_trace_without_mpi};
  return &link;
}
