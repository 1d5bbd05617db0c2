// The public functions of stria/trace.hpp.
#include <new>

#include "comm/mpi/mpi_comm.hpp"
#include "comm/mpi/trace_join.hpp"
#include "stria/trace.hpp"
#include "trace/levels.hpp"
#include "trace/recorder.hpp"
#include "trace/span.hpp"

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

void set_level(Level level) {
  apply_level(level);
}

Level level() {
  return applied_level();
}

void flush() {
  Recorder::instance().flush();
}

Region::Region(const char* name) {
  static_assert(sizeof(Span) <= sizeof span_ && alignof(Span) <= 8);
  const bool recorded = is_recorded(Layer::kApp);
  // What isn't recorded needs no name.
  new (span_) Span(recorded ? Recorder::instance().define_kind(name, Layer::kApp) : Kind{});
}

Region::~Region() {
  reinterpret_cast<Span*>(span_)->~Span();
}

}  // namespace stria::trace
