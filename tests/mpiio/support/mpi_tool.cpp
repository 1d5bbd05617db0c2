// A tool that watches MPI calls through the profiling interface. It is loaded behind the drop-in;
// mpi_tool_calls() tells what it saw.

#include <mpi.h>

#include <atomic>

namespace {

std::atomic<int> calls{0};

}  // namespace

extern "C" {

int mpi_tool_calls() {
  return calls.load();
}

int MPI_Init(int* argc, char*** argv) {
  ++calls;
  return PMPI_Init(argc, argv);
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  ++calls;
  return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  ++calls;
  return PMPI_Wait(request, status);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  ++calls;
  return PMPI_Waitall(count, requests, statuses);
}

}  // extern "C"
