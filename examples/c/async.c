// Commits in the background: a snapshot after every step is written while the next step computes.
//   mpiexec -n 4 ./async_c snapshot    writes snapshot_0.h5, snapshot_1.h5, snapshot_2.h5
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
// The calls with a communicator need mpi.h before this.
#include <stria.h>

enum { CELLS = 1000 };  // the cells of one rank

// Collective calls, and the outcomes of commits, fail on all ranks alike; rank 0 tells why.
static void check(int code, int rank) {
  if (code != STRIA_OK) {
    if (rank == 0) {
      fprintf(stderr, "async: %s\n", stria_error_message());
    }
    MPI_Finalize();
    exit(1);
  }
}

int main(int argc, char** argv) {
  double field[CELLS];
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < CELLS; ++i)
    field[i] = rank;

  const int64_t dims[] = {ranks * CELLS}, start[] = {rank * CELLS}, count[] = {CELLS};
  stria_commit_handle* previous = NULL;
  for (int32_t step = 0; step < 3; ++step) {
    for (int i = 0; i < CELLS; ++i)  // the computation: the snapshot before may still be on its way
      field[i] += 0.5;
    if (previous != NULL)
      check(stria_commit_wait(previous), rank);
    stria_commit_free(&previous);
    char path[1000];
    snprintf(path, sizeof path, "%s_%d.h5", argc > 1 ? argv[1] : "snapshot", step);
    stria_file* file;
    stria_dataset* dataset;
    check(stria_create_mpi(MPI_COMM_WORLD, path, NULL, &file), rank);
    check(stria_create_dataset(file, "field", STRIA_FLOAT64, 1, dims, NULL, &dataset), rank);
    stria_put(dataset, start, count, field, NULL, STRIA_FLOAT64);
    check(stria_set_number(file, "/", "step", STRIA_INT32, &step), rank);
    // Returns once all is packed: field may change then.
    check(stria_commit_async(file, &previous), rank);
    stria_close(&file);
  }
  check(stria_commit_wait(previous), rank);
  stria_commit_free(&previous);
  MPI_Finalize();
  return 0;
}
