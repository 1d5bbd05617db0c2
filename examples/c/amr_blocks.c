// Blocks of an adaptive mesh: each rank has another number of them, of two sizes, with ghost cells
// around each. The file has a row a block, without ghost cells, and says where each block lies.
//   mpiexec -n 4 ./amr_blocks_c blocks.h5
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
// The calls with a communicator need mpi.h before this.
#include <stria.h>

enum { N = 8, GHOSTS = 2, WIDE = N + 2 * GHOSTS, MOST = 4 };

// Collective calls fail on all ranks alike; rank 0 tells why.
static void check(int code, int rank) {
  if (code != STRIA_OK) {
    if (rank == 0) {
      fprintf(stderr, "amr_blocks: %s\n", stria_error_message());
    }
    MPI_Finalize();
    exit(1);
  }
}

int main(int argc, char** argv) {
  static double dens[MOST][WIDE][WIDE], corners[MOST][2];
  int32_t levels[MOST];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // The domain is a row of unit squares, one a rank. Those of odd ranks are refined: four blocks.
  const int level = 1 + rank % 2, along = level == 1 ? 1 : 2, mine = along * along;
  const double width = 1.0 / along, cell = width / N;
  for (int b = 0; b < mine; ++b) {
    levels[b] = level;
    corners[b][0] = rank + width * (b % along);
    corners[b][1] = width * (b / along);
    for (int j = 0; j < N; ++j)
      for (int i = 0; i < N; ++i)
        dens[b][GHOSTS + j][GHOSTS + i] = corners[b][0] + (i + 0.5) * cell + 10 * (corners[b][1] + (j + 0.5) * cell);
  }

  stria_file* file;
  stria_dataset *level_of, *corner, *values;
  stria_rows rows;
  check(stria_create_mpi(MPI_COMM_WORLD, argc > 1 ? argv[1] : "blocks.h5", NULL, &file), rank);
  check(stria_place_rows(file, mine, &rows), rank);  // where this rank's go, and how many all have
  const int64_t dims[] = {rows.total, N, N}, pairs[] = {rows.total, 2};
  check(stria_create_dataset(file, "level", STRIA_INT32, 1, dims, NULL, &level_of), rank);
  check(stria_create_dataset(file, "corner", STRIA_FLOAT64, 2, pairs, NULL, &corner), rank);
  check(stria_create_dataset(file, "dens", STRIA_FLOAT64, 3, dims, NULL, &values), rank);
  // An error of one rank fails the commit of all.
  stria_put_rows(level_of, &rows, levels, NULL, STRIA_INT32);
  stria_put_rows(corner, &rows, corners, NULL, STRIA_FLOAT64);
  // The interior of the blocks: a box of the array that has them all.
  const int64_t start[] = {rows.first, 0, 0}, count[] = {mine, N, N};
  const int64_t sizes[] = {mine, WIDE, WIDE}, begin[] = {0, GHOSTS, GHOSTS};
  stria_put_box(values, &(stria_slab){start, count, NULL, NULL}, &(stria_box){sizes, begin}, dens, STRIA_FLOAT64);
  check(stria_set_number(file, "/", "time", STRIA_FLOAT64, &(double){0.25}), rank);
  check(stria_commit(file), rank);
  stria_close(&file);
  if (rank == 0)
    printf("%lld blocks\n", (long long)rows.total);
  MPI_Finalize();
  return 0;
}
