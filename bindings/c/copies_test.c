// Buffers that are used again before the commit: puts that copy, and an error for the others.
#include <string.h>

#include "stria.h"
// The functions with an MPI_Comm come with the second reading.
#include <mpi.h>

#include "check.h"

enum { COUNT = 20000 };  // numbers of a put that isn't copied unasked

static int rank, ranks;
static const char* path = "c_copies_test.h5";
static double scratch[COUNT];

static void count_from(int64_t first, int step) {
  for (int i = 0; i < COUNT; ++i)
    scratch[i] = (double)(first + step * i);
}

static void write_with_copies(void) {
  static const char* const names[] = {"start", "slab", "box", "rows", "map"};
  static int64_t offsets[COUNT];
  const int64_t start = (int64_t)rank * COUNT, count = COUNT, none = 0;
  const stria_slab slab = {&start, &count, NULL, NULL};
  const stria_box box = {&count, &none};
  stria_file* file;
  stria_dataset* d[5];
  stria_rows rows;
  stria_elements* map;
  int64_t copied_bytes = -1;
  CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, path, NULL, &file));
  for (int i = 0; i < 5; ++i)
    CHECK_OK(stria_create_dataset(file, names[i], STRIA_FLOAT64, 1, (int64_t[]){(int64_t)ranks * COUNT}, NULL, &d[i]));
  CHECK_OK(stria_place_rows(file, COUNT, &rows));
  for (int i = 0; i < COUNT; ++i)
    offsets[i] = start + COUNT - 1 - i;
  CHECK_OK(stria_elements_new(COUNT, offsets, &map));

  count_from(start, 1);
  CHECK_OK(stria_put_copy(d[0], &start, &count, scratch, NULL, STRIA_FLOAT64));
  CHECK_OK(stria_put_slab_copy(d[1], &slab, scratch, NULL, STRIA_FLOAT64));
  CHECK_OK(stria_put_box_copy(d[2], &slab, &box, scratch, STRIA_FLOAT64));
  CHECK_OK(stria_put_rows_copy(d[3], &rows, scratch, NULL, STRIA_FLOAT64));
  count_from(start + COUNT - 1, -1);
  CHECK_OK(stria_put_elements_copy(d[4], map, scratch, STRIA_FLOAT64));
  stria_elements_free(map);
  memset(scratch, 0, sizeof scratch);
  CHECK_OK(stria_commit(file));
  CHECK_OK(stria_get_copied(file, &copied_bytes));
  CHECK(copied_bytes >= 5 * (int64_t)sizeof scratch && copied_bytes < 6 * (int64_t)sizeof scratch);
  stria_close(&file);

  CHECK_OK(stria_open_mpi(MPI_COMM_WORLD, path, NULL, &file));
  for (int i = 0; i < 5; ++i) {
    CHECK_OK(stria_find_dataset(file, names[i], &d[i]));
    CHECK_OK(stria_read(d[i], &start, &count, scratch, NULL, STRIA_FLOAT64));
    for (int j = 0; j < COUNT; ++j)
      CHECK(scratch[j] == (double)(start + j));
  }
  stria_close(&file);
}

// The last rank changes what it has put.
static void change_what_was_put(void) {
  const int64_t start = (int64_t)rank * COUNT, count = COUNT;
  stria_file* file;
  stria_dataset* dataset;
  CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, path, NULL, &file));
  CHECK_OK(stria_create_dataset(file, "dens", STRIA_FLOAT64, 1, (int64_t[]){(int64_t)ranks * COUNT}, NULL, &dataset));
  CHECK_OK(stria_put(dataset, &start, &count, scratch, NULL, STRIA_FLOAT64));
  if (rank == ranks - 1)
    count_from(-1, -1);
  CHECK(stria_commit(file) == STRIA_INVALID_ARGUMENT);
  CHECK(strstr(stria_error_message(), "'dens': the memory of put 1 of 1") != NULL);
  stria_close(&file);
}

// A small put stores what its memory held.
static void put_one_variable_again_and_again(void) {
  stria_file* file;
  stria_dataset* dataset;
  int64_t start[2] = {rank, 0};
  const int64_t count[2] = {1, 1}, all[2] = {1, 100};
  double number = 0;
  CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, path, NULL, &file));
  CHECK_OK(stria_create_dataset(file, "x", STRIA_FLOAT64, 2, (int64_t[]){ranks, 100}, NULL, &dataset));
  for (start[1] = 0; start[1] < 100; ++start[1], ++number)
    CHECK_OK(stria_put(dataset, start, count, &number, NULL, STRIA_FLOAT64));
  CHECK_OK(stria_commit(file));
  stria_close(&file);
  CHECK_OK(stria_open_mpi(MPI_COMM_WORLD, path, NULL, &file));
  CHECK_OK(stria_find_dataset(file, "x", &dataset));
  start[1] = 0;
  CHECK_OK(stria_read(dataset, start, all, scratch, NULL, STRIA_FLOAT64));
  for (int i = 0; i < 100; ++i)
    CHECK(scratch[i] == i);
  stria_close(&file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  write_with_copies();
  MPI_Barrier(MPI_COMM_WORLD);
  change_what_was_put();
  MPI_Barrier(MPI_COMM_WORLD);
  put_one_variable_again_and_again();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    remove(path);
  }
  MPI_Finalize();
  return 0;
}
