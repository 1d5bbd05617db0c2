// Rows that follow each other in order of ranks, single elements in any order, reading at once, and
// reports of progress.
#include <string.h>

#include "stria.h"
// The functions with an MPI_Comm come with the second reading.
#include <mpi.h>

#include "check.h"

enum { COLUMNS = 3 };

static int rank, ranks;
static const char* path = "c_scattered_test.h5";

static void note(void* context, int64_t done_bytes, int64_t total_bytes) {
  int64_t* last = context;
  CHECK(done_bytes >= last[0] && done_bytes <= total_bytes);
  last[0] = done_bytes;
  last[1] = total_bytes;
}

// Element e of `places` has the value e / 2; this rank has every ranks-th, the last first.
static void write_file(void) {
  const int64_t mine = rank % 3 + 1;
  stria_file* file;
  stria_dataset* dataset;
  stria_rows rows;
  CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, path, NULL, &file));
  CHECK_OK(stria_place_rows(file, mine, &rows));
  CHECK(rows.count == mine && (rank > 0 || rows.first == 0) && rows.total >= rows.first + mine);
  float values[3][COLUMNS];
  for (int64_t i = 0; i < mine; ++i)
    for (int j = 0; j < COLUMNS; ++j)
      values[i][j] = (float)(10 * (rows.first + i) + j);
  CHECK_OK(stria_create_dataset(file, "rows", STRIA_FLOAT64, 2, (int64_t[]){rows.total, COLUMNS}, NULL, &dataset));
  CHECK_OK(stria_put_rows(dataset, &rows, values, NULL, STRIA_FLOAT32));
  int64_t offsets[8], last[2] = {0, 0};
  double halves[8];
  for (int64_t i = 0; i < 8; ++i) {
    offsets[i] = i == 3 ? -1 : (7 - i) * ranks + rank;
    halves[i] = (double)offsets[i] / 2;
  }
  stria_elements* elements;
  CHECK_OK(stria_elements_new(8, offsets, &elements));
  for (int v = 0; v < 2; ++v) {
    CHECK_OK(stria_create_dataset(file, v == 0 ? "a" : "b", v == 0 ? STRIA_FLOAT64 : STRIA_INT32, 2, (int64_t[]){4, 2 * ranks},
                                  NULL, &dataset));
    CHECK_OK(stria_put_elements(dataset, elements, halves, STRIA_FLOAT64));
  }
  stria_elements_free(elements);
  CHECK_OK(stria_progress(file, note, last));
  CHECK_OK(stria_commit(file));
  CHECK(last[0] == last[1] && last[1] == mine * COLUMNS * 8 + 7 * 12);
  stria_close(&file);
}

static void use_the_file(void* context, int64_t done_bytes, int64_t total_bytes) {
  stria_list* list;
  CHECK(done_bytes <= total_bytes);
  CHECK(stria_flush(context) == STRIA_INVALID_ARGUMENT);
  CHECK(strstr(stria_error_message(), "a report of progress must not use its file") != NULL);
  CHECK(stria_hints(context, &list) == STRIA_INVALID_ARGUMENT);
}

static void end_the_file(void* context, int64_t done_bytes, int64_t total_bytes) {
  CHECK(done_bytes <= total_bytes);
  stria_close(context);
}

static void report_wrongly(void) {
  const double values[4] = {1, 2, 3, 4};
  const int64_t start = 4 * rank, count = 4, dims = 4 * ranks;
  for (int kind = 0; kind < 2; ++kind) {
    stria_file *file, *ending;
    stria_dataset* dataset;
    CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, path, NULL, &file));
    CHECK_OK(stria_create_dataset(file, "x", STRIA_FLOAT64, 1, &dims, NULL, &dataset));
    CHECK_OK(stria_put(dataset, &start, &count, values, NULL, STRIA_FLOAT64));
    ending = file;
    if (kind == 0) {
      CHECK_OK(stria_progress(file, use_the_file, file));
      CHECK_OK(stria_flush(file));
      CHECK(stria_commit(file) == STRIA_INVALID_ARGUMENT);
      CHECK(strstr(stria_error_message(), "a report of progress must not use its file") != NULL);
      stria_close(&file);
    } else {
      CHECK_OK(stria_progress(file, end_the_file, &ending));
      CHECK_OK(stria_commit(file));
      CHECK(ending == NULL);
      CHECK_OK(stria_open_mpi(MPI_COMM_WORLD, path, NULL, &file));
      stria_close(&file);
    }
  }
}

