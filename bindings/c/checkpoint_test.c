// All ranks write a checkpoint of blocks with guard cells, and each reads it back in another
// division. Also tables, strings, attributes, hints, checks.
#include <mpi.h>
#include <string.h>

#include "check.h"

enum { BLOCKS = 6, N = 4, GUARD = 2, WIDE = N + 2 * GUARD, VARIABLES = 3 };

static int rank, ranks;
static const char* path = "c_checkpoint_test.h5";

static double cell(int variable, int64_t block, int k, int j, int i) {
  return 1000.0 * variable + 100.0 * (double)block + 0.5 * k + 7 * j + i;
}

// The simulation's array is unk[block][k][j][i][variable].
static void write_checkpoint(int async) {
  const int64_t first = BLOCKS * rank / ranks, mine = BLOCKS * (rank + 1) / ranks - first;
  double* unk = calloc((size_t)(BLOCKS * WIDE * WIDE * WIDE * VARIABLES), sizeof *unk);
  for (int64_t b = 0; b < mine; ++b)
    for (int k = 0; k < N; ++k)
      for (int j = 0; j < N; ++j)
        for (int i = 0; i < N; ++i)
          for (int v = 0; v < VARIABLES; ++v)
            unk[((((b * WIDE + k + GUARD) * WIDE + j + GUARD) * WIDE) + i + GUARD) * VARIABLES + v] =
                cell(v, first + b, k, j, i);
  stria_file* file;
  stria_options* options;
  CHECK_OK(stria_options_new(&options));
  CHECK_OK(stria_options_set(options, "sync", "false"));
  CHECK_OK(stria_options_set(options, "cb_nodes", "1"));
  CHECK_OK(stria_options_set(options, "no_such_hint", "1"));
  CHECK_OK(rank % 2 == 0 ? stria_create_mpi(MPI_COMM_WORLD, path, options, &file)
                         : stria_create_f(MPI_Comm_c2f(MPI_COMM_WORLD), path, options, &file));
  stria_options_free(options);
  stria_list* warnings;
  CHECK_OK(stria_hint_warnings(file, &warnings));
  CHECK(stria_list_size(warnings) == 1 && strstr(stria_list_at(warnings, 0), "no_such_hint") != NULL);
  stria_list_free(warnings);
  stria_type* number;
  CHECK_OK(stria_type_of(STRIA_FLOAT64, &number));
  const int64_t dims[] = {BLOCKS, N, N, N}, start[] = {first, 0, 0, 0}, count[] = {mine, N, N, N};
  for (int v = 0; v < VARIABLES; ++v) {
    const char name[] = {'v', (char)('0' + v), 0};
    stria_dataset* dataset;
    CHECK_OK(stria_create_dataset(file, name, v == 0 ? STRIA_FLOAT32 : STRIA_FLOAT64, 4, dims, NULL, &dataset));
    stria_type* interior;
    CHECK_OK(stria_type_subarray(5, (int64_t[]){mine, WIDE, WIDE, WIDE, VARIABLES}, (int64_t[]){mine, N, N, N, 1},
                                 (int64_t[]){0, GUARD, GUARD, GUARD, v}, STRIA_ORDER_C, number, &interior));
    CHECK(stria_type_size(interior) == mine * N * N * N * 8);
    CHECK_OK(stria_put(dataset, start, count, unk, interior, STRIA_FLOAT64));
    stria_type_free(interior);
  }
  stria_type_free(number);
  CHECK_OK(stria_set_number(file, "/", "time", STRIA_FLOAT64, &(double){0.25}));
  CHECK_OK(stria_set_numbers(file, "v0", "box", STRIA_INT32, 3, (int32_t[]){N, N, N}));
  CHECK_OK(stria_set_string(file, "v0", "unit", "g/cm^3"));
  CHECK_OK(stria_set_strings(file, "v0", "axes", 2, (const char*[]){"x", "long name"}));
  CHECK_OK(stria_create_strings(file, "names", 3, (const char*[]){"v0", "v1", "v2"}, 4));
  struct parameter {
    char name[8];
    double value;
  } parameters[] = {{"gamma   ", 1.4}, {"cfl     ", 0.8}};
  const stria_column columns[] = {{"name", 0, 8, STRIA_BYTE}, {"value", 8, 0, STRIA_FLOAT64}};
  CHECK_OK(stria_create_table(file, "parameters",
                              &(stria_records){columns, 2, sizeof *parameters, 2, rank == 0 ? parameters : NULL}));
  stria_commit_handle* commit = NULL;
  CHECK_OK(async ? stria_commit_async(file, &commit) : stria_commit(file));
  memset(unk, 0, (size_t)(BLOCKS * WIDE * WIDE * WIDE * VARIABLES) * sizeof *unk);
  stria_report report;
  double packing = -1;
  CHECK_OK(stria_get_report(file, &report));
  CHECK(report.useful_bytes == (4 + 8 + 8) * BLOCKS * N * N * N || report.useful_bytes == 24 * BLOCKS * N * N * N);
  CHECK(strlen(report.method) > 0 && report.seconds > 0);
  CHECK_OK(stria_get_phase(file, "pack", &packing));
  CHECK(packing >= 0);
  stria_close(&file);
  CHECK(file == NULL);
  free(unk);
  if (async) {
    CHECK_OK(stria_commit_wait(commit));
    CHECK(stria_commit_done(commit) == 1);
    stria_commit_free(&commit);
    CHECK(commit == NULL);
  }
}

