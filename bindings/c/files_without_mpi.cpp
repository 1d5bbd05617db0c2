// The functions that take an MPI communicator, in a build without MPI.
#include "handles.hpp"

namespace {

int refuse_communicator() {
  return stria::c::fail(stria::ErrorCode::kUnsupported,
                        "this library was built without MPI: use the calls without a communicator, or link libstria_c");
}

int refuse_run() {
  return stria::c::fail(stria::ErrorCode::kUnsupported,
                        "this library was built without MPI: set STRIA_TRACE and STRIA_TRACE_DIR, or link libstria_c");
}

}  // namespace

int stria_create_f(int, const char*, const stria_options*, stria_file**) {
  return refuse_communicator();
}

int stria_open_f(int, const char*, const stria_options*, stria_file**) {
  return refuse_communicator();
}

int stria_append_f(int, const char*, const stria_options*, stria_file**) {
  return refuse_communicator();
}

int stria_trace_start_f(int, int, const char*) {
  return refuse_run();
}

int stria_trace_start_from_environment_f(int) {
  return refuse_run();
}

int stria_trace_finish(stria_list**) {
  return refuse_run();
}
