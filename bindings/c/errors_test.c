// Every error is a code with words, the same on all ranks of a collective call. No rank
// waits for ever.
#include <mpi.h>
#include <string.h>

#include "check.h"

static int rank, ranks;
static const char* path = "c_errors_test.h5";

static void check_same_everywhere(int code) {
  int codes[2] = {code, -code};
  MPI_Allreduce(MPI_IN_PLACE, codes, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK(codes[0] == -codes[1]);
}

static void check_fails(int code, int expected) {
  CHECK(code == expected);
  CHECK(strlen(stria_error_message()) > 10);
  check_same_everywhere(code);
}

static stria_file* new_file(void) {
  stria_file* file;
  CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, path, NULL, &file));
  return file;
}

static void opening_fails(void) {
  stria_file* file;
  check_fails(stria_open_mpi(MPI_COMM_WORLD, "no_such_file.h5", NULL, &file), STRIA_NOT_FOUND);
  CHECK(file == NULL && strstr(stria_error_message(), "no_such_file.h5") != NULL);
  check_fails(stria_create_mpi(MPI_COMM_WORLD, "no_such_directory/a.h5", NULL, &file), STRIA_NOT_FOUND);
  check_fails(stria_create_mpi(MPI_COMM_WORLD, NULL, NULL, &file), STRIA_INVALID_ARGUMENT);
  check_fails(stria_create_mpi(MPI_COMM_NULL, path, NULL, &file), STRIA_INVALID_ARGUMENT);
  check_fails(stria_create_f(MPI_Comm_c2f(MPI_COMM_NULL), path, NULL, &file), STRIA_INVALID_ARGUMENT);
  check_fails(stria_trace_start_mpi(MPI_COMM_NULL, STRIA_TRACE_APP, "."), STRIA_INVALID_ARGUMENT);
#ifdef OPEN_MPI
  check_fails(stria_create_f(987654, path, NULL, &file), STRIA_INVALID_ARGUMENT);
  check_fails(stria_open_f(-1, path, NULL, &file), STRIA_INVALID_ARGUMENT);
  check_fails(stria_trace_start_f(987654, STRIA_TRACE_APP, "."), STRIA_INVALID_ARGUMENT);
#endif
}

// What every rank hears when one rank errs so.
static const char* const causes[] = {"dataset 'x'",  "there is no element type 99", "start is NULL",
                                     "data is NULL", "there is no element type -1", "the number of values is negative",
                                     "box is NULL",  "'x': out of cells",           "no mesh was given"};
enum { CAUSES = sizeof causes / sizeof *causes };

// An error of one rank fails the commit on all ranks with one code, and the old file stays.
static void one_rank_errs(int kind) {
  stria_file* file = new_file();
  stria_dataset* dataset;
  const int64_t dims[] = {10, 3}, start[] = {0, 0}, count[] = {1, 3}, outside[] = {9, 2};
  const double row[3] = {1, 2, 3};
  CHECK_OK(stria_create_dataset(file, "x", STRIA_FLOAT64, 2, dims, NULL, &dataset));
  const int mine = rank == ranks - 1;
  if (kind == 0 && mine) {
    CHECK(stria_put(dataset, outside, count, row, NULL, STRIA_FLOAT64) == STRIA_INVALID_ARGUMENT);
  } else if (kind == 1 && mine) {
    CHECK(stria_put(dataset, start, count, row, NULL, 99) == STRIA_INVALID_ARGUMENT);
  } else if (kind == 2 && mine) {
    CHECK(stria_put(dataset, NULL, count, row, NULL, STRIA_FLOAT64) == STRIA_INVALID_ARGUMENT);
  } else if (kind == 3 && mine) {
    CHECK(stria_put(dataset, start, count, NULL, NULL, STRIA_FLOAT64) == STRIA_INVALID_ARGUMENT);
  } else if (kind == 4 && mine) {
    stria_dataset* other;
    CHECK(stria_create_dataset(file, "y", -1, 2, dims, NULL, &other) == STRIA_INVALID_ARGUMENT && other == NULL);
  } else if (kind == 5 && mine) {
    CHECK(stria_set_numbers(file, "/", "a", STRIA_INT32, -4, row) == STRIA_INVALID_ARGUMENT);
  } else if (kind == 6 && mine) {
    const stria_slab slab = {start, count, NULL, NULL};
    CHECK(stria_put_box(dataset, &slab, NULL, row, STRIA_FLOAT64) == STRIA_INVALID_ARGUMENT);
  } else if (kind == 7 && mine) {
    CHECK(stria_refuse_transfer(dataset, "out of cells") == STRIA_INVALID_ARGUMENT);
  } else if (kind == 8 && mine) {
    CHECK(stria_refuse(file, "no mesh was given") == STRIA_INVALID_ARGUMENT);
  }
  CHECK(!mine || strlen(stria_error_message()) > 10);
  check_fails(stria_commit(file), STRIA_INVALID_ARGUMENT);
  CHECK(strstr(stria_error_message(), causes[kind]) != NULL);
  stria_close(&file);
}

