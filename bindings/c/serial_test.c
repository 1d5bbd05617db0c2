// stria.h without mpi.h, and the library without MPI.
#include <string.h>

#include "check.h"

int main(void) {
  const char* path = "c_serial_test.h5";
  stria_file* file;
  stria_dataset* dataset;
  const int64_t dims[] = {3, 4}, start[] = {0, 0};
  float written[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
  int32_t read[3][4] = {{0}};
  CHECK_OK(stria_create(path, NULL, &file));
  CHECK_OK(stria_create_dataset(file, "g/x", STRIA_FLOAT64, 2, dims, NULL, &dataset));
  CHECK_OK(stria_put(dataset, start, dims, written, NULL, STRIA_FLOAT32));
  CHECK_OK(stria_commit(file));
  stria_close(&file);
  CHECK_OK(stria_open(path, NULL, &file));
  CHECK_OK(stria_find_dataset(file, "g/x", &dataset));
  CHECK_OK(stria_get(dataset, start, dims, read, NULL, STRIA_INT32));
  CHECK_OK(stria_commit(file));
  stria_close(&file);
  CHECK(read[2][3] == 12 && read[0][1] == 2);
  CHECK(stria_create_f(0, path, NULL, &file) == STRIA_UNSUPPORTED && strstr(stria_error_message(), "without MPI") != NULL);
  CHECK(stria_trace_start_f(0, STRIA_TRACE_FULL, ".") == STRIA_UNSUPPORTED && stria_trace_finish(NULL) == STRIA_UNSUPPORTED);
  CHECK_OK(stria_trace_begin("alone"));
  CHECK_OK(stria_trace_end());
  remove(path);
  return 0;
}
