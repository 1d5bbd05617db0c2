// The functions that take an MPI communicator, in a build without MPI.
#include "handles.hpp"

namespace {

int refuse_communicator() {
  return stria::c::fail(stria::ErrorCode::kUnsupported,
                        "this library was built without MPI: use the calls without a communicator, or link libstria_c");
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
