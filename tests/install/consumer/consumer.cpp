// What a user's first program does with the installed library: include a header, call into the
// shared object, use MPI.
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <stria/status.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const stria::Status status(stria::ErrorCode::kNoSpace, "planted");
  const char* name = stria::error_code_name(status.code());
  std::printf("rank %d: %s\n", rank, name);
  MPI_Finalize();
  return rank == 0 && std::strcmp(name, "no_space") == 0 ? 0 : 1;
}
