// A compressed dataset: chunks that are shuffled and deflated, which every HDF5 reads. Ranks put
// what they have; it needn't fit the chunks.
//   mpiexec -n 4 ./compressed_c compressed.h5
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
// The calls with a communicator need mpi.h before this.
#include <stria.h>

enum { MINE = 64, COLUMNS = 256 };  // rows of one rank

// Collective calls fail on all ranks alike; rank 0 tells why.
static void check(int code, int rank) {
  if (code != STRIA_OK) {
    if (rank == 0) {
      fprintf(stderr, "compressed: %s\n", stria_error_message());
    }
    MPI_Finalize();
    exit(1);
  }
}

int main(int argc, char** argv) {
  static float temperature[MINE][COLUMNS];
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int row = 0; row < MINE; ++row)
    for (int column = 0; column < COLUMNS; ++column)
      temperature[row][column] = 300 + 0.25F * (float)((rank * MINE + row + column) / 8);

  const int64_t dims[] = {ranks * MINE, COLUMNS}, start[] = {rank * MINE, 0}, count[] = {MINE, COLUMNS};
  stria_file* file;
  stria_dataset* dataset;
  stria_options* options;
  stria_report report;
  check(stria_options_new(&options), rank);
  check(stria_options_set(options, "compress", "true"), rank);
  // Left out: whole rows, about a megabyte of them.
  check(stria_options_set(options, "chunk", "50,100"), rank);
  check(stria_create_mpi(MPI_COMM_WORLD, argc > 1 ? argv[1] : "compressed.h5", NULL, &file), rank);
  check(stria_create_dataset(file, "temperature", STRIA_FLOAT32, 2, dims, options, &dataset), rank);
  stria_options_free(options);
  // An error of one rank fails the commit of all.
  stria_put(dataset, start, count, temperature, NULL, STRIA_FLOAT32);
  check(stria_commit(file), rank);
  check(stria_get_report(file, &report), rank);
  if (rank == 0)
    printf("%lld bytes of numbers, a file of %lld\n", (long long)report.useful_bytes, (long long)report.file_bytes);
  stria_close(&file);
  MPI_Finalize();
  return 0;
}