static void read_file(void) {
  stria_file* file;
  stria_dataset* dataset;
  stria_rows rows;
  int64_t dims[2];
  double all[64];
  CHECK_OK(stria_open_mpi(MPI_COMM_WORLD, path, NULL, &file));
  CHECK_OK(stria_find_dataset(file, "a", &dataset));
  CHECK_OK(stria_read(dataset, (int64_t[]){0, 0}, (int64_t[]){4, 2 * ranks}, all, NULL, STRIA_FLOAT64));
  for (int e = 0; e < 8 * ranks; ++e)
    CHECK(all[e] == (e / ranks == 4 ? 0 : e / 2.0));
  const int64_t offsets[] = {5, 0, 7};
  int32_t some[3];
  stria_elements* elements;
  CHECK_OK(stria_elements_new(3, offsets, &elements));
  CHECK_OK(stria_find_dataset(file, "b", &dataset));
  CHECK_OK(stria_get_elements(dataset, elements, some, STRIA_INT32));
  CHECK_OK(stria_flush(file));
  for (int i = 0; i < 3; ++i)
    CHECK(some[i] == (offsets[i] / ranks == 4 ? 0 : offsets[i] / 2));
  stria_elements_free(elements);
  CHECK_OK(stria_find_dataset(file, "rows", &dataset));
  CHECK_OK(stria_dataset_dims(dataset, dims));
  CHECK_OK(stria_share_rows(file, dims[0], &rows));
  CHECK(rows.total == dims[0]);
  CHECK_OK(stria_get_rows(dataset, &rows, all, NULL, STRIA_FLOAT64));
  CHECK_OK(stria_flush(file));
  for (int64_t i = 0; i < COLUMNS * rows.count; ++i)
    CHECK(all[i] == (double)(10 * (rows.first + i / COLUMNS) + i % COLUMNS));
  // What one rank does wrong, all hear of, and go on.
  const int wrong = rank == ranks - 1;
  CHECK(stria_read(dataset, (int64_t[]){0, 0}, wrong ? NULL : (int64_t[]){1, 1}, all, NULL, STRIA_FLOAT64) ==
        STRIA_INVALID_ARGUMENT);
  CHECK(!wrong || strstr(stria_error_message(), "count is NULL") != NULL);
  CHECK(stria_get_rows(dataset, NULL, all, NULL, STRIA_FLOAT64) == STRIA_INVALID_ARGUMENT);
  CHECK(stria_flush(file) == STRIA_INVALID_ARGUMENT);
  CHECK(stria_elements_new(2, (int64_t[]){1, 1}, &elements) == STRIA_INVALID_ARGUMENT && elements == NULL);
  CHECK(stria_elements_new(2, NULL, &elements) == STRIA_INVALID_ARGUMENT);
  CHECK_OK(stria_commit(file));
  stria_close(&file);
}

// Each rank has another number of rows at each step; what it has tells rank and step.
static void append_rows(void) {
  enum { STEPS = 3 };
  stria_file* file;
  stria_dataset* dataset;
  int64_t total = 0, dims[2];
  for (int step = 0; step < STEPS; ++step) {
    const int64_t mine = (rank + step) % 3;
    float values[2][COLUMNS];
    for (int i = 0; i < 2 * COLUMNS; ++i)
      values[i / COLUMNS][i % COLUMNS] = (float)(100 * step + rank);
    if (step == 0) {
      CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, path, NULL, &file));
      CHECK_OK(stria_create_dataset(file, "p", STRIA_FLOAT64, 2, (int64_t[]){STRIA_UNLIMITED, COLUMNS}, NULL, &dataset));
    } else {
      CHECK_OK(stria_append_mpi(MPI_COMM_WORLD, path, NULL, &file));
    }
    CHECK_OK(stria_append_own_rows(file, "p", mine, values, NULL, STRIA_FLOAT32, step == 1 ? NULL : &dataset));
    CHECK_OK(stria_commit(file));
    stria_close(&file);
    for (int r = 0; r < ranks; ++r)
      total += (r + step) % 3;
  }
  double all[64 * COLUMNS];
  CHECK_OK(stria_open_mpi(MPI_COMM_WORLD, path, NULL, &file));
  CHECK_OK(stria_find_dataset(file, "p", &dataset));
  CHECK_OK(stria_dataset_dims(dataset, dims));
  CHECK(dims[0] == total && total <= 64);
  CHECK_OK(stria_read(dataset, (int64_t[]){0, 0}, dims, all, NULL, STRIA_FLOAT64));
  int64_t row = 0;
  for (int step = 0; step < STEPS; ++step)
    for (int r = 0; r < ranks; ++r)
      for (int i = 0; i < (r + step) % 3; ++i, ++row)
        CHECK(all[COLUMNS * row] == 100 * step + r && all[COLUMNS * row + COLUMNS - 1] == 100 * step + r);
  CHECK_OK(stria_commit(file));
  stria_close(&file);
  CHECK_OK(stria_append_mpi(MPI_COMM_WORLD, path, NULL, &file));
  CHECK(stria_append_own_rows(file, "p", rank == 0 ? -1 : 1, all, NULL, STRIA_FLOAT64, &dataset) == STRIA_INVALID_ARGUMENT);
  CHECK(dataset == NULL);
  stria_close(&file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  report_wrongly();
  write_file();
  read_file();
  MPI_Barrier(MPI_COMM_WORLD);
  append_rows();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    remove(path);
  }
  MPI_Finalize();
  return 0;
}
