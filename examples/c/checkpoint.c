// A checkpoint of blocks with guard cells: variables interleaved in memory, one dataset per
// variable in the file.
//   mpiexec -n 4 ./checkpoint_c checkpoint.h5
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
// The calls with a communicator need mpi.h before this.
#include <stria.h>

enum { BLOCKS = 20, N = 8, GUARD = 4, WIDE = N + 2 * GUARD, VARIABLES = 2 };  // blocks of one rank

// Collective calls fail on all ranks alike; rank 0 tells why.
static void check(int code, int rank) {
  if (code != STRIA_OK) {
    if (rank == 0) {
      fprintf(stderr, "checkpoint: %s\n", stria_error_message());
    }
    MPI_Finalize();
    exit(1);
  }
}

int main(int argc, char** argv) {
  static double unk[BLOCKS][WIDE][WIDE][WIDE][VARIABLES];
  static const char* names[VARIABLES] = {"dens", "pres"};
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int b = 0; b < BLOCKS; ++b)
    for (int k = 0; k < WIDE; ++k)
      for (int j = 0; j < WIDE; ++j)
        for (int i = 0; i < WIDE; ++i)
          for (int v = 0; v < VARIABLES; ++v)
            unk[b][k][j][i][v] = (rank * BLOCKS + b) + 0.1 * v;

  const int64_t dims[] = {ranks * BLOCKS, N, N, N};  // the dims of a dataset, slowest first
  const int64_t start[] = {rank * BLOCKS, 0, 0, 0};  // where this rank's blocks go
  const int64_t count[] = {BLOCKS, N, N, N};
  stria_file* file;
  stria_type* number;
  check(stria_type_of(STRIA_FLOAT64, &number), rank);
  check(stria_create_mpi(MPI_COMM_WORLD, argc > 1 ? argv[1] : "checkpoint.h5", NULL, &file), rank);
  for (int v = 0; v < VARIABLES; ++v) {
    const int64_t sizes[] = {BLOCKS, WIDE, WIDE, WIDE, VARIABLES}, interior[] = {BLOCKS, N, N, N, 1};
    const int64_t begin[] = {0, GUARD, GUARD, GUARD, v};
    stria_dataset* dataset;
    stria_type* cells;
    check(stria_create_dataset(file, names[v], STRIA_FLOAT64, 4, dims, NULL, &dataset), rank);
    check(stria_type_subarray(5, sizes, interior, begin, STRIA_ORDER_C, number, &cells), rank);
    // An error of one rank fails the commit of all.
    stria_put(dataset, start, count, unk, cells, STRIA_FLOAT64);
    stria_type_free(cells);
  }
  check(stria_set_number(file, "/", "time", STRIA_FLOAT64, &(double){0.25}), rank);
  // All variables travel as one write; only now does the file have its name.
  check(stria_commit(file), rank);
  stria_close(&file);
  stria_type_free(number);
  MPI_Finalize();
  return 0;
}
