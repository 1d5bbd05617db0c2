// Describes what needs a communicator, for C and for Fortran: files, and the runs of tracing.
#include <mpi.h>

#include "handles.hpp"
#include "stria.h"  // It comes again, behind mpi.h: its functions for communicators.

using stria::c::given;
using stria::c::guarded;
using stria::c::text;

namespace {

/// Returns the communicator of Fortran's integer. Without a running MPI, which the library then
/// refuses, the conversion isn't allowed.
MPI_Comm comm_of(int comm) {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0 ? MPI_Comm_f2c(comm) : MPI_COMM_NULL;
}

}  // namespace

int stria_create_mpi(MPI_Comm comm, const char* path, const stria_options* options, stria_file** file) {
  return guarded([&] {
    given(file, "file") = nullptr;
    *file = stria::c::opened(
        path, [&] { return stria::c::create_options(options); },
        [&](const std::string& name, const auto& chosen) { return stria::File::create(comm, name, chosen); });
  });
}

int stria_open_mpi(MPI_Comm comm, const char* path, const stria_options* options, stria_file** file) {
  return guarded([&] {
    given(file, "file") = nullptr;
    *file = stria::c::opened(
        path, [&] { return stria::c::open_options(options); },
        [&](const std::string& name, const auto& chosen) { return stria::File::open(comm, name, chosen); });
  });
}

int stria_append_mpi(MPI_Comm comm, const char* path, const stria_options* options, stria_file** file) {
  return guarded([&] {
    given(file, "file") = nullptr;
    *file = stria::c::opened(
        path, [&] { return stria::c::append_options(options); },
        [&](const std::string& name, const auto& chosen) { return stria::File::append(comm, name, chosen); });
  });
}

int stria_create_f(int comm, const char* path, const stria_options* options, stria_file** file) {
  return stria_create_mpi(comm_of(comm), path, options, file);
}

int stria_open_f(int comm, const char* path, const stria_options* options, stria_file** file) {
  return stria_open_mpi(comm_of(comm), path, options, file);
}

int stria_append_f(int comm, const char* path, const stria_options* options, stria_file** file) {
  return stria_append_mpi(comm_of(comm), path, options, file);
}

int stria_trace_start_mpi(MPI_Comm comm, int level, const char* directory) {
  return guarded([&] { stria::trace::start(comm, {.level = stria::c::trace_level(level), .directory = text(directory)}); });
}

int stria_trace_start_from_environment_mpi(MPI_Comm comm) {
  return guarded([&] { stria::trace::start_from_environment(comm); });
}

int stria_trace_start_f(int comm, int level, const char* directory) {
  return stria_trace_start_mpi(comm_of(comm), level, directory);
}

int stria_trace_start_from_environment_f(int comm) {
  return stria_trace_start_from_environment_mpi(comm_of(comm));
}

int stria_trace_finish(stria_list** path) {
  return guarded([&] {
    const std::string made = stria::trace::finish();
    if (path != nullptr) {
      *path = stria::c::new_list(made.empty() ? std::vector<std::string>() : std::vector{made});
    }
  });
}
