// Without MPI: a table of numbers, with what they mean.
//   ./one_process_c table.h5
#include <stdio.h>
#include <stria.h>

int main(int argc, char** argv) {
  float waves[3][4] = {{0, 1, 0, -1}, {0, 2, 0, -2}, {0, 3, 0, -3}};
  const int64_t dims[] = {3, 4}, start[] = {0, 0};
  stria_file* file;
  stria_dataset* dataset;
  if (stria_create(argc > 1 ? argv[1] : "table.h5", NULL, &file) != STRIA_OK ||
      stria_create_dataset(file, "waves", STRIA_FLOAT32, 2, dims, NULL, &dataset) != STRIA_OK ||
      stria_put(dataset, start, dims, waves, NULL, STRIA_FLOAT32) != STRIA_OK ||
      stria_set_string(file, "waves", "unit", "m") != STRIA_OK || stria_commit(file) != STRIA_OK) {
    fprintf(stderr, "one_process: %s\n", stria_error_message());
    return 1;
  }
  stria_close(&file);
  return 0;
}