// Where there is no reason, the rank leaves by stria_close().
static void one_rank_leaves(const char* reason) {
  stria_file* file = new_file();
  if (rank == ranks - 1) {
    reason == NULL ? stria_close(&file) : stria_give_up(&file, reason);
    CHECK(file == NULL);
    return;
  }
  CHECK(stria_commit(file) == STRIA_ABORTED);
  CHECK(strstr(stria_error_message(), reason == NULL ? "rank" : reason) != NULL);
  stria_close(&file);
}

static void nothing_given(void) {
  stria_file* file = NULL;
  stria_options* options;
  CHECK(stria_commit(NULL) == STRIA_INVALID_ARGUMENT);
  CHECK(stria_create(path, NULL, NULL) == STRIA_INVALID_ARGUMENT);
  stria_dataset* dataset;
  stria_list* list;
  double number = 0;
  CHECK(stria_find_dataset(NULL, "x", &dataset) == STRIA_INVALID_ARGUMENT && dataset == NULL);
  CHECK(stria_create_dataset(NULL, "x", STRIA_INT8, 0, NULL, NULL, &dataset) == STRIA_INVALID_ARGUMENT);
  CHECK(stria_put(NULL, NULL, NULL, &number, NULL, STRIA_FLOAT64) == STRIA_INVALID_ARGUMENT);
  CHECK(stria_datasets(NULL, &list) == STRIA_INVALID_ARGUMENT);
  CHECK(stria_set_number(NULL, "/", "a", STRIA_FLOAT64, &number) == STRIA_INVALID_ARGUMENT);
  CHECK(stria_get_numbers(NULL, "/", "a", STRIA_FLOAT64, 1, &number, NULL) == STRIA_INVALID_ARGUMENT);
  CHECK(stria_verify(NULL, NULL) == STRIA_INVALID_ARGUMENT);
  CHECK(stria_get_report(NULL, NULL) == STRIA_INVALID_ARGUMENT);
  stria_close(NULL);
  stria_close(&file);
  stria_give_up(NULL, NULL);
  stria_give_up(&file, NULL);
  CHECK(stria_create_string_array(NULL, "x", 1, NULL, NULL, 0) == STRIA_INVALID_ARGUMENT);
  stria_list_free(NULL);
  stria_type_free(NULL);
  CHECK_OK(stria_options_new(&options));
  CHECK(stria_options_set(options, "sync", "perhaps") == STRIA_INVALID_ARGUMENT);
  CHECK(strstr(stria_error_message(), "perhaps") != NULL);
  CHECK(stria_options_set(options, "format", "grib") == STRIA_INVALID_ARGUMENT);
  CHECK(strstr(stria_error_message(), "grib") != NULL);
  CHECK(stria_options_set(options, "chunks", "100") == STRIA_INVALID_ARGUMENT);
  CHECK(strstr(stria_error_message(), "did you mean 'chunk'?") != NULL);
  CHECK(stria_options_set(options, "compres", "true") == STRIA_INVALID_ARGUMENT);
  CHECK(stria_options_set(options, "checksum", "false") == STRIA_INVALID_ARGUMENT);
  stria_options_free(options);
  stria_type* type;
  CHECK(stria_type_bytes(-1, &type) == STRIA_INVALID_ARGUMENT);
  CHECK(stria_type_indexed(2, NULL, NULL, NULL, &type) == STRIA_INVALID_ARGUMENT);
  CHECK(strcmp(stria_code_name(STRIA_NO_SPACE), "no_space") == 0);
}

// A file only warns of a hint that it doesn't know; a dataset has none.
static void unknown_options(void) {
  stria_options* options;
  stria_dataset* dataset;
  stria_file* file = new_file();
  CHECK_OK(stria_options_new(&options));
  CHECK_OK(stria_options_set(options, "sync", "false"));
  CHECK_OK(stria_options_set(options, "cb_nodes", "1"));
  CHECK_OK(stria_create_dataset(file, "x", STRIA_FLOAT64, 0, NULL, options, &dataset));
  CHECK_OK(stria_options_set(options, "another_librarys", "1"));
  CHECK(stria_create_dataset(file, "y", STRIA_FLOAT64, 0, NULL, options, &dataset) == STRIA_INVALID_ARGUMENT);
  CHECK(strstr(stria_error_message(), "no option or hint 'another_librarys'") != NULL);
  stria_options_free(options);
  stria_close(&file);
}

static void wrong_direction(void) {
  stria_file* file = new_file();
  stria_dataset* dataset;
  double value;
  CHECK_OK(stria_create_dataset(file, "x", STRIA_FLOAT64, 0, NULL, NULL, &dataset));
  CHECK(stria_get(dataset, NULL, NULL, &value, NULL, STRIA_FLOAT64) == STRIA_INVALID_ARGUMENT);
  CHECK_OK(stria_discard(file));
  CHECK(stria_put(dataset, NULL, NULL, &value, NULL, STRIA_FLOAT64) != STRIA_OK);
  stria_close(&file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(strcmp(stria_error_message(), "") == 0);
  opening_fails();
  for (int kind = 0; kind < CAUSES; ++kind) {
    one_rank_errs(kind);
  }
  if (ranks > 1) {
    one_rank_leaves(NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    one_rank_leaves("the solver diverged");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  nothing_given();
  unknown_options();
  wrong_direction();
  FILE* left = fopen(path, "rb");
  CHECK(left == NULL);
  MPI_Finalize();
  return 0;
}
