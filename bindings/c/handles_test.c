// Handles know when what they name has ended: copies of them, of every kind.
#include <mpi.h>
#include <string.h>

#include "check.h"

static int rank, ranks;
static const char* path = "c_handles_test.h5";

static void check_refused(int code, const char* words) {
  CHECK(code == STRIA_INVALID_ARGUMENT);
  CHECK(strstr(stria_error_message(), words) != NULL);
}

// Makes every kind of call on a file or dataset that was closed through another copy of the handle.
static void check_stale(stria_file* file, stria_dataset* dataset) {
  const int64_t start[] = {0}, count[] = {1};
  double number = 1;
  stria_dataset* other = NULL;
  stria_list* list = NULL;
  check_refused(stria_put(dataset, start, count, &number, NULL, STRIA_FLOAT64), "the file of this dataset was closed");
  check_refused(stria_get(dataset, start, count, &number, NULL, STRIA_FLOAT64), "closed");
  check_refused(stria_read(dataset, start, count, &number, NULL, STRIA_FLOAT64), "closed");
  check_refused(stria_refuse_transfer(dataset, "out of cells"), "closed");
  CHECK(stria_dataset_rank(dataset) == 0 && stria_dataset_element(dataset) == STRIA_BYTE);
  CHECK(strcmp(stria_dataset_path(dataset), "") == 0 && strcmp(stria_dataset_type_name(dataset), "") == 0);
  CHECK(strcmp(stria_dataset_dimension(dataset, 0), "") == 0 && !stria_dataset_can_grow(dataset));
  check_refused(stria_find_dataset(file, "x", &other), "this file was closed");
  check_refused(stria_create_dataset(file, "y", STRIA_INT8, 0, NULL, NULL, &other), "closed");
  check_refused(stria_set_string(file, "/", "a", "b"), "closed");
  check_refused(stria_datasets(file, &list), "closed");
  check_refused(stria_flush(file), "closed");
  check_refused(stria_commit(file), "closed");
  check_refused(stria_discard(file), "closed");
  CHECK(strcmp(stria_file_path(file), "") == 0 && strcmp(stria_file_format(file), "") == 0);
}

static void closed_files(void) {
  stria_file* file;
  stria_dataset* dataset;
  const int64_t dims[] = {ranks}, start[] = {rank}, count[] = {1};
  const double number = rank;
  CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, path, NULL, &file));
  stria_file* copy = file;
  CHECK_OK(stria_create_dataset(file, "x", STRIA_FLOAT64, 1, dims, NULL, &dataset));
  CHECK_OK(stria_put(dataset, start, count, &number, NULL, STRIA_FLOAT64));
  CHECK_OK(stria_commit(copy));
  stria_close(&file);
  CHECK(file == NULL);
  check_stale(copy, dataset);
  // Other files may take the place in memory of the one that was closed.
  stria_file* others[4];
  for (int i = 0; i < 4; ++i) {
    CHECK_OK(stria_open_mpi(MPI_COMM_WORLD, path, NULL, &others[i]));
    CHECK(others[i] != copy);
  }
  check_stale(copy, dataset);
  stria_file* again = copy;
  stria_close(&again);  // a second time
  CHECK(again == NULL);
  stria_give_up(&copy, "no more");
  for (int i = 0; i < 4; ++i) {
    stria_dataset* found;
    CHECK_OK(stria_find_dataset(others[i], "x", &found));
    CHECK(found != dataset && stria_dataset_rank(found) == 1);
    stria_close(&others[i]);
  }
}

static void freed_options(void) {
  stria_options* options;
  stria_file* file;
  stria_list* list;
  CHECK_OK(stria_options_new(&options));
  CHECK_OK(stria_options_set(options, "sync", "false"));
  stria_options_free(options);
  stria_options_free(options);
  check_refused(stria_options_set(options, "sync", "true"), "these options were freed");
  check_refused(stria_hint_problems(options, &list), "freed");
  check_refused(stria_create(path, options, &file), "freed");
  // One rank has no options: all hear of an error, and none waits.
  const int code = stria_open_mpi(MPI_COMM_WORLD, path, rank == ranks - 1 ? options : NULL, &file);
  CHECK(code != STRIA_OK && file == NULL);
  CHECK(rank != ranks - 1 || strstr(stria_error_message(), "freed") != NULL);
}

static void freed_maps_and_commits(void) {
  const int64_t places[] = {rank}, dims[] = {ranks};
  const double number = rank;
  stria_elements* map;
  stria_file* file;
  stria_dataset* dataset;
  stria_commit_handle* commit;
  CHECK_OK(stria_elements_new(1, places, &map));
  CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, path, NULL, &file));
  CHECK_OK(stria_create_dataset(file, "x", STRIA_FLOAT64, 1, dims, NULL, &dataset));
  CHECK_OK(stria_put_elements(dataset, map, &number, STRIA_FLOAT64));
  CHECK_OK(stria_commit_async(file, &commit));
  stria_commit_handle* copy = commit;
  CHECK_OK(stria_commit_wait(copy));
  stria_commit_free(&commit);
  check_refused(stria_commit_wait(copy), "this commit was freed");
  CHECK(stria_commit_done(copy) == 1);
  stria_commit_free(&copy);
  stria_close(&file);
  stria_elements_free(map);
  stria_elements_free(map);
  CHECK_OK(stria_create_mpi(MPI_COMM_WORLD, path, NULL, &file));
  CHECK_OK(stria_create_dataset(file, "x", STRIA_FLOAT64, 1, dims, NULL, &dataset));
  check_refused(stria_put_elements(dataset, map, &number, STRIA_FLOAT64), "this map of elements was freed");
  check_refused(stria_commit(file), "freed");
  stria_close(&file);
}

// What was never a handle is none: an address of something else.
static void no_handles(void) {
  int64_t something[8] = {0};
  check_refused(stria_commit((stria_file*)something), "closed");
  CHECK(stria_dataset_rank((stria_dataset*)something) == 0);
  stria_options_free((stria_options*)something);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  closed_files();
  freed_options();
  freed_maps_and_commits();
  no_handles();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    stria_remove_file(path);
  }
  MPI_Finalize();
  return 0;
}
