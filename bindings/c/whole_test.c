// Tests what stria.h tells of files, datasets, types, paths and hints, filters by their options,
// and regions of a trace.
#include <mpi.h>
#include <string.h>

#include "check.h"

enum { ROWS = 64, COLUMNS = 32 };

static int rank, ranks;
static const char *path = "c_whole_test.h5", *classic = "c_whole_test.nc";

static stria_options* options_of(const char* names[][2]) {
  stria_options* options;
  CHECK_OK(stria_options_new(&options));
  for (int i = 0; names[i][0] != NULL; ++i)
    CHECK_OK(stria_options_set(options, names[i][0], names[i][1]));
  return options;
}

static void create(stria_file* file, const char* name, const char* options[][2]) {
  const int64_t dims[] = {ROWS, COLUMNS}, start[] = {0, 0};
  static int32_t numbers[ROWS][COLUMNS];
  for (int i = 0; i < ROWS * COLUMNS; ++i)
    numbers[i / COLUMNS][i % COLUMNS] = i / 7;
  stria_options* own = options_of(options);
  stria_dataset* dataset;
  CHECK_OK(stria_create_dataset(file, name, STRIA_INT32, 2, dims, own, &dataset));
  stria_options_free(own);
  if (rank == 0)
    CHECK_OK(stria_put(dataset, start, dims, numbers, NULL, STRIA_INT32));
}

// Checks what a dataset says of itself, while it is written and when it is read.
static void check_series(const stria_dataset* dataset) {
  int64_t chunk[2] = {-1, -1};
  int32_t value = 0;
  int given = -1;
  CHECK(strcmp(stria_dataset_dimension(dataset, 0), "time") == 0 && strcmp(stria_dataset_dimension(dataset, 1), "x") == 0);
  CHECK(strcmp(stria_dataset_dimension(dataset, 2), "") == 0 && strcmp(stria_dataset_dimension(dataset, -1), "") == 0);
  CHECK(stria_dataset_can_grow(dataset));
  CHECK_OK(stria_dataset_chunk(dataset, chunk));
  CHECK(chunk[0] == 4 && chunk[1] == COLUMNS);
  CHECK_OK(stria_dataset_fill_value(dataset, &value, &given));
  CHECK(given == 1 && value == -9);
  stria_list* members;
  CHECK_OK(stria_dataset_enumeration(dataset, &members));
  CHECK(stria_list_size(members) == 2 && strcmp(stria_list_at(members, 0), "UNSET=-9") == 0);
  CHECK(strcmp(stria_list_at(members, 1), "a=b=1") == 0);
  stria_list_free(members);
}

static void check_plain(const stria_dataset* dataset) {
  int64_t chunk[2] = {-1, -1};
  int given = -1;
  CHECK(!stria_dataset_can_grow(dataset) && strcmp(stria_dataset_dimension(dataset, 0), "") == 0);
  CHECK_OK(stria_dataset_chunk(dataset, chunk));
  CHECK(chunk[0] == 0 && chunk[1] == 0);
  CHECK_OK(stria_dataset_fill_value(dataset, NULL, &given));
  CHECK(given == 0);
}

static void write_series(stria_file* file) {
  const int64_t dims[] = {STRIA_UNLIMITED, COLUMNS};
  stria_options* options = options_of((const char*[][2]){{"dimensions", "time,x"},
                                                         {"chunk", "4,32"},
                                                         {"fill_value", "-9"},
                                                         {"big_endian", "true"},
                                                         {"enumeration", "UNSET=-9,a=b=1"},
                                                         {NULL, NULL}});
  stria_dataset* dataset;
  CHECK_OK(stria_create_dataset(file, "series", STRIA_INT32, 2, dims, options, &dataset));
  stria_options_free(options);
  check_series(dataset);
}

static void write_files(void) {
  stria_file* file;
  CHECK_OK(stria_trace_begin("write"));
  CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, path, NULL, &file));
  create(file, "plain", (const char*[][2]){{NULL, NULL}});
  create(file, "shuffled", (const char*[][2]){{"compress", "true"}, {"fletcher32", "true"}, {NULL, NULL}});
  create(file, "deflated", (const char*[][2]){{"shuffle", "false"}, {"compress", "deflate"}, {NULL, NULL}});
  create(file, "summed", (const char*[][2]){{"fletcher32", "true"}, {NULL, NULL}});
  write_series(file);
  CHECK(strcmp(stria_file_path(file), path) == 0 && strcmp(stria_file_format(file), "hdf5") == 0);
  CHECK_OK(stria_commit(file));
  stria_close(&file);
  CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, classic, NULL, &file));
  CHECK(strcmp(stria_file_format(file), "netcdf") == 0);
  create(file, "plain", (const char*[][2]){{NULL, NULL}});
  CHECK_OK(stria_commit(file));
  stria_close(&file);
  CHECK_OK(stria_trace_end());
}

