// MPI's calls on files, and its beginning, at which the run begins. Each goes on to PMPI.
#include <mpi.h>

#include <cstdio>

#include "comm/mpi/mpi_comm.hpp"
#include "comm/mpi/trace_join.hpp"
#include "wrapped_call.hpp"

namespace {

using stria::wrap::Call;
using stria::wrap::CallKind;
using stria::wrap::OpenFiles;

OpenFiles& files() {
  static auto* instance = new OpenFiles;
  return *instance;
}

int64_t key_of(MPI_File file) {
  int64_t key = 0;
  static_assert(sizeof file <= sizeof key);
  __builtin_memcpy(&key, &file, sizeof file);
  return key;
}

/// A program that can't be traced still runs; that is said once.
void join(MPI_Comm comm) {
  const auto ours = stria::cached_mpi_comm(comm);
  const stria::Status status = ours.ok() ? stria::join_trace(*ours) : ours.status();
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  if (!status.ok() && rank == 0) {
    std::fprintf(stderr, "libstria_trace: nothing is traced: %s\n", status.message().c_str());
  }
}

/// A program without MPI ends here; one with MPI ended its run in MPI_Finalize.
__attribute__((destructor)) void at_exit() {
  int initialized = 0;
  PMPI_Initialized(&initialized);
  const stria::Status status = initialized == 0 ? stria::write_trace_without_mpi() : stria::Status();
  if (!status.ok()) {
    std::fprintf(stderr, "libstria_trace: no trace is written: %s\n", status.message().c_str());
  }
}

void describe(Call& call, int count, MPI_Datatype type, int64_t offset) {
  if (call->recorded()) {
    int bytes = 0;
    PMPI_Type_size(type, &bytes);
    call->set_bytes(int64_t{count} * bytes);
    call->set_offset(offset);
  }
}

}  // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  const int result = PMPI_Init(argc, argv);
  join(MPI_COMM_WORLD);
  return result;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int result = PMPI_Init_thread(argc, argv, required, provided);
  join(MPI_COMM_WORLD);
  return result;
}

int MPI_File_open(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file) {
  join(comm);  // of a program whose MPI_Init was not seen, as Fortran's
  static const CallKind kKind("MPI_File_open");
  Call call(kKind, stria::trace::Recorder::instance().file(name));
  const int result = PMPI_File_open(comm, name, mode, info, file);
  files().add(key_of(*file), name);
  return result;
}

int MPI_File_close(MPI_File* file) {
  static const CallKind kKind("MPI_File_close");
  Call call(kKind, files().file(key_of(*file)));
  files().remove(key_of(*file));
  return PMPI_File_close(file);
}

int MPI_File_sync(MPI_File file) {
  static const CallKind kKind("MPI_File_sync");
  Call call(kKind, files().file(key_of(file)));
  return PMPI_File_sync(file);
}

int MPI_File_set_size(MPI_File file, MPI_Offset bytes) {
  static const CallKind kKind("MPI_File_set_size");
  Call call(kKind, files().file(key_of(file)));
  return PMPI_File_set_size(file, bytes);
}

int MPI_File_set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                      const char* representation, MPI_Info info) {
  static const CallKind kKind("MPI_File_set_view");
  Call call(kKind, files().file(key_of(file)));
  return PMPI_File_set_view(file, displacement, etype, filetype, representation, info);
}

// NAME is what follows MPI_File_; BUFFER is void* or const void*; END the last argument's type.
#define STRIA_TRACE_AT(NAME, BUFFER, END)                                                                      \
  int MPI_File_##NAME(MPI_File file, MPI_Offset offset, BUFFER data, int count, MPI_Datatype type, END* end) { \
    static const CallKind kKind("MPI_File_" #NAME);                                                            \
    Call call(kKind, files().file(key_of(file)));                                                              \
    describe(call, count, type, offset);                                                                       \
    return PMPI_File_##NAME(file, offset, data, count, type, end);                                             \
  }
#define STRIA_TRACE_POINTER(NAME, BUFFER, END)                                              \
  int MPI_File_##NAME(MPI_File file, BUFFER data, int count, MPI_Datatype type, END* end) { \
    static const CallKind kKind("MPI_File_" #NAME);                                         \
    Call call(kKind, files().file(key_of(file)));                                           \
    describe(call, count, type, -1);                                                        \
    return PMPI_File_##NAME(file, data, count, type, end);                                  \
  }

STRIA_TRACE_AT(read_at, void*, MPI_Status)
STRIA_TRACE_AT(read_at_all, void*, MPI_Status)
STRIA_TRACE_AT(write_at, const void*, MPI_Status)
STRIA_TRACE_AT(write_at_all, const void*, MPI_Status)
STRIA_TRACE_AT(iread_at, void*, MPI_Request)
STRIA_TRACE_AT(iwrite_at, const void*, MPI_Request)
STRIA_TRACE_AT(iread_at_all, void*, MPI_Request)
STRIA_TRACE_AT(iwrite_at_all, const void*, MPI_Request)
STRIA_TRACE_POINTER(read, void*, MPI_Status)
STRIA_TRACE_POINTER(read_all, void*, MPI_Status)
STRIA_TRACE_POINTER(write, const void*, MPI_Status)
STRIA_TRACE_POINTER(write_all, const void*, MPI_Status)
STRIA_TRACE_POINTER(read_shared, void*, MPI_Status)
STRIA_TRACE_POINTER(write_shared, const void*, MPI_Status)
STRIA_TRACE_POINTER(read_ordered, void*, MPI_Status)
STRIA_TRACE_POINTER(write_ordered, const void*, MPI_Status)
STRIA_TRACE_POINTER(iread, void*, MPI_Request)
STRIA_TRACE_POINTER(iwrite, const void*, MPI_Request)
STRIA_TRACE_POINTER(iread_all, void*, MPI_Request)
STRIA_TRACE_POINTER(iwrite_all, const void*, MPI_Request)

}  // extern "C"
