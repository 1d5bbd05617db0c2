// The calls that begin MPI. They register what must be done at its end before any
// library above does.
#include <mpi.h>

#include "mpiio/mpi/real_mpi.hpp"
#include "mpiio/ranks/comm_pool.hpp"

namespace {

int init(decltype(MPI_Init)& next, int* argc, char*** argv) {
  const int code = next(argc, argv);
  if (code == MPI_SUCCESS) {
    stria::mpiio::watch_mpi_end();
  }
  return code;
}

int init_thread(decltype(MPI_Init_thread)& next, int* argc, char*** argv, int required, int* provided) {
  const int code = next(argc, argv, required, provided);
  if (code == MPI_SUCCESS) {
    stria::mpiio::watch_mpi_end();
  }
  return code;
}

}  // namespace

STRIA_MPIIO_ADD_TO(Init, init, (int* argc, char*** argv), argc, argv)
STRIA_MPIIO_ADD_TO(Init_thread, init_thread, (int* argc, char*** argv, int required, int* provided), argc, argv, required,
                   provided)
