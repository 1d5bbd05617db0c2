// A distributed array: a global grid of two dimensions, of which each rank has a box with a layer
// of ghost cells around it. The file has the grid whole, whatever the number of ranks; then it is
// read by other boxes.
//   mpiexec -n 4 ./distributed_array_c grid.h5
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
// The calls with a communicator need mpi.h before this.
#include <stria.h>

// Collective calls fail on all ranks alike; rank 0 tells why.
static void check(int code, int rank) {
  if (code != STRIA_OK) {
    if (rank == 0) {
      fprintf(stderr, "distributed_array: %s\n", stria_error_message());
    }
    MPI_Finalize();
    exit(1);
  }
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "grid.h5";
  enum { NY = 60, NX = 42 };
  int rank, ranks, across[] = {0, 0}, wrong = 0, wrong_anywhere = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, across);
  const int64_t row = rank / across[1], column = rank % across[1], shape[] = {NY, NX}, one[] = {1, 1};
  const int64_t start[] = {NY * row / across[0], NX * column / across[1]};
  const int64_t count[] = {NY * (row + 1) / across[0] - start[0], NX * (column + 1) / across[1] - start[1]};
  const int64_t wide = count[1] + 2;
  double* density = calloc((size_t)((count[0] + 2) * wide), sizeof *density);
  for (int64_t j = 0; j < count[0]; ++j)
    for (int64_t i = 0; i < count[1]; ++i)
      density[(j + 1) * wide + i + 1] = (double)(1000 * (start[0] + j) + start[1] + i);

  stria_file* file;
  const stria_array box = {density, STRIA_FLOAT64, STRIA_ORDER_C, 2, shape, start, count, one, one};
  check(stria_create_mpi(MPI_COMM_WORLD, path, NULL, &file), rank);
  check(stria_put_array(file, "density", STRIA_FLOAT64, &box, NULL), rank);
  check(stria_commit(file), rank);
  stria_close(&file);
  free(density);

  stria_rows mine;
  check(stria_open_mpi(MPI_COMM_WORLD, path, NULL, &file), rank);
  check(stria_share_rows(file, NY, &mine), rank);
  const int64_t first[] = {mine.first, 0}, rows[] = {mine.count, NX};
  double* numbers = malloc((size_t)(mine.count * NX + 1) * sizeof *numbers);
  const stria_array stripe = {numbers, STRIA_FLOAT64, STRIA_ORDER_C, 2, shape, first, rows, NULL, NULL};
  stria_get_array(file, "density", &stripe);
  check(stria_commit(file), rank);  // reads
  stria_close(&file);
  for (int64_t i = 0; i < mine.count * NX; ++i)
    wrong += numbers[i] != (double)(1000 * (mine.first + i / NX) + i % NX);
  free(numbers);
  MPI_Reduce(&wrong, &wrong_anywhere, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("boxes of %d x %d ranks, read by rows: %s\n", across[0], across[1],
           wrong_anywhere == 0 ? "as written" : "different");
  MPI_Finalize();
  return wrong_anywhere == 0 ? 0 : 1;
}
