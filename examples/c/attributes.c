// Attributes: what the numbers of a file mean. Numbers, strings, booleans, complex numbers,
// references and lists are set on the file and on a dataset, then listed and read back.
//   mpiexec -n 4 ./attributes_c attributes.h5
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
// The calls with a communicator need mpi.h before this.
#include <stria.h>

// Collective calls fail on all ranks alike; rank 0 tells why.
static void check(int code, int rank) {
  if (code != STRIA_OK) {
    if (rank == 0) {
      fprintf(stderr, "attributes: %s\n", stria_error_message());
    }
    MPI_Finalize();
    exit(1);
  }
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "attributes.h5";
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const float values[] = {300.F + (float)rank, 300.F + (float)rank, 300.F + (float)rank, 300.F + (float)rank};
  const int64_t dims[] = {4 * ranks}, start[] = {4 * rank}, count[] = {4}, cells[] = {4, 1};
  const double seconds[] = {0, 0.25, 0.5}, one_mode[] = {1, -2}, modes[] = {1, 0, 0, 0.5};  // pairs
  stria_file* file;
  stria_dataset* air;
  check(stria_create_mpi(MPI_COMM_WORLD, path, NULL, &file), rank);
  check(stria_create_dataset(file, "air", STRIA_FLOAT32, 1, dims, NULL, &air), rank);
  stria_put(air, start, count, values, NULL, STRIA_FLOAT32);
  // All ranks set the same. "/" is the file itself. An error fails the commit of all.
  stria_set_string(file, "/", "title", "a room");
  stria_set_references(file, "/", "shown", 1, (const char*[]){"air"});
  stria_set_string(file, "air", "unit", "K");
  stria_set_strings(file, "air", "axes", 2, (const char*[]){"x", "height"});
  stria_set_number(file, "air", "step", STRIA_INT32, &(int32_t){7});
  stria_set_numbers(file, "air", "cells", STRIA_INT64, 2, cells);
  stria_set_number(file, "air", "error", STRIA_FLOAT32, &(float){0.5F});
  stria_set_numbers(file, "air", "times", STRIA_FLOAT64, 3, seconds);
  stria_set_booleans(file, "air", "closed", -1, (const unsigned char[]){1});  // -1: one, no list
  stria_set_booleans(file, "air", "walls", 2, (const unsigned char[]){1, 0});
  stria_set_complex(file, "air", "mode", STRIA_FLOAT64, -1, one_mode);
  stria_set_complex(file, "air", "modes", STRIA_FLOAT64, 2, modes);
  check(stria_commit(file), rank);
  stria_close(&file);

  stria_list *names, *types, *unit, *shown;
  int step;
  unsigned char closed;
  double times[3], mode[2];
  check(stria_open_mpi(MPI_COMM_WORLD, path, NULL, &file), rank);
  check(stria_attributes(file, "air", &names), rank);
  check(stria_attribute_types(file, "air", &types), rank);
  check(stria_get_strings(file, "air", "unit", &unit), rank);
  check(stria_get_references(file, "/", "shown", &shown), rank);
  check(stria_get_numbers(file, "air", "step", STRIA_INT32, 1, &step, NULL), rank);
  check(stria_get_numbers(file, "air", "times", STRIA_FLOAT64, 3, times, NULL), rank);
  check(stria_get_numbers(file, "air", "closed", STRIA_UINT8, 1, &closed, NULL), rank);
  check(stria_get_complex(file, "air", "mode", STRIA_FLOAT64, 1, mode, NULL), rank);
  for (int64_t i = 0; rank == 0 && i < stria_list_size(names); ++i)
    printf("%s: %s\n", stria_list_at(names, i), stria_list_at(types, i));
  if (rank == 0)
    printf("%s in %s, step %d, time %g, %s, mode %g%+gi\n", stria_list_at(shown, 0), stria_list_at(unit, 0), step, times[2],
           closed ? "closed" : "open", mode[0], mode[1]);
  stria_list_free(names);
  stria_list_free(types);
  stria_list_free(unit);
  stria_list_free(shown);
  stria_close(&file);
  MPI_Finalize();
  return 0;
}
