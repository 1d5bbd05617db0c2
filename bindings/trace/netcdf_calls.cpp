// PnetCDF's calls on files and data.
#include <mpi.h>

#include <algorithm>
#include <vector>

#include "wrapped_call.hpp"

namespace {

using stria::wrap::Call;
using stria::wrap::CallKind;
using stria::wrap::OpenFiles;

OpenFiles& netcdf_files() {
  static auto* instance = new OpenFiles;
  return *instance;
}

int dimensions_of(int file, int variable) {
  static auto* query = stria::wrap::next_definition<int(int, int, int*)>("ncmpi_inq_varndims");
  int dimensions = 0;
  return query(file, variable, &dimensions) == 0 ? dimensions : -1;
}

/// Counts the items of a box of a variable; -1 where they are unknown.
int64_t items_of(int file, int variable, const MPI_Offset* count) {
  const int dimensions = dimensions_of(file, variable);
  int64_t items = dimensions < 0 ? -1 : 1;
  for (int i = 0; i < dimensions; ++i) {
    items *= count[i];
  }
  return items;
}

/// Counts the items of a list of boxes; without counts each box is one item.
int64_t items_of(int file, int variable, MPI_Offset* const* counts, int boxes) {
  int64_t items = 0;
  for (int i = 0; i < boxes; ++i) {
    items += counts == nullptr || counts[i] == nullptr ? 1 : items_of(file, variable, counts[i]);
  }
  return items;
}

/// Counts the items of a whole variable.
int64_t items_of(int file, int variable) {
  static auto* query_ids = stria::wrap::next_definition<int(int, int, int*)>("ncmpi_inq_vardimid");
  static auto* query_length = stria::wrap::next_definition<int(int, int, MPI_Offset*)>("ncmpi_inq_dimlen");
  std::vector<int> ids(static_cast<size_t>(std::max(dimensions_of(file, variable), 0)));
  int64_t items = query_ids(file, variable, ids.data()) == 0 ? 1 : -1;
  for (const int id : ids) {
    MPI_Offset length = 0;
    items *= query_length(file, id, &length) == 0 ? length : 0;
  }
  return items;
}

int64_t bytes_of(int64_t items, size_t item_bytes) {
  return items < 0 ? -1 : items * static_cast<int64_t>(item_bytes);
}

/// -1 where PnetCDF takes the items of the box.
int64_t bytes_of(MPI_Offset items, MPI_Datatype type) {
  int bytes = 0;
  return items < 0 || PMPI_Type_size(type, &bytes) != MPI_SUCCESS ? -1 : int64_t{items} * bytes;
}

}  // namespace

