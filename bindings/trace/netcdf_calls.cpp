// PnetCDF's calls on files and arrays of the usual types.
#include <mpi.h>

#include "wrapped_call.hpp"

namespace {

using stria::wrap::Call;
using stria::wrap::CallKind;
using stria::wrap::OpenFiles;

OpenFiles& files() {
  static auto* instance = new OpenFiles;
  return *instance;
}

}  // namespace

extern "C" {

int ncmpi_create(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* file) {
  static auto* next = stria::wrap::next_definition<decltype(ncmpi_create)>("ncmpi_create");
  static const CallKind kKind("ncmpi_create");
  Call call(kKind, stria::trace::Recorder::instance().file(path));
  const int result = next(comm, path, mode, info, file);
  files().add(*file, path);
  return result;
}

int ncmpi_open(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* file) {
  static auto* next = stria::wrap::next_definition<decltype(ncmpi_open)>("ncmpi_open");
  static const CallKind kKind("ncmpi_open");
  Call call(kKind, stria::trace::Recorder::instance().file(path));
  const int result = next(comm, path, mode, info, file);
  files().add(*file, path);
  return result;
}

int ncmpi_wait_all(int file, int count, int requests[], int statuses[]) {
  static auto* next = stria::wrap::next_definition<decltype(ncmpi_wait_all)>("ncmpi_wait_all");
  static const CallKind kKind("ncmpi_wait_all");
  Call call(kKind, files().file(file));
  return next(file, count, requests, statuses);
}

#define STRIA_TRACE_ON_FILE(NAME)                                            \
  int NAME(int file) {                                                       \
    static auto* next = stria::wrap::next_definition<decltype(NAME)>(#NAME); \
    static const CallKind kKind(#NAME);                                      \
    Call call(kKind, files().file(file));                                    \
    return next(file);                                                       \
  }
STRIA_TRACE_ON_FILE(ncmpi_enddef)
STRIA_TRACE_ON_FILE(ncmpi_close)
STRIA_TRACE_ON_FILE(ncmpi_sync)

// A box of a variable, in memory one behind the other: FORM is put_vara_TYPE_all and the like. LAST is empty or a request.
#define STRIA_TRACE_BOX(FORM, NUMBER, PARAMETER, ARGUMENT)                                                             \
  int ncmpi_##FORM(int file, int variable, const MPI_Offset* start, const MPI_Offset* count, NUMBER* data PARAMETER) { \
    static auto* next = stria::wrap::next_definition<decltype(ncmpi_##FORM)>("ncmpi_" #FORM);                          \
    static const CallKind kKind("ncmpi_" #FORM);                                                                       \
    Call call(kKind, files().file(file));                                                                              \
    return next(file, variable, start, count, data ARGUMENT);                                                          \
  }
#define STRIA_TRACE_COMMA_REQUEST_PARAMETER , int* request
#define STRIA_TRACE_COMMA_REQUEST , request
#define STRIA_TRACE_BOXES(TYPE, NUMBER)                                                                           \
  STRIA_TRACE_BOX(put_vara_##TYPE##_all, const NUMBER, , )                                                        \
  STRIA_TRACE_BOX(put_vara_##TYPE, const NUMBER, , )                                                              \
  STRIA_TRACE_BOX(get_vara_##TYPE##_all, NUMBER, , )                                                              \
  STRIA_TRACE_BOX(get_vara_##TYPE, NUMBER, , )                                                                    \
  STRIA_TRACE_BOX(iput_vara_##TYPE, const NUMBER, STRIA_TRACE_COMMA_REQUEST_PARAMETER, STRIA_TRACE_COMMA_REQUEST) \
  STRIA_TRACE_BOX(iget_vara_##TYPE, NUMBER, STRIA_TRACE_COMMA_REQUEST_PARAMETER, STRIA_TRACE_COMMA_REQUEST)
STRIA_TRACE_BOXES(double, double)
STRIA_TRACE_BOXES(float, float)
STRIA_TRACE_BOXES(int, int)
STRIA_TRACE_BOXES(longlong, long long)
STRIA_TRACE_BOXES(text, char)

// The same in memory as a datatype says.
#define STRIA_TRACE_TYPED_BOX(FORM, BUFFER, PARAMETER, ARGUMENT)                                                            \
  int ncmpi_##FORM(int file, int variable, const MPI_Offset* start, const MPI_Offset* count, BUFFER data, MPI_Offset items, \
                   MPI_Datatype type PARAMETER) {                                                                           \
    static auto* next = stria::wrap::next_definition<decltype(ncmpi_##FORM)>("ncmpi_" #FORM);                               \
    static const CallKind kKind("ncmpi_" #FORM);                                                                            \
    Call call(kKind, files().file(file));                                                                                   \
    if (call->recorded() && items >= 0) {                                                                                   \
      int bytes = 0;                                                                                                        \
      PMPI_Type_size(type, &bytes);                                                                                         \
      call->set_bytes(items* bytes);                                                                                        \
    }                                                                                                                       \
    return next(file, variable, start, count, data, items, type ARGUMENT);                                                  \
  }
STRIA_TRACE_TYPED_BOX(put_vara_all, const void*, , )
STRIA_TRACE_TYPED_BOX(put_vara, const void*, , )
STRIA_TRACE_TYPED_BOX(get_vara_all, void*, , )
STRIA_TRACE_TYPED_BOX(get_vara, void*, , )
STRIA_TRACE_TYPED_BOX(iput_vara, const void*, STRIA_TRACE_COMMA_REQUEST_PARAMETER, STRIA_TRACE_COMMA_REQUEST)
STRIA_TRACE_TYPED_BOX(iget_vara, void*, STRIA_TRACE_COMMA_REQUEST_PARAMETER, STRIA_TRACE_COMMA_REQUEST)

}  // extern "C"