// Each rank reads planes k, k + 2 of all blocks into the middle of an array of its own.
static void read_planes(stria_file* file) {
  enum { WIDTH = N + 1 };
  for (int v = 0; v < VARIABLES; ++v) {
    const char name[] = {'v', (char)('0' + v), 0};
    stria_dataset* dataset;
    int64_t dims[4];
    double planes[BLOCKS][2][WIDTH][WIDTH];
    memset(planes, 0, sizeof planes);
    CHECK_OK(stria_find_dataset(file, name, &dataset));
    CHECK(stria_dataset_rank(dataset) == 4 && stria_dataset_element(dataset) == (v == 0 ? STRIA_FLOAT32 : STRIA_FLOAT64));
    CHECK(strcmp(stria_dataset_type_name(dataset), v == 0 ? "float32" : "float64") == 0);
    CHECK_OK(stria_dataset_dims(dataset, dims));
    CHECK(dims[0] == BLOCKS && dims[1] == N && dims[2] == N && dims[3] == N);
    const int64_t first = rank % 2;
    const stria_slab slab = {(int64_t[]){0, first, 0, 0}, (int64_t[]){BLOCKS, 2, N, N}, (int64_t[]){1, 2, 1, 1}, NULL};
    const stria_box box = {(int64_t[]){BLOCKS, 2, WIDTH, WIDTH}, (int64_t[]){0, 0, 1, 1}};
    CHECK_OK(stria_get_box(dataset, &slab, &box, planes, STRIA_FLOAT64));
    CHECK_OK(stria_flush(file));
    for (int b = 0; b < BLOCKS; ++b)
      for (int k = 0; k < 2; ++k)
        for (int j = 0; j < WIDTH; ++j)
          for (int i = 0; i < WIDTH; ++i)
            CHECK(planes[b][k][j][i] == (i * j == 0 ? 0 : cell(v, b, (int)first + 2 * k, j - 1, i - 1)));
  }
}