extern "C" {

int ncmpi_create(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* file) {
  static auto* next = stria::wrap::next_definition<decltype(ncmpi_create)>("ncmpi_create");
  static const CallKind kKind("ncmpi_create");
  Call call(kKind, stria::trace::Recorder::instance().file(path));
  const int result = next(comm, path, mode, info, file);
  netcdf_files().add(*file, path);
  return result;
}

int ncmpi_open(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* file) {
  static auto* next = stria::wrap::next_definition<decltype(ncmpi_open)>("ncmpi_open");
  static const CallKind kKind("ncmpi_open");
  Call call(kKind, stria::trace::Recorder::instance().file(path));
  const int result = next(comm, path, mode, info, file);
  netcdf_files().add(*file, path);
  return result;
}

int ncmpi_wait(int file, int count, int requests[], int statuses[]) {
  static auto* next = stria::wrap::next_definition<decltype(ncmpi_wait)>("ncmpi_wait");
  static const CallKind kKind("ncmpi_wait");
  Call call(kKind, netcdf_files().file(file));
  return next(file, count, requests, statuses);
}

int ncmpi_wait_all(int file, int count, int requests[], int statuses[]) {
  static auto* next = stria::wrap::next_definition<decltype(ncmpi_wait_all)>("ncmpi_wait_all");
  static const CallKind kKind("ncmpi_wait_all");
  Call call(kKind, netcdf_files().file(file));
  return next(file, count, requests, statuses);
}

#define STRIA_TRACE_ON_FILE(NAME)                                            \
  int NAME(int file) {                                                       \
    static auto* next = stria::wrap::next_definition<decltype(NAME)>(#NAME); \
    static const CallKind kKind(#NAME);                                      \
    Call call(kKind, netcdf_files().file(file));                             \
    return next(file);                                                       \
  }
STRIA_TRACE_ON_FILE(ncmpi_enddef)
STRIA_TRACE_ON_FILE(ncmpi_close)
STRIA_TRACE_ON_FILE(ncmpi_sync)

// This defines calls for data of one number type, one macro a form: the whole variable, an element,
// a box, a strided box, one that memory holds in another order, a list of boxes. VERB is put, get,
// iput, iget or bput; END is empty or _all; NUMBER is const where the call reads memory; LAST and
// REQUEST are empty or the request's parameter and argument.
#define STRIA_TRACE_DATA(NAME, NUMBER, ITEMS, PARAMETERS, ARGUMENTS)         \
  int NAME PARAMETERS {                                                      \
    static auto* next = stria::wrap::next_definition<int PARAMETERS>(#NAME); \
    static const CallKind kKind(#NAME);                                      \
    Call call(kKind, netcdf_files().file(file));                             \
    if (call->recorded()) {                                                  \
      call->set_bytes(bytes_of(ITEMS, sizeof(NUMBER)));                      \
    }                                                                        \
    return next ARGUMENTS;                                                   \
  }
#define STRIA_TRACE_NUMBERS(VERB, TYPE, END, NUMBER, LAST, REQUEST)                                                            \
  STRIA_TRACE_DATA(ncmpi_##VERB##_var_##TYPE##END, NUMBER, items_of(file, variable),                                           \
                   (int file, int variable, NUMBER* data LAST), (file, variable, data REQUEST))                                \
  STRIA_TRACE_DATA(ncmpi_##VERB##_var1_##TYPE##END, NUMBER, 1,                                                                 \
                   (int file, int variable, const MPI_Offset* start, NUMBER* data LAST),                                       \
                   (file, variable, start, data REQUEST))                                                                      \
  STRIA_TRACE_DATA(ncmpi_##VERB##_vara_##TYPE##END, NUMBER, items_of(file, variable, count),                                   \
                   (int file, int variable, const MPI_Offset* start, const MPI_Offset* count, NUMBER* data LAST),              \
                   (file, variable, start, count, data REQUEST))                                                               \
  STRIA_TRACE_DATA(                                                                                                            \
      ncmpi_##VERB##_vars_##TYPE##END, NUMBER, items_of(file, variable, count),                                                \
      (int file, int variable, const MPI_Offset* start, const MPI_Offset* count, const MPI_Offset* stride, NUMBER* data LAST), \
      (file, variable, start, count, stride, data REQUEST))                                                                    \
  STRIA_TRACE_DATA(ncmpi_##VERB##_varm_##TYPE##END, NUMBER, items_of(file, variable, count),                                   \
                   (int file, int variable, const MPI_Offset* start, const MPI_Offset* count, const MPI_Offset* stride,        \
                    const MPI_Offset* map, NUMBER* data LAST),                                                                 \
                   (file, variable, start, count, stride, map, data REQUEST))                                                  \
  STRIA_TRACE_DATA(                                                                                                            \
      ncmpi_##VERB##_varn_##TYPE##END, NUMBER, items_of(file, variable, counts, boxes),                                        \
      (int file, int variable, int boxes, MPI_Offset* const* starts, MPI_Offset* const* counts, NUMBER* data LAST),            \
      (file, variable, boxes, starts, counts, data REQUEST))
#define STRIA_TRACE_LAST , int* request
#define STRIA_TRACE_REQUEST , request
#define STRIA_TRACE_TYPE(TYPE, NUMBER)                                                   \
  STRIA_TRACE_NUMBERS(put, TYPE, , const NUMBER, , )                                     \
  STRIA_TRACE_NUMBERS(put, TYPE, _all, const NUMBER, , )                                 \
  STRIA_TRACE_NUMBERS(get, TYPE, , NUMBER, , )                                           \
  STRIA_TRACE_NUMBERS(get, TYPE, _all, NUMBER, , )                                       \
  STRIA_TRACE_NUMBERS(iput, TYPE, , const NUMBER, STRIA_TRACE_LAST, STRIA_TRACE_REQUEST) \
  STRIA_TRACE_NUMBERS(bput, TYPE, , const NUMBER, STRIA_TRACE_LAST, STRIA_TRACE_REQUEST) \
  STRIA_TRACE_NUMBERS(iget, TYPE, , NUMBER, STRIA_TRACE_LAST, STRIA_TRACE_REQUEST)
STRIA_TRACE_TYPE(text, char)
STRIA_TRACE_TYPE(schar, signed char)
STRIA_TRACE_TYPE(uchar, unsigned char)
STRIA_TRACE_TYPE(short, short)
STRIA_TRACE_TYPE(ushort, unsigned short)
STRIA_TRACE_TYPE(int, int)
STRIA_TRACE_TYPE(uint, unsigned int)
STRIA_TRACE_TYPE(long, long)
STRIA_TRACE_TYPE(float, float)
STRIA_TRACE_TYPE(double, double)
STRIA_TRACE_TYPE(longlong, long long)
STRIA_TRACE_TYPE(ulonglong, unsigned long long)

// This does the same with memory described by a datatype, for boxes and lists of boxes.
#define STRIA_TRACE_TYPED(VERB, END, BUFFER, LAST, REQUEST)                                                                  \
  STRIA_TRACE_DATA(ncmpi_##VERB##_vara##END, char, bytes_of(items, type),                                                    \
                   (int file, int variable, const MPI_Offset* start, const MPI_Offset* count, BUFFER data, MPI_Offset items, \
                    MPI_Datatype type LAST),                                                                                 \
                   (file, variable, start, count, data, items, type REQUEST))                                                \
  STRIA_TRACE_DATA(ncmpi_##VERB##_varn##END, char, bytes_of(items, type),                                                    \
                   (int file, int variable, int boxes, MPI_Offset* const* starts, MPI_Offset* const* counts, BUFFER data,    \
                    MPI_Offset items, MPI_Datatype type LAST),                                                               \
                   (file, variable, boxes, starts, counts, data, items, type REQUEST))
STRIA_TRACE_TYPED(put, _all, const void*, , )
STRIA_TRACE_TYPED(put, , const void*, , )
STRIA_TRACE_TYPED(get, _all, void*, , )
STRIA_TRACE_TYPED(get, , void*, , )
STRIA_TRACE_TYPED(iput, , const void*, STRIA_TRACE_LAST, STRIA_TRACE_REQUEST)
STRIA_TRACE_TYPED(bput, , const void*, STRIA_TRACE_LAST, STRIA_TRACE_REQUEST)
STRIA_TRACE_TYPED(iget, , void*, STRIA_TRACE_LAST, STRIA_TRACE_REQUEST)

}  // extern "C"
