// A program of plain MPI-IO: each rank writes its part of a file together with the others, and
// reads its neighbour's.
#include <mpi.h>

#include <cstdio>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_File file = MPI_FILE_NULL;
  bool good =
      MPI_File_open(MPI_COMM_WORLD, argv[argc - 1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS;
  int written = 1000 + rank, read = -1;
  const int neighbour = (rank + 1) % ranks, size = sizeof(int);
  good = good && MPI_File_write_at_all(file, rank * size, &written, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS;
  good = good && MPI_File_sync(file) == MPI_SUCCESS;
  MPI_Barrier(MPI_COMM_WORLD);
  good = good && MPI_File_read_at_all(file, neighbour * size, &read, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS;
  good = good && read == 1000 + neighbour && MPI_File_close(&file) == MPI_SUCCESS;
  if (!good) {
    std::fprintf(stderr, "rank %d read %d\n", rank, read);
  }
  MPI_Finalize();
  return good ? 0 : 1;
}