static void read_small_things(stria_file* file) {
  double time = 0;
  int32_t box[3] = {0};
  int64_t count = 0;
  CHECK_OK(stria_get_numbers(file, "/", "time", STRIA_FLOAT64, 1, &time, NULL));
  CHECK_OK(stria_get_numbers(file, "v0", "box", STRIA_INT32, 0, NULL, &count));
  CHECK(time == 0.25 && count == 3);
  CHECK_OK(stria_get_numbers(file, "v0", "box", STRIA_INT32, 3, box, NULL));
  CHECK(box[0] == N && box[2] == N);
  stria_list* list;
  CHECK_OK(stria_get_strings(file, "v0", "axes", &list));
  CHECK(stria_list_size(list) == 2 && strcmp(stria_list_at(list, 1), "long name") == 0 && stria_list_at(list, 2) == NULL);
  stria_list_free(list);
  CHECK_OK(stria_attributes(file, "v0", &list));
  CHECK(stria_list_size(list) == 3);
  stria_list_free(list);
  CHECK_OK(stria_read_strings(file, "names", &list));
  CHECK(stria_list_size(list) == 3 && strcmp(stria_list_at(list, 2), "v2") == 0);
  stria_list_free(list);
  CHECK_OK(stria_datasets(file, &list));
  CHECK(stria_list_size(list) >= VARIABLES + 2);
  stria_list_free(list);
  stria_table* table;
  CHECK_OK(stria_read_table(file, "parameters", &table));
  const stria_records* records = stria_table_records(table);
  CHECK(records->row_count == 2 && records->column_count == 2 && strcmp(records->columns[1].name, "value") == 0);
  double cfl = 0;
  memcpy(&cfl, (const char*)records->rows + records->row_bytes + records->columns[1].offset_bytes, sizeof cfl);
  CHECK(cfl == 0.8);
  stria_table_free(table);
}

// Each rank adds its cells of two rows.
static void append_rows(void) {
  stria_file* file;
  stria_dataset* series;
  const int64_t dims[] = {STRIA_UNLIMITED, 3 * (int64_t)ranks};
  const double cells[] = {rank, rank + 0.25, rank + 0.5};
  for (int64_t row = 0; row < 2; ++row) {
    const int64_t start[] = {row, 3 * (int64_t)rank}, count[] = {1, 3};
    CHECK_OK(stria_append_mpi(MPI_COMM_WORLD, path, NULL, &file));
    if (row == 0) {
      CHECK_OK(stria_create_dataset(file, "series", STRIA_FLOAT64, 2, dims, NULL, &series));
    }
    CHECK_OK(stria_append_rows(file, "series", 1, &series));
    CHECK_OK(stria_put(series, start, count, cells, NULL, STRIA_FLOAT64));
    CHECK_OK(stria_commit(file));
    stria_close(&file);
  }
  CHECK_OK(stria_open_mpi(MPI_COMM_WORLD, path, NULL, &file));
  CHECK_OK(stria_find_dataset(file, "series", &series));
  int64_t shape[2];
  double last = 0;
  const int64_t start[] = {1, 3 * (int64_t)rank + 2}, count[] = {1, 1};
  CHECK_OK(stria_dataset_dims(series, shape));
  CHECK_OK(stria_get(series, start, count, &last, NULL, STRIA_FLOAT64));
  CHECK_OK(stria_commit(file));
  CHECK(shape[0] == 2 && shape[1] == 3 * ranks && last == rank + 0.5);
  stria_close(&file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  write_checkpoint(ranks % 2);
  stria_file* file;
  CHECK_OK(stria_open_mpi(MPI_COMM_WORLD, path, NULL, &file));
  read_planes(file);
  read_small_things(file);
  int has = 0;
  stria_verdict* verdict;
  CHECK_OK(stria_has_checksums(file, &has));
  CHECK_OK(stria_verify(file, &verdict));
  CHECK(has == 1 && stria_verdict_size(verdict) == 0 && stria_verdict_at(verdict, 0) == NULL);
  CHECK(stria_list_size(stria_verdict_remarks(verdict)) == 0);
  stria_verdict_free(verdict);
  CHECK_OK(stria_commit(file));
  stria_close(&file);
  append_rows();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    remove(path);
  }
  MPI_Finalize();
  return 0;
}
