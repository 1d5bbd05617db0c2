// Names of dimensions, numbers that mean more than their type says, references, links, and elements
// that are overwritten. Records of all ranks.
#include <mpi.h>
#include <string.h>

#include "check.h"

enum { COUNT = 6 };

static int rank, ranks;
static const char *path = "c_kinds_test.h5", *records_path = "c_kinds_test_records.h5", *filled_path = "c_kinds_test_filled.h5";

static void write_file(void) {
  stria_file* file;
  stria_options* options;
  stria_dataset* dataset;
  CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, path, NULL, &file));
  CHECK_OK(stria_options_new(&options));
  CHECK_OK(stria_options_set(options, "dimensions", "x"));
  CHECK_OK(stria_options_set(options, "meaning", "complex"));
  CHECK(stria_options_set(options, "meaning", "imaginary") == STRIA_INVALID_ARGUMENT);
  const int64_t dims[] = {COUNT, 2}, start[] = {0, 0};
  const double waves[COUNT][2] = {{1, -1}, {2, -2}};
  CHECK_OK(stria_create_dataset(file, "wave", STRIA_FLOAT64, 2, dims, options, &dataset));
  CHECK(strcmp(stria_dataset_type_name(dataset), "complex128") == 0);
  if (rank == 0)
    CHECK_OK(stria_put(dataset, start, dims, waves, NULL, STRIA_FLOAT64));
  stria_options_free(options);
  const unsigned char switches[] = {1, 0, 7};
  const float one[] = {0.5f, 2};
  const char* paths[] = {"wave", "/wave"};
  CHECK_OK(stria_set_array(file, "/", "tensor", STRIA_INT32, 2, (int64_t[]){2, 3}, (int32_t[]){1, 2, 3, 4, 5, 6}));
  CHECK_OK(stria_set_booleans(file, "wave", "periodic", -1, switches));
  CHECK_OK(stria_set_booleans(file, "wave", "switches", 3, switches));
  CHECK_OK(stria_set_complex(file, "wave", "phase", STRIA_FLOAT32, -1, one));
  CHECK_OK(stria_set_references(file, "/", "shown", 2, paths));
  CHECK_OK(stria_create_string_array(file, "paths", 2, (const int64_t[]){1, 2}, paths, 0));
  CHECK_OK(stria_create_link(file, "g/latest", "/wave", NULL));
  CHECK_OK(stria_commit(file));
  stria_close(&file);
}

// Nobody puts anything: what is read are the fill values.
static void fill(const char* meaning, const char* value, int element, int rank_of_it, const void* expected, size_t bytes) {
  stria_file* file;
  stria_options* options;
  stria_dataset* dataset;
  unsigned char found[16];
  const int64_t dims[] = {1, 2}, start[] = {0, 0};
  CHECK_OK(stria_options_new(&options));
  CHECK_OK(stria_options_set(options, "meaning", meaning));
  CHECK_OK(stria_options_set(options, "fill_value", value));
  CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, filled_path, NULL, &file));
  CHECK_OK(stria_create_dataset(file, "x", element, rank_of_it, dims, options, &dataset));
  CHECK_OK(stria_commit(file));
  stria_close(&file);
  stria_options_free(options);
  CHECK_OK(stria_open_mpi(MPI_COMM_WORLD, filled_path, NULL, &file));
  CHECK_OK(stria_find_dataset(file, "x", &dataset));
  CHECK_OK(stria_read(dataset, start, dims, found, NULL, element));
  CHECK(memcmp(found, expected, bytes) == 0);
  stria_close(&file);
}

