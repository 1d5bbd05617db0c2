// put.cpp in C.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stria.h"

enum { GUARD = 4, VARIABLES = 24 };

static void check(int code) {
  if (code != STRIA_OK) {
    fprintf(stderr, "%s\n", stria_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static stria_type* interior(int64_t blocks, int64_t n) {
  const int64_t wide = n + 2 * GUARD;
  const int64_t sizes[] = {blocks, wide, wide, wide, VARIABLES}, cells[] = {blocks, n, n, n, 1};
  const int64_t starts[] = {0, GUARD, GUARD, GUARD, 0};
  stria_type *number, *type;
  check(stria_type_bytes(8, &number));
  check(stria_type_subarray(5, sizes, cells, starts, STRIA_ORDER_C, number, &type));
  stria_type_free(number);
  return type;
}

static stria_file* create(const char* path) {
  stria_options* options;
  stria_file* file;
  check(stria_options_new(&options));
  check(stria_options_set(options, "sync", "false"));
  check(stria_create_mpi(MPI_COMM_WORLD, path, options, &file));
  stria_options_free(options);
  return file;
}

static double calls(int64_t count, const char* path) {
  const int64_t n = 8, dims[] = {count, n, n, n}, block[] = {1, n, n, n};
  stria_type* cells = interior(1, n);
  double* unk = calloc((size_t)((n + 2 * GUARD) * (n + 2 * GUARD) * (n + 2 * GUARD) * VARIABLES), sizeof *unk);
  stria_file* file = create(path);
  stria_dataset* dataset;
  check(stria_create_dataset(file, "dens", STRIA_FLOAT64, 4, dims, NULL, &dataset));
  const double begin = MPI_Wtime();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t start[] = {i, 0, 0, 0};
    check(stria_put(dataset, start, block, unk, cells, STRIA_FLOAT64));
  }
  const double seconds = MPI_Wtime() - begin;
  check(stria_discard(file));
  stria_close(&file);
  stria_type_free(cells);
  free(unk);
  return seconds;
}

static double checkpoint(int64_t blocks, const double* unk, const char* path) {
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int64_t n = 16, dims[] = {ranks * blocks, n, n, n}, start[] = {rank * blocks, 0, 0, 0}, count[] = {blocks, n, n, n};
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  stria_type* cells = interior(blocks, n);
  stria_file* file = create(path);
  for (int v = 0; v < VARIABLES; ++v) {
    char name[8];
    stria_dataset* dataset;
    snprintf(name, sizeof name, "v%d", v + 1);
    check(stria_create_dataset(file, name, STRIA_FLOAT64, 4, dims, NULL, &dataset));
    check(stria_put(dataset, start, count, unk + v, cells, STRIA_FLOAT64));
  }
  check(stria_commit(file));
  const double seconds = MPI_Wtime() - begin;
  stria_close(&file);
  stria_type_free(cells);
  return seconds;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 5) {
    fprintf(stderr, "usage: %s calls|checkpoint ROUNDS COUNT|BLOCKS PATH\n", argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int whole = strcmp(argv[1], "checkpoint") == 0;
  const int64_t rounds = atoll(argv[2]), count = atoll(argv[3]);
  const int64_t size = whole ? count * 24 * 24 * 24 * VARIABLES : 0;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double* unk = malloc((size_t)size * sizeof *unk + 1);
  for (int64_t i = 0; i < size; ++i) {
    unk[i] = (double)(i % 1000) + rank;
  }
  for (int64_t round = 0; round < rounds; ++round) {
    const double seconds = whole ? checkpoint(count, unk, argv[4]) : calls(count, argv[4]);
    if (rank == 0) {
      printf("%.9f\n", seconds);
    }
  }
  free(unk);
  MPI_Finalize();
  return 0;
}
