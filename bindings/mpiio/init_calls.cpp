// MPI's calls that begin it: what must be done at its end is known to it before any library's above.
#include <mpi.h>

#include "comm_pool.hpp"
#include "real_mpi.hpp"

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  const int code = STRIA_MPIIO_REAL(Init)(argc, argv);
  if (code == MPI_SUCCESS) {
    stria::mpiio::watch_mpi_end();
  }
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = STRIA_MPIIO_REAL(Init_thread)(argc, argv, required, provided);
  if (code == MPI_SUCCESS) {
    stria::mpiio::watch_mpi_end();
  }
  return code;
}

STRIA_MPIIO_TWIN(Init);
STRIA_MPIIO_TWIN(Init_thread);

}  // extern "C"