static void fill_what_has_parts(void) {
  const double wave[] = {1.5, -2}, real[] = {7, 0};
  const uint16_t half = 0x3e00;
  const int64_t dims[] = {1};
  stria_options* options;
  stria_file* file;
  stria_dataset* dataset;
  fill("complex", "1.5,-2", STRIA_FLOAT64, 2, wave, sizeof wave);
  fill("complex", "7", STRIA_FLOAT64, 2, real, sizeof real);
  fill("half", "15872", STRIA_UINT16, 1, &half, sizeof half);
  CHECK_OK(stria_options_new(&options));
  CHECK(stria_options_set(options, "fill_value", "1,x") == STRIA_INVALID_ARGUMENT);
  CHECK(stria_options_set(options, "fill_value", "1,2,3") == STRIA_INVALID_ARGUMENT);
  CHECK_OK(stria_options_set(options, "fill_value", "1.5"));
  CHECK_OK(stria_options_set(options, "meaning", "half"));
  CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, filled_path, NULL, &file));
  CHECK(stria_create_dataset(file, "x", STRIA_UINT16, 1, dims, options, &dataset) == STRIA_UNSUPPORTED);
  CHECK(strstr(stria_error_message(), "bits") != NULL);
  stria_close(&file);
  stria_options_free(options);
}

static void overwrite(void) {
  stria_file* file;
  stria_dataset* dataset;
  const int64_t start[] = {1, 0}, count[] = {1, 2};
  const double number[] = {7, 8};
  CHECK_OK(stria_append_mpi(MPI_COMM_WORLD, path, NULL, &file));
  CHECK_OK(stria_update(file, "wave", &dataset));
  if (rank == 0)
    CHECK_OK(stria_put(dataset, start, count, number, NULL, STRIA_FLOAT64));
  CHECK_OK(stria_commit(file));
  stria_close(&file);
}

static void read_file(void) {
  stria_file* file;
  stria_dataset* dataset;
  stria_list* paths;
  double waves[COUNT][2], phase[2], number;
  int64_t count;
  unsigned char switches[3];
  const int64_t dims[] = {COUNT, 2}, start[] = {0, 0};
  CHECK_OK(stria_open_mpi(MPI_COMM_WORLD, path, NULL, &file));
  CHECK_OK(stria_find_dataset(file, "g/latest", &dataset));
  CHECK_OK(stria_read(dataset, start, dims, waves, NULL, STRIA_FLOAT64));
  CHECK(waves[0][0] == 1 && waves[0][1] == -1 && waves[1][0] == 7 && waves[1][1] == 8 && waves[5][1] == 0);
  CHECK_OK(stria_get_numbers(file, "wave", "switches", STRIA_UINT8, 3, switches, &count));
  CHECK(count == 3 && switches[0] == 1 && switches[1] == 0 && switches[2] == 1);
  int32_t tensor[2][3];
  stria_list* types;
  CHECK_OK(stria_get_numbers(file, "/", "tensor", STRIA_INT32, 6, tensor, &count));
  CHECK(count == 6 && tensor[0][2] == 3 && tensor[1][0] == 4);
  CHECK_OK(stria_attribute_types(file, "/", &types));
  CHECK(strcmp(stria_list_at(types, stria_list_size(types) - 1), "int32 (2, 3)") == 0);
  stria_list_free(types);
  CHECK_OK(stria_get_complex(file, "wave", "phase", STRIA_FLOAT64, 1, phase, &count));
  CHECK(count == 1 && phase[0] == 0.5 && phase[1] == 2);
  CHECK(stria_get_complex(file, "wave", "switches", STRIA_FLOAT64, 1, phase, &count) == STRIA_INVALID_ARGUMENT);
  CHECK(stria_get_numbers(file, "wave", "phase", STRIA_FLOAT64, 1, &number, &count) == STRIA_INVALID_ARGUMENT);
  CHECK_OK(stria_get_references(file, "/", "shown", &paths));
  CHECK(stria_list_size(paths) == 2 && strcmp(stria_list_at(paths, 0), "/wave") == 0);
  CHECK(strcmp(stria_list_at(paths, 1), "/wave") == 0);
  stria_list_free(paths);
  CHECK_OK(stria_find_dataset(file, "paths", &dataset));
  CHECK(stria_dataset_rank(dataset) == 2 && strcmp(stria_dataset_type_name(dataset), "string[5]") == 0);
  CHECK_OK(stria_read_strings(file, "paths", &paths));
  CHECK(stria_list_size(paths) == 2 && strcmp(stria_list_at(paths, 1), "/wave") == 0);
  stria_list_free(paths);
  stria_close(&file);
}

