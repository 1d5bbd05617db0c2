// A table of numbers is written with what they mean, and read back, without MPI.
//   ./one_process_c table.h5
#include <stdio.h>
#include <stdlib.h>
#include <stria.h>

static void check(int code) {
  if (code != STRIA_OK) {
    fprintf(stderr, "one_process: %s\n", stria_error_message());
    exit(1);
  }
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "table.h5";
  float waves[3][4] = {{0, 1, 0, -1}, {0, 2, 0, -2}, {0, 3, 0, -3}};
  double periods[] = {0.5, 1, 2}, numbers[3][4];
  const int64_t dims[] = {3, 4}, start[] = {0, 0};
  stria_file* file;
  stria_dataset* dataset;
  check(stria_create(path, NULL, &file));
  check(stria_create_dataset(file, "waves", STRIA_FLOAT32, 2, dims, NULL, &dataset));
  check(stria_put(dataset, start, dims, waves, NULL, STRIA_FLOAT32));
  check(stria_set_string(file, "waves", "unit", "m"));
  check(stria_set_numbers(file, "waves", "periods", STRIA_FLOAT64, 3, periods));
  check(stria_commit(file));  // only now does the file have its name
  stria_close(&file);

  stria_list* unit;
  check(stria_open(path, NULL, &file));
  check(stria_get_strings(file, "waves", "unit", &unit));
  check(stria_get_numbers(file, "waves", "periods", STRIA_FLOAT64, 3, periods, NULL));
  check(stria_find_dataset(file, "waves", &dataset));
  check(stria_read(dataset, start, dims, numbers, NULL, STRIA_FLOAT64));
  for (int i = 0; i < 3; ++i)
    printf("period %g s: height %g %s\n", periods[i], numbers[i][1], stria_list_at(unit, 0));
  stria_list_free(unit);
  stria_close(&file);
  return 0;
}
