// Distributed arrays: written by rows of one division, read by another; an error of one rank is
// an error of all.
#include <mpi.h>
#include <string.h>

#include "check.h"

enum { ROWS = 7, COLUMNS = 5, WIDE = COLUMNS + 3 };

static int rank, ranks;
static const char* path = "c_arrays_test.h5";
static const int64_t shape[] = {ROWS, COLUMNS}, before[] = {1, 2}, after[] = {0, 1};

static float value(int64_t row, int64_t column) {
  return (float)(10 * row + column);
}

// Rows [start, start + count) with a ghost row before, two ghost columns before and one after.
static stria_array rows_of(float* numbers, int64_t* start, int64_t* count, int owner) {
  start[0] = ROWS * owner / ranks;
  count[0] = ROWS * (owner + 1) / ranks - start[0];
  start[1] = 0;
  count[1] = COLUMNS;
  return (stria_array){numbers, STRIA_FLOAT32, STRIA_ORDER_C, 2, shape, start, count, before, after};
}

static void write_and_read(void) {
  float numbers[(ROWS + 1) * WIDE];
  int64_t start[2], count[2];
  stria_array array = rows_of(numbers, start, count, rank);
  for (int64_t j = 0; j < (ROWS + 1) * WIDE; ++j)
    numbers[j] = -1;
  for (int64_t j = 0; j < count[0]; ++j)
    for (int64_t i = 0; i < COLUMNS; ++i)
      numbers[(j + 1) * WIDE + i + 2] = value(start[0] + j, i);
  stria_file* file;
  CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, path, NULL, &file));
  CHECK_OK(stria_put_array(file, "a", STRIA_FLOAT64, &array, NULL));
  CHECK_OK(stria_commit(file));
  stria_close(&file);

  CHECK_OK(stria_open_mpi(MPI_COMM_WORLD, path, NULL, &file));
  array = rows_of(numbers, start, count, ranks - 1 - rank);
  for (int64_t j = 0; j < (ROWS + 1) * WIDE; ++j)
    numbers[j] = -1;
  CHECK_OK(stria_get_array(file, "a", &array));
  CHECK_OK(stria_commit(file));
  stria_close(&file);
  for (int64_t j = 0; j < count[0] + 1; ++j)
    for (int64_t i = 0; i < WIDE; ++i) {
      const int ghost = j < 1 || i < 2 || i >= COLUMNS + 2;
      CHECK(numbers[j * WIDE + i] == (ghost ? -1 : value(start[0] + j - 1, i - 2)));
    }
}

static void errors_are_everybodys(int writing) {
  float numbers[(ROWS + 1) * WIDE];
  int64_t start[2], count[2];
  stria_array array = rows_of(numbers, start, count, rank);
  stria_file* file;
  CHECK_OK(writing ? stria_create_mpi(MPI_COMM_WORLD, path, NULL, &file) : stria_open_mpi(MPI_COMM_WORLD, path, NULL, &file));
  if (rank == ranks - 1) {
    array.order = 7;
    CHECK((writing ? stria_put_array(file, "a", STRIA_FLOAT64, &array, NULL) : stria_get_array(file, "a", &array)) ==
          STRIA_INVALID_ARGUMENT);
    CHECK(strstr(stria_error_message(), "order") != NULL);
  } else if (writing) {
    CHECK_OK(stria_put_array(file, "a", STRIA_FLOAT64, &array, NULL));
  }
  CHECK(stria_commit(file) == STRIA_INVALID_ARGUMENT);
  stria_close(&file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  write_and_read();
  errors_are_everybodys(1);
  errors_are_everybodys(0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    remove(path);
  MPI_Finalize();
  return 0;
}
