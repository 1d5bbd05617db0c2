// Files of the ranks of an MPI communicator.
#include "comm/mpi/mpi_comm.hpp"
#include "comm/mpi/trace_join.hpp"
#include "comm/mpi/uncaught.hpp"
#include "file/opening/opening.hpp"
#include "stria/file.hpp"
#include "trace/record/recorder.hpp"
#include "trace/record/span.hpp"

namespace stria {

namespace {

std::shared_ptr<Comm> joined_comm(MPI_Comm parent) {
  speak_for_uncaught_errors();
  std::shared_ptr<Comm> comm = cached_mpi_comm(parent).value();
  join_trace(comm).throw_if_error();
  return comm;
}

}  // namespace

File File::create(MPI_Comm comm, const std::string& path, const CreateOptions& options) {
  const trace::FileSpan span(trace::kind(trace::BuiltIn::kFileCreate), trace::Recorder::instance().file(path));
  const CallNote noted = file::note_opening("create()", path, options.hints);
  return File(file::create_session(joined_comm(comm), path, options));
}

File File::open(MPI_Comm comm, const std::string& path, const OpenOptions& options) {
  const trace::FileSpan span(trace::kind(trace::BuiltIn::kFileOpen), trace::Recorder::instance().file(path));
  const CallNote noted = file::note_opening("open()", path, options.hints);
  return File(file::open_session(joined_comm(comm), path, options));
}

File File::append(MPI_Comm comm, const std::string& path, const AppendOptions& options) {
  const trace::FileSpan span(trace::kind(trace::BuiltIn::kFileOpen), trace::Recorder::instance().file(path));
  const CallNote noted = file::note_opening("append()", path, options.hints);
  return File(file::append_session(joined_comm(comm), path, options));
}

}  // namespace stria
