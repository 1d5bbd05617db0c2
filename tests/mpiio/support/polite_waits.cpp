// The collective calls by which the suite's programs meet. A rank that waits in them leaves the
// processor to the others.
//
// MPICH's ranks never sleep while they wait. Where they outnumber the cores, a barrier takes as
// long as a time slice. Open MPI yields by itself.
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#if !defined(OPEN_MPI)

namespace {

int wait_politely(MPI_Request request) {
  constexpr int kYields = 50;
  constexpr int kPauseMicroseconds = 50;
  int done = 0;
  int code = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
  for (int attempt = 0; code == MPI_SUCCESS && done == 0; ++attempt) {
    if (attempt < kYields) {
      sched_yield();
    } else {
      usleep(kPauseMicroseconds);
    }
    code = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  return code;
}

}  // namespace

extern "C" {

int MPI_Barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = PMPI_Ibarrier(comm, &request);
  return code == MPI_SUCCESS ? wait_politely(request) : code;
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = PMPI_Ibcast(data, count, type, root, comm, &request);
  return code == MPI_SUCCESS ? wait_politely(request) : code;
}

int MPI_Allreduce(const void* mine, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = PMPI_Iallreduce(mine, all, count, type, op, comm, &request);
  return code == MPI_SUCCESS ? wait_politely(request) : code;
}

}  // extern "C"

#endif
