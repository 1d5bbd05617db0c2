// A time series: each step adds a row, from memory that the next step uses again.
//   mpiexec -n 4 ./time_series_c series.h5
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
// The calls with a communicator need mpi.h before this.
#include <stria.h>

enum { STEPS = 5, CELLS = 100 };  // the cells are those of one rank

// Collective calls fail on all ranks alike; rank 0 tells why.
static void check(int code, int rank) {
  if (code != STRIA_OK) {
    if (rank == 0) {
      fprintf(stderr, "time_series: %s\n", stria_error_message());
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
  double temperature[CELLS], times[STEPS];
  const int64_t dims[] = {STEPS, ranks * CELLS};
  stria_file* file;
  stria_dataset* series;
  check(stria_create_mpi(MPI_COMM_WORLD, argc > 1 ? argv[1] : "series.h5", NULL, &file), rank);
  check(stria_create_dataset(file, "temperature", STRIA_FLOAT32, 2, dims, NULL, &series), rank);
  for (int step = 0; step < STEPS; ++step) {
    times[step] = 0.5 * step;
    for (int i = 0; i < CELLS; ++i)
      temperature[i] = 300 + times[step] + rank;
    const int64_t start[] = {step, rank * CELLS}, count[] = {1, CELLS};
    stria_put(series, start, count, temperature, NULL, STRIA_FLOAT64);
    check(stria_flush(file), rank);  // moves the row: the memory is free again
  }
  check(stria_set_numbers(file, "temperature", "times", STRIA_FLOAT64, STEPS, times), rank);
  check(stria_commit(file), rank);
  stria_close(&file);
  MPI_Finalize();
  return 0;
}