static void look(stria_file* file, const char* name, const char* filters, int contiguous) {
  stria_dataset* dataset;
  int64_t bytes = 0, stored = 0;
  int in_one_piece = -1;
  CHECK_OK(stria_find_dataset(file, name, &dataset));
  CHECK(strcmp(stria_dataset_path(dataset), name) == 0 && strcmp(stria_dataset_meaning(dataset), "number") == 0);
  CHECK(strcmp(stria_dataset_filters(dataset), filters) == 0);
  CHECK_OK(stria_dataset_is_contiguous(dataset, &in_one_piece));
  CHECK(in_one_piece == contiguous);
  CHECK_OK(stria_dataset_bytes(dataset, &bytes, &stored));
  CHECK(bytes == ROWS * COLUMNS * 4);
  CHECK(contiguous ? stored == bytes : strstr(filters, "deflate") != NULL ? stored < bytes / 2 : stored > bytes);
  CHECK_OK(stria_dataset_bytes(dataset, NULL, NULL));
}

// Reads every second number of every third row.
static void read_slab(stria_file* file) {
  stria_dataset* dataset;
  double numbers[2][3];
  const int64_t start[] = {1, 2}, count[] = {2, 3}, stride[] = {3, 2};
  const stria_slab slab = {start, count, stride, NULL};
  CHECK_OK(stria_find_dataset(file, "shuffled", &dataset));
  CHECK_OK(stria_read_slab(dataset, &slab, numbers, NULL, STRIA_FLOAT64));
  CHECK(numbers[0][0] == (COLUMNS + 2) / 7 && numbers[1][2] == (4 * COLUMNS + 6) / 7);
  CHECK(stria_read_slab(dataset, NULL, numbers, NULL, STRIA_FLOAT64) == STRIA_INVALID_ARGUMENT);
}

static void read_files(void) {
  stria_file* file;
  stria_verdict* verdict;
  int64_t cleared = -1;
  CHECK_OK(stria_open_mpi(MPI_COMM_WORLD, path, NULL, &file));
  look(file, "plain", "", 1);
  look(file, "shuffled", "shuffle deflate(1) fletcher32", 0);
  look(file, "deflated", "deflate(1)", 0);
  look(file, "summed", "fletcher32", 0);
  stria_dataset* dataset;
  CHECK_OK(stria_find_dataset(file, "series", &dataset));
  check_series(dataset);
  CHECK_OK(stria_find_dataset(file, "plain", &dataset));
  check_plain(dataset);
  read_slab(file);
  CHECK_OK(stria_get_cleared(file, &cleared));
  CHECK(cleared == 0);
  CHECK_OK(stria_verify_except(file, 1, (const char*[]){"plain"}, &verdict));
  CHECK(stria_verdict_size(verdict) == 0);
  stria_verdict_free(verdict);
  stria_close(&file);
  CHECK_OK(stria_open_mpi(MPI_COMM_WORLD, classic, NULL, &file));
  CHECK(strcmp(stria_file_format(file), "cdf1") == 0);
  stria_close(&file);
}

