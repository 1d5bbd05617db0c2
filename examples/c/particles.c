// Particles: each rank has another number of them, in an array of structs; the file has one dataset
// a member, the particles of rank 0 first.
//   mpiexec -n 4 ./particles_c particles.h5
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
// The calls with a communicator need mpi.h before this.
#include <stria.h>

struct particle {
  double x, y;
  float mass;
  int64_t id;
};

// Collective calls fail on all ranks alike; rank 0 tells why.
static void check(int code, int rank) {
  if (code != STRIA_OK) {
    if (rank == 0) {
      fprintf(stderr, "particles: %s\n", stria_error_message());
    }
    MPI_Finalize();
    exit(1);
  }
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int64_t mine = 1000 + 10 * rank;
  struct particle* particles = malloc((size_t)mine * sizeof *particles);
  for (int64_t i = 0; i < mine; ++i)
    particles[i] = (struct particle){0.5 * (double)i, -1.0 * rank, 2, 100000 * rank + i};

  const struct member {
    const char* name;
    const void* first;
    int element;
  } members[] = {{"x", &particles->x, STRIA_FLOAT64},
                 {"y", &particles->y, STRIA_FLOAT64},
                 {"mass", &particles->mass, STRIA_FLOAT32},
                 {"id", &particles->id, STRIA_INT64}};
  stria_file* file;
  stria_rows rows;
  check(stria_create_mpi(MPI_COMM_WORLD, argc > 1 ? argv[1] : "particles.h5", NULL, &file), rank);
  check(stria_place_rows(file, mine, &rows), rank);  // where this rank's go, and how many all have
  for (int m = 0; m < 4; ++m) {
    stria_dataset* dataset;
    stria_type *number, *each;
    check(stria_create_dataset(file, members[m].name, members[m].element, 1, &rows.total, NULL, &dataset), rank);
    check(stria_type_of(members[m].element, &number), rank);
    check(stria_type_hvector(mine, 1, sizeof *particles, number, &each), rank);
    // An error of one rank fails the commit of all.
    stria_put_rows(dataset, &rows, members[m].first, each, members[m].element);
    stria_type_free(each);
    stria_type_free(number);
  }
  check(stria_set_number(file, "/", "time", STRIA_FLOAT64, &(double){0.25}), rank);
  check(stria_commit(file), rank);
  stria_close(&file);
  if (rank == 0)
    printf("%lld particles\n", (long long)rows.total);
  free(particles);
  MPI_Finalize();
  return 0;
}
