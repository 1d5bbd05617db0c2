// MPI's calls on files, and the calls that begin MPI, with which the run begins. Each calls PMPI.
#include <mpi.h>

#include <cstdio>
#include <optional>

#include "comm/mpi/mpi_comm.hpp"
#include "comm/mpi/trace_join.hpp"
#include "wrapped_call.hpp"

namespace {

using stria::wrap::Call;
using stria::wrap::CallKind;
using stria::wrap::OpenFiles;

OpenFiles& mpi_files() {
  static auto* instance = new OpenFiles;
  return *instance;
}

int64_t key_of(MPI_File file) {
  int64_t key = 0;
  static_assert(sizeof file <= sizeof key);
  __builtin_memcpy(&key, &file, sizeof file);
  return key;
}

stria::Status join_run(MPI_Comm comm) {
  if (const auto* mpiio = stria::wrap::mpiio_beside()) {
    return mpiio->join(comm);
  }
  STRIA_ASSIGN_OR_RETURN(const std::shared_ptr<stria::Comm> ours, stria::cached_mpi_comm(comm));
  return stria::join_trace(ours);
}

/// A program that can't be traced still runs; one message says so.
void join(MPI_Comm comm) {
  const stria::Status status = join_run(comm);
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
  const auto* mpiio = stria::wrap::mpiio_beside();
  const auto write = mpiio != nullptr ? mpiio->write_without_mpi : stria::write_trace_without_mpi;
  const stria::Status status = initialized == 0 ? write() : stria::Status();
  if (!status.ok()) {
    std::fprintf(stderr, "libstria_trace: no trace is written: %s\n", status.message().c_str());
  }
}

/// The span of a call, unless the preloaded MPI-IO records it.
class FileCall {
 public:
  FileCall(const CallKind& kind, uint16_t file) {
    if (stria::wrap::mpiio_beside() == nullptr) {
      call_.emplace(kind, file);
    }
  }
  void describe(int64_t count, MPI_Datatype type, int64_t offset) {
    if (call_ && (*call_)->recorded()) {
      int bytes = 0;
      PMPI_Type_size(type, &bytes);
      (*call_)->set_bytes(count * bytes);
      (*call_)->set_offset(offset);
    }
  }

 private:
  std::optional<Call> call_;
};

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
  join(comm);  // for a program whose MPI_Init was not seen, such as one in Fortran
  static const CallKind kKind("MPI_File_open");
  FileCall call(kKind, stria::trace::Recorder::instance().file(name));
  const int result = PMPI_File_open(comm, name, mode, info, file);
  if (result == MPI_SUCCESS) {
    mpi_files().add(key_of(*file), name);
  }
  return result;
}

int MPI_File_close(MPI_File* file) {
  static const CallKind kKind("MPI_File_close");
  FileCall call(kKind, mpi_files().file(key_of(*file)));
  mpi_files().remove(key_of(*file));
  return PMPI_File_close(file);
}

int MPI_File_sync(MPI_File file) {
  static const CallKind kKind("MPI_File_sync");
  FileCall call(kKind, mpi_files().file(key_of(file)));
  return PMPI_File_sync(file);
}

int MPI_File_set_size(MPI_File file, MPI_Offset bytes) {
  static const CallKind kKind("MPI_File_set_size");
  FileCall call(kKind, mpi_files().file(key_of(file)));
  return PMPI_File_set_size(file, bytes);
}

int MPI_File_set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                      const char* representation, MPI_Info info) {
  static const CallKind kKind("MPI_File_set_view");
  FileCall call(kKind, mpi_files().file(key_of(file)));
  return PMPI_File_set_view(file, displacement, etype, filetype, representation, info);
}

int MPI_File_preallocate(MPI_File file, MPI_Offset bytes) {
  static const CallKind kKind("MPI_File_preallocate");
  FileCall call(kKind, mpi_files().file(key_of(file)));
  return PMPI_File_preallocate(file, bytes);
}

int MPI_File_delete(const char* name, MPI_Info info) {
  static const CallKind kKind("MPI_File_delete");
  FileCall call(kKind, stria::trace::Recorder::instance().file(name));
  return PMPI_File_delete(name, info);
}

// NAME is what follows MPI_File_; BUFFER is void* or const void*; COUNT is int or MPI_Count; END
// the last argument's type.
#define STRIA_TRACE_AT(NAME, BUFFER, COUNT, END)                                                                 \
  int MPI_File_##NAME(MPI_File file, MPI_Offset offset, BUFFER data, COUNT count, MPI_Datatype type, END* end) { \
    static const CallKind kKind("MPI_File_" #NAME);                                                              \
    FileCall call(kKind, mpi_files().file(key_of(file)));                                                        \
    call.describe(count, type, offset);                                                                          \
    return PMPI_File_##NAME(file, offset, data, count, type, end);                                               \
  }