// Moves two records of each rank, without the member between the columns.
static void move_records(void) {
  struct {
    double mass;
    double unused;
    int32_t id;
  } own[2] = {{0.5 + rank, -1, 10 * rank}, {1.5 + rank, -1, 10 * rank + 1}}, read[2] = {{0, -2, 0}, {0, -2, 0}};
  const stria_column columns[] = {{"id", 16, 0, STRIA_INT32}, {"mass", 0, 0, STRIA_FLOAT64}};
  const stria_records described = {columns, 2, sizeof *own, 2, NULL};
  const int64_t dims[] = {2 * (int64_t)ranks}, start[] = {2 * (int64_t)rank}, count[] = {2};
  stria_file* file;
  stria_dataset* dataset;
  stria_type* type;
  CHECK_OK(stria_type_records(&described, &type));
  CHECK(stria_type_size(type) == 24 && stria_type_extent(type) == 2 * sizeof *own);
  CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, records_path, NULL, &file));
  CHECK_OK(stria_create_records(file, "run/particles", &described, 1, dims, NULL, &dataset));
  CHECK(strcmp(stria_dataset_type_name(dataset), "record[12]") == 0);
  CHECK_OK(stria_put(dataset, start, count, own, type, STRIA_BYTE));
  CHECK_OK(stria_commit(file));
  stria_close(&file);

  stria_table* table;
  CHECK_OK(stria_open_mpi(MPI_COMM_WORLD, records_path, NULL, &file));
  CHECK_OK(stria_read_columns(file, "run/particles", &table));
  const stria_records* found = stria_table_records(table);
  CHECK(found->column_count == 2 && found->row_bytes == 12 && found->row_count == 0);
  CHECK(strcmp(found->columns[1].name, "mass") == 0 && found->columns[1].offset_bytes == 4);
  stria_table_free(table);
  CHECK(stria_read_columns(file, "nothing", &table) == STRIA_NOT_FOUND);
  CHECK_OK(stria_find_dataset(file, "run/particles", &dataset));
  const int64_t other[] = {2 * (int64_t)(ranks - 1 - rank)};
  CHECK_OK(stria_read(dataset, other, count, read, type, STRIA_BYTE));
  CHECK(read[1].id == 10 * (ranks - 1 - rank) + 1 && read[0].mass == 0.5 + ranks - 1 - rank && read[1].unused == -2);
  stria_type_free(type);
  // One column, of another type and without the rest.
  float masses[2] = {0, 0};
  const stria_column mass[] = {{"mass", 0, 0, STRIA_FLOAT32}}, nothing[] = {{"size", 0, 0, STRIA_FLOAT32}};
  CHECK_OK(stria_type_records(&(stria_records){mass, 1, sizeof *masses, 2, NULL}, &type));
  CHECK_OK(stria_read(dataset, other, count, masses, type, STRIA_BYTE));
  CHECK(masses[0] == 0.5f + (float)(ranks - 1 - rank) && masses[1] == masses[0] + 1);
  stria_type_free(type);
  CHECK_OK(stria_type_records(&(stria_records){nothing, 1, sizeof *masses, 2, NULL}, &type));
  CHECK(stria_get(dataset, other, count, masses, type, STRIA_BYTE) == STRIA_INVALID_ARGUMENT);
  CHECK(strstr(stria_error_message(), "no column 'size'") != NULL);
  stria_type_free(type);
  stria_close(&file);
  const stria_column outside[] = {{"id", 8, 0, STRIA_FLOAT64}};
  CHECK(stria_type_records(&(stria_records){outside, 1, 12, 1, NULL}, &type) == STRIA_INVALID_ARGUMENT);
}

