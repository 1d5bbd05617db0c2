// Reads a checkpoint on any number of ranks: each takes its share of the blocks.
//   mpiexec -n 3 ./restart_cpp checkpoint.h5
#include <mpi.h>

#include <cstdio>
#include <stria/file.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, wrong = 0, wrong_anywhere = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  {
    // The data are compared with their checksums on the way.
    stria::File file = stria::File::open(MPI_COMM_WORLD, argc > 1 ? argv[1] : "checkpoint.h5", {.verify = true});
    stria::Dataset dens = file.dataset("dens");
    const std::vector<int64_t> dims = dens.dims();
    const stria::Rows mine = file.share_rows(dims[0]);
    const int64_t cells = dims[1] * dims[2] * dims[3];
    std::vector<double> blocks(static_cast<size_t>(mine.count * cells));
    dens.get_rows(mine, blocks);
    file.commit();  // reads everything that was asked for, at once
    for (int64_t b = 0; b < mine.count; ++b) {
      wrong += blocks[static_cast<size_t>(b * cells)] == static_cast<double>(mine.first + b) ? 0 : 1;
    }
    const double time = file.attribute("/", "time");
    MPI_Reduce(&wrong, &wrong_anywhere, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      std::printf("%lld blocks of time %g, %s\n", static_cast<long long>(dims[0]), time,
                  wrong_anywhere == 0 ? "as written" : "different");
    }
  }
  MPI_Finalize();
  return wrong_anywhere == 0 ? 0 : 1;
}