#define STRIA_TRACE_POINTER(NAME, BUFFER, COUNT, END)                                         \
  int MPI_File_##NAME(MPI_File file, BUFFER data, COUNT count, MPI_Datatype type, END* end) { \
    static const CallKind kKind("MPI_File_" #NAME);                                           \
    FileCall call(kKind, mpi_files().file(key_of(file)));                                     \
    call.describe(count, type, -1);                                                           \
    return PMPI_File_##NAME(file, data, count, type, end);                                    \
  }
#define STRIA_TRACE_BEGIN_AT(NAME, BUFFER, COUNT)                                                      \
  int MPI_File_##NAME(MPI_File file, MPI_Offset offset, BUFFER data, COUNT count, MPI_Datatype type) { \
    static const CallKind kKind("MPI_File_" #NAME);                                                    \
    FileCall call(kKind, mpi_files().file(key_of(file)));                                              \
    call.describe(count, type, offset);                                                                \
    return PMPI_File_##NAME(file, offset, data, count, type);                                          \
  }
#define STRIA_TRACE_BEGIN(NAME, BUFFER, COUNT)                                      \
  int MPI_File_##NAME(MPI_File file, BUFFER data, COUNT count, MPI_Datatype type) { \
    static const CallKind kKind("MPI_File_" #NAME);                                 \
    FileCall call(kKind, mpi_files().file(key_of(file)));                           \
    call.describe(count, type, -1);                                                 \
    return PMPI_File_##NAME(file, data, count, type);                               \
  }
#define STRIA_TRACE_END(NAME, BUFFER)                                   \
  int MPI_File_##NAME(MPI_File file, BUFFER data, MPI_Status* status) { \
    static const CallKind kKind("MPI_File_" #NAME);                     \
    FileCall call(kKind, mpi_files().file(key_of(file)));               \
    return PMPI_File_##NAME(file, data, status);                        \
  }

// This defines all that move data in one direction; SUFFIX is empty or _c.
#define STRIA_TRACE_MOVES(VERB, BUFFER, COUNT, SUFFIX)                      \
  STRIA_TRACE_AT(VERB##_at##SUFFIX, BUFFER, COUNT, MPI_Status)              \
  STRIA_TRACE_AT(VERB##_at_all##SUFFIX, BUFFER, COUNT, MPI_Status)          \
  STRIA_TRACE_AT(i##VERB##_at##SUFFIX, BUFFER, COUNT, MPI_Request)          \
  STRIA_TRACE_AT(i##VERB##_at_all##SUFFIX, BUFFER, COUNT, MPI_Request)      \
  STRIA_TRACE_POINTER(VERB##SUFFIX, BUFFER, COUNT, MPI_Status)              \
  STRIA_TRACE_POINTER(VERB##_all##SUFFIX, BUFFER, COUNT, MPI_Status)        \
  STRIA_TRACE_POINTER(VERB##_shared##SUFFIX, BUFFER, COUNT, MPI_Status)     \
  STRIA_TRACE_POINTER(VERB##_ordered##SUFFIX, BUFFER, COUNT, MPI_Status)    \
  STRIA_TRACE_POINTER(i##VERB##SUFFIX, BUFFER, COUNT, MPI_Request)          \
  STRIA_TRACE_POINTER(i##VERB##_all##SUFFIX, BUFFER, COUNT, MPI_Request)    \
  STRIA_TRACE_POINTER(i##VERB##_shared##SUFFIX, BUFFER, COUNT, MPI_Request) \
  STRIA_TRACE_BEGIN_AT(VERB##_at_all_begin##SUFFIX, BUFFER, COUNT)          \
  STRIA_TRACE_BEGIN(VERB##_all_begin##SUFFIX, BUFFER, COUNT)                \
  STRIA_TRACE_BEGIN(VERB##_ordered_begin##SUFFIX, BUFFER, COUNT)

STRIA_TRACE_MOVES(read, void*, int, )
STRIA_TRACE_MOVES(write, const void*, int, )
STRIA_TRACE_END(read_at_all_end, void*)
STRIA_TRACE_END(read_all_end, void*)
STRIA_TRACE_END(read_ordered_end, void*)
STRIA_TRACE_END(write_at_all_end, const void*)
STRIA_TRACE_END(write_all_end, const void*)
STRIA_TRACE_END(write_ordered_end, const void*)
#if MPI_VERSION >= 4
STRIA_TRACE_MOVES(read, void*, MPI_Count, _c)
STRIA_TRACE_MOVES(write, const void*, MPI_Count, _c)
#endif

}  // extern "C"