// Names among others have a backslash before a comma, and before a backslash.
static void name_with_commas(void) {
  stria_file* file;
  stria_options* options;
  stria_dataset* dataset;
  stria_list* members;
  const int64_t dims[] = {2, 3};
  CHECK_OK(stria_options_new(&options));
  CHECK_OK(stria_options_set(options, "dimensions", "a\\,b,c\\\\"));
  CHECK_OK(stria_options_set(options, "enumeration", "red\\, light=1,blue=2"));
  CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, filled_path, NULL, &file));
  CHECK_OK(stria_create_dataset(file, "x", STRIA_INT32, 2, dims, options, &dataset));
  stria_options_free(options);
  CHECK_OK(stria_commit(file));
  stria_close(&file);
  CHECK_OK(stria_open_mpi(MPI_COMM_WORLD, filled_path, NULL, &file));
  CHECK_OK(stria_find_dataset(file, "x", &dataset));
  CHECK(strcmp(stria_dataset_dimension(dataset, 0), "a,b") == 0 && strcmp(stria_dataset_dimension(dataset, 1), "c\\") == 0);
  CHECK_OK(stria_dataset_enumeration(dataset, &members));
  CHECK(stria_list_size(members) == 2 && strcmp(stria_list_at(members, 0), "red, light=1") == 0);
  stria_list_free(members);
  stria_close(&file);
}

// Each rank puts a string of its own, with blanks or NULs at its end.
static void put_strings(const char* blank_padded, const char* expected) {
  stria_file* file;
  stria_options* options;
  stria_dataset* dataset;
  stria_type* type;
  char own[8] = "", found[8] = "";
  const int64_t dims[] = {ranks}, start[] = {rank}, next[] = {(rank + 1) % ranks}, one[] = {1};
  CHECK_OK(stria_options_new(&options));
  CHECK_OK(stria_options_set(options, "blank_padded", blank_padded));
  CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, filled_path, NULL, &file));
  CHECK_OK(stria_create_string_dataset(file, "names", sizeof own, 1, dims, options, &dataset));
  CHECK(strcmp(stria_dataset_type_name(dataset), "string[8]") == 0);
  snprintf(own, sizeof own, "r%c", (char)('a' + rank % 26));
  memset(own + strlen(own), expected[0], sizeof own - strlen(own));
  CHECK_OK(stria_type_bytes(sizeof own, &type));
  CHECK_OK(stria_put(dataset, start, one, own, type, STRIA_BYTE));
  CHECK_OK(stria_commit(file));
  stria_close(&file);
  stria_options_free(options);
  CHECK_OK(stria_open_mpi(MPI_COMM_WORLD, filled_path, NULL, &file));
  CHECK_OK(stria_find_dataset(file, "names", &dataset));
  CHECK_OK(stria_read(dataset, next, one, found, type, STRIA_BYTE));
  snprintf(own, sizeof own, "r%c", (char)('a' + (rank + 1) % ranks % 26));
  memset(own + strlen(own), expected[0], sizeof own - strlen(own));
  CHECK(memcmp(own, found, sizeof own) == 0);
  stria_type_free(type);
  stria_close(&file);
  CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, filled_path, NULL, &file));
  CHECK(stria_create_string_dataset(file, "names", 0, 1, dims, NULL, &dataset) == STRIA_INVALID_ARGUMENT);
  stria_discard(file);
  stria_close(&file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  write_file();
  overwrite();
  read_file();
  move_records();
  name_with_commas();
  fill_what_has_parts();
  put_strings("false", "");
  put_strings("true", " ");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    CHECK(remove(path) == 0 && remove(records_path) == 0 && remove(filled_path) == 0);
  MPI_Finalize();
  return 0;
}
