// The calls that move data: one definition per family, once with counts of int, and once with
// MPI_Count where the MPI has it.
#include "mpiio/calls/data_access.hpp"
#include "mpiio/mpi/real_mpi.hpp"

namespace {

using stria::mpiio::access_later;
using stria::mpiio::access_now;
using stria::mpiio::access_ordered;
using stria::mpiio::begin_split;
using stria::mpiio::begin_split_ordered;
using stria::mpiio::Direction;
using stria::mpiio::end_split;
using stria::mpiio::Pointer;
using stria::mpiio::Together;
using stria::mpiio::UserBuffer;

constexpr auto kExplicit = Pointer::kExplicit;
constexpr auto kIndividual = Pointer::kIndividual;
constexpr auto kShared = Pointer::kShared;
constexpr auto kAlone = Together::kIndependent;
constexpr auto kAll = Together::kCollective;

UserBuffer buffer_of(const void* address, int64_t count, MPI_Datatype type) {
  return {const_cast<void*>(address), count, type};
}

}  // namespace

// NAME is what follows MPI_File_; BUFFER is void* or const void*.
#define STRIA_BLOCKING_AT(NAME, DIRECTION, TOGETHER, BUFFER, COUNT)                                                        \
  extern "C" int MPI_File_##NAME(MPI_File file, MPI_Offset offset, BUFFER address, COUNT count, MPI_Datatype type,         \
                                 MPI_Status* status) {                                                                     \
    return access_now(file, {Direction::DIRECTION, kExplicit, TOGETHER, offset}, buffer_of(address, count, type), status); \
  }                                                                                                                        \
  STRIA_MPIIO_TWIN(File_##NAME)

#define STRIA_BLOCKING(NAME, DIRECTION, POINTER, TOGETHER, BUFFER, COUNT)                                             \
  extern "C" int MPI_File_##NAME(MPI_File file, BUFFER address, COUNT count, MPI_Datatype type, MPI_Status* status) { \
    return access_now(file, {Direction::DIRECTION, POINTER, TOGETHER}, buffer_of(address, count, type), status);      \
  }                                                                                                                   \
  STRIA_MPIIO_TWIN(File_##NAME)

#define STRIA_ORDERED(NAME, DIRECTION, BUFFER, COUNT)                                                                 \
  extern "C" int MPI_File_##NAME(MPI_File file, BUFFER address, COUNT count, MPI_Datatype type, MPI_Status* status) { \
    return access_ordered(file, Direction::DIRECTION, buffer_of(address, count, type), status);                       \
  }                                                                                                                   \
  STRIA_MPIIO_TWIN(File_##NAME)

#define STRIA_NONBLOCKING_AT(NAME, DIRECTION, TOGETHER, BUFFER, COUNT)                                                        \
  extern "C" int MPI_File_##NAME(MPI_File file, MPI_Offset offset, BUFFER address, COUNT count, MPI_Datatype type,            \
                                 MPI_Request* request) {                                                                      \
    return access_later(file, {Direction::DIRECTION, kExplicit, TOGETHER, offset}, buffer_of(address, count, type), request); \
  }                                                                                                                           \
  STRIA_MPIIO_TWIN(File_##NAME)

#define STRIA_NONBLOCKING(NAME, DIRECTION, POINTER, TOGETHER, BUFFER, COUNT)                                            \
  extern "C" int MPI_File_##NAME(MPI_File file, BUFFER address, COUNT count, MPI_Datatype type, MPI_Request* request) { \
    return access_later(file, {Direction::DIRECTION, POINTER, TOGETHER}, buffer_of(address, count, type), request);     \
  }                                                                                                                     \
  STRIA_MPIIO_TWIN(File_##NAME)

#define STRIA_BEGIN_AT(NAME, DIRECTION, BUFFER, COUNT)                                                               \
  extern "C" int MPI_File_##NAME(MPI_File file, MPI_Offset offset, BUFFER address, COUNT count, MPI_Datatype type) { \
    return begin_split(file, {Direction::DIRECTION, kExplicit, kAll, offset}, buffer_of(address, count, type));      \
  }                                                                                                                  \
  STRIA_MPIIO_TWIN(File_##NAME)

#define STRIA_BEGIN(NAME, DIRECTION, BUFFER, COUNT)                                                       \
  extern "C" int MPI_File_##NAME(MPI_File file, BUFFER address, COUNT count, MPI_Datatype type) {         \
    return begin_split(file, {Direction::DIRECTION, kIndividual, kAll}, buffer_of(address, count, type)); \
  }                                                                                                       \
  STRIA_MPIIO_TWIN(File_##NAME)

#define STRIA_BEGIN_ORDERED(NAME, DIRECTION, BUFFER, COUNT)                                       \
  extern "C" int MPI_File_##NAME(MPI_File file, BUFFER address, COUNT count, MPI_Datatype type) { \
    return begin_split_ordered(file, Direction::DIRECTION, buffer_of(address, count, type));      \
  }                                                                                               \
  STRIA_MPIIO_TWIN(File_##NAME)

#define STRIA_END(NAME, DIRECTION, BUFFER)                                            \
  extern "C" int MPI_File_##NAME(MPI_File file, BUFFER address, MPI_Status* status) { \
    return end_split(file, Direction::DIRECTION, address, status);                    \
  }                                                                                   \
  STRIA_MPIIO_TWIN(File_##NAME)

// This defines all data accesses in one direction; SUFFIX is empty or _c.
#define STRIA_FAMILY(VERB, DIRECTION, BUFFER, COUNT, SUFFIX)                              \
  STRIA_BLOCKING_AT(VERB##_at##SUFFIX, DIRECTION, kAlone, BUFFER, COUNT);                 \
  STRIA_BLOCKING_AT(VERB##_at_all##SUFFIX, DIRECTION, kAll, BUFFER, COUNT);               \
  STRIA_BLOCKING(VERB##SUFFIX, DIRECTION, kIndividual, kAlone, BUFFER, COUNT);            \
  STRIA_BLOCKING(VERB##_all##SUFFIX, DIRECTION, kIndividual, kAll, BUFFER, COUNT);        \
  STRIA_BLOCKING(VERB##_shared##SUFFIX, DIRECTION, kShared, kAlone, BUFFER, COUNT);       \
  STRIA_ORDERED(VERB##_ordered##SUFFIX, DIRECTION, BUFFER, COUNT);                        \
  STRIA_NONBLOCKING_AT(i##VERB##_at##SUFFIX, DIRECTION, kAlone, BUFFER, COUNT);           \
  STRIA_NONBLOCKING_AT(i##VERB##_at_all##SUFFIX, DIRECTION, kAll, BUFFER, COUNT);         \
  STRIA_NONBLOCKING(i##VERB##SUFFIX, DIRECTION, kIndividual, kAlone, BUFFER, COUNT);      \
  STRIA_NONBLOCKING(i##VERB##_all##SUFFIX, DIRECTION, kIndividual, kAll, BUFFER, COUNT);  \
  STRIA_NONBLOCKING(i##VERB##_shared##SUFFIX, DIRECTION, kShared, kAlone, BUFFER, COUNT); \
  STRIA_BEGIN_AT(VERB##_at_all_begin##SUFFIX, DIRECTION, BUFFER, COUNT);                  \
  STRIA_BEGIN(VERB##_all_begin##SUFFIX, DIRECTION, BUFFER, COUNT);                        \
  STRIA_BEGIN_ORDERED(VERB##_ordered_begin##SUFFIX, DIRECTION, BUFFER, COUNT)

STRIA_FAMILY(read, kRead, void*, int, );
STRIA_FAMILY(write, kWrite, const void*, int, );
STRIA_END(read_at_all_end, kRead, void*);
STRIA_END(read_all_end, kRead, void*);
STRIA_END(read_ordered_end, kRead, void*);
STRIA_END(write_at_all_end, kWrite, const void*);
STRIA_END(write_all_end, kWrite, const void*);
STRIA_END(write_ordered_end, kWrite, const void*);

#if MPI_VERSION >= 4
STRIA_FAMILY(read, kRead, void*, MPI_Count, _c);
STRIA_FAMILY(write, kWrite, const void*, MPI_Count, _c);
#endif
