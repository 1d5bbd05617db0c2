// Reads what checkpoint.c wrote, on any number of ranks: each takes its share of the blocks.
//   mpiexec -n 3 ./restart_c checkpoint.h5
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
// The calls with a communicator need mpi.h before this.
#include <stria.h>

static void check(int code, int rank) {
  if (code != STRIA_OK) {
    if (rank == 0) {
      fprintf(stderr, "restart: %s\n", stria_error_message());
    }
    MPI_Finalize();
    exit(1);
  }
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  stria_file* file;
  stria_dataset* dens;
  int64_t dims[4];
  double time;
  stria_options* options;
  check(stria_options_new(&options), rank);
  // Compare with the checksums on the way.
  check(stria_options_set(options, "verify", "true"), rank);
  check(stria_open_mpi(MPI_COMM_WORLD, argc > 1 ? argv[1] : "checkpoint.h5", options, &file), rank);
  stria_options_free(options);
  check(stria_find_dataset(file, "dens", &dens), rank);
  check(stria_dataset_dims(dens, dims), rank);
  check(stria_get_numbers(file, "/", "time", STRIA_FLOAT64, 1, &time, NULL), rank);

  const int64_t first = dims[0] * rank / ranks, mine = dims[0] * (rank + 1) / ranks - first;
  const int64_t cells = dims[1] * dims[2] * dims[3];
  const int64_t start[] = {first, 0, 0, 0}, count[] = {mine, dims[1], dims[2], dims[3]};
  double* blocks = malloc((size_t)(mine * cells + 1) * sizeof *blocks);
  stria_get(dens, start, count, blocks, NULL, STRIA_FLOAT64);
  check(stria_commit(file), rank);  // reads
  stria_close(&file);

  double sum = 0, total = 0;
  for (int64_t b = 0; b < mine; ++b)
    sum += blocks[b * cells] - (double)(first + b);
  MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%lld blocks of time %g, %s\n", (long long)dims[0], time, total == 0 ? "as written" : "different");
  free(blocks);
  MPI_Finalize();
  return total == 0 ? 0 : 1;
}