// A byte of "plain" is another one: with the dataset left out, the file is intact.
static void damage(void) {
  stria_file* file;
  stria_verdict* verdict;
  if (rank == 0) {
    static unsigned char bytes[1 << 20];
    FILE* raw = fopen(path, "r+b");
    CHECK(raw != NULL);
    const size_t size = fread(bytes, 1, sizeof bytes, raw);
    const int32_t wanted[] = {0, 0, 0, 0, 0, 0, 0, 1, 1};  // how "plain" begins
    size_t at = 0;
    while (at + sizeof wanted <= size && memcmp(bytes + at, wanted, sizeof wanted) != 0)
      ++at;
    CHECK(at + sizeof wanted <= size);
    fseek(raw, (long)at, SEEK_SET);
    fputc(5, raw);
    fclose(raw);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(stria_open_mpi(MPI_COMM_WORLD, path, NULL, &file));
  CHECK_OK(stria_verify_except(file, 0, NULL, &verdict));
  CHECK(stria_verdict_size(verdict) == 1 && strcmp(stria_verdict_at(verdict, 0)->dataset, "plain") == 0);
  stria_verdict_free(verdict);
  CHECK_OK(stria_verify_except(file, 1, (const char*[]){"plain"}, &verdict));
  CHECK(stria_verdict_size(verdict) == 0);
  stria_verdict_free(verdict);
  stria_close(&file);
}

static void know_types(void) {
  stria_type *number, *shifted;
  CHECK(stria_element_bytes(STRIA_FLOAT64) == 8 && strcmp(stria_element_name(STRIA_UINT16), "uint16") == 0);
  CHECK(stria_element_bytes(-1) == 0 && stria_element_name(99)[0] == '\0');
  CHECK_OK(stria_type_of(STRIA_FLOAT32, &number));
  CHECK_OK(stria_type_resized(number, -4, 24, &shifted));
  CHECK(stria_type_extent(shifted) == 24 && stria_type_lower_bound(shifted) == -4);
  CHECK(stria_type_true_lower_bound(shifted) == 0 && stria_type_true_extent(shifted) == 4);
  stria_type_free(number);
  stria_type_free(shifted);
}

static void know_hints(void) {
  stria_list* problems;
  stria_options* options = options_of((const char*[][2]){{"stria_alignment", "many"}, {"sync", "true"}, {NULL, NULL}});
  CHECK_OK(stria_hint_problems(options, &problems));
  CHECK(stria_list_size(problems) == 1 && strstr(stria_list_at(problems, 0), "stria_alignment") != NULL);
  stria_list_free(problems);
  CHECK_OK(stria_hint_problems(NULL, &problems));
  CHECK(stria_list_size(problems) == 0);
  stria_list_free(problems);
  stria_options_free(options);
}

static void remove_files(void) {
  stria_list* names;
  int there = -1, found = 0;
  CHECK(stria_is_store_path("stria://host:1/a") == 1 && stria_is_store_path(path) == 0);
  CHECK_OK(stria_list_directory(".", &names));
  for (int64_t i = 0; i < stria_list_size(names); ++i)
    found += strcmp(stria_list_at(names, i), path) == 0;
  CHECK(found == 1);
  stria_list_free(names);
  CHECK(stria_list_directory("c_whole_test.none", &names) == STRIA_NOT_FOUND);
  CHECK_OK(stria_path_exists(path, &there));
  CHECK(there == 1);
  CHECK_OK(stria_remove_file(path));
  CHECK_OK(stria_remove_file(classic));
  CHECK_OK(stria_path_exists(path, &there));
  CHECK(there == 0);
  CHECK(stria_remove_file(path) == STRIA_NOT_FOUND);
}

// The trace has the region, and what was called within it.
static void end_trace(void) {
  stria_list* traces;
  CHECK(stria_trace_level() == STRIA_TRACE_APP);
  CHECK_OK(stria_trace_set_level(STRIA_TRACE_OFF));
  CHECK(stria_trace_level() == STRIA_TRACE_OFF && stria_trace_set_level(7) == STRIA_INVALID_ARGUMENT);
  stria_trace_flush();
  CHECK_OK(stria_trace_finish(&traces));
  CHECK(stria_list_size(traces) == 1);
  if (rank == 0) {
    static char bytes[1 << 16];
    FILE* trace = fopen(stria_list_at(traces, 0), "rb");
    CHECK(trace != NULL);
    const size_t size = fread(bytes, 1, sizeof bytes, trace);
    int regions = 0;
    for (size_t i = 0; i + 11 <= size; ++i)
      regions += memcmp(bytes + i, "write_of_c_", 11) == 0;
    CHECK(regions >= 1);
    fclose(trace);
    CHECK(remove(stria_list_at(traces, 0)) == 0);
  }
  stria_list_free(traces);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK_OK(stria_trace_start_from_environment_mpi(MPI_COMM_WORLD));  // it asks for nothing
  CHECK_OK(stria_trace_start_mpi(MPI_COMM_WORLD, STRIA_TRACE_APP, "."));
  CHECK(stria_trace_start_f(0, 9, ".") == STRIA_INVALID_ARGUMENT);
  CHECK_OK(stria_trace_begin("write_of_c_files"));
  write_files();
  CHECK_OK(stria_trace_end());
  CHECK(stria_trace_end() == STRIA_INVALID_ARGUMENT && strstr(stria_error_message(), "no region") != NULL);
  CHECK(stria_trace_begin(NULL) == STRIA_INVALID_ARGUMENT);
  end_trace();
  read_files();
  damage();
  know_types();
  know_hints();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    remove_files();
  MPI_Finalize();
  return 0;
}
