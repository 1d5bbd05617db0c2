// Blocks of an adaptive mesh: each rank has another number of them, of two sizes, with ghost cells
// around each. The file has a row a block, without ghost cells, and says where each block lies.
//   mpiexec -n 4 ./amr_blocks_cpp blocks.h5
#include <mpi.h>

#include <cstdio>
#include <stria/file.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // The domain is a row of unit squares, one a rank. Those of odd ranks are refined: four blocks.
  const int64_t n = 8, ghosts = 2, wide = n + 2 * ghosts;
  const int32_t level = 1 + rank % 2;
  const int64_t along = level == 1 ? 1 : 2, mine = along * along;
  const double width = 1.0 / static_cast<double>(along), cell = width / n;
  const std::vector<int32_t> levels(static_cast<size_t>(mine), level);
  std::vector<double> corners, dens(static_cast<size_t>(mine * wide * wide), -1);  // ghosts stay -1
  for (int64_t b = 0; b < mine; ++b) {
    const double x = rank + width * static_cast<double>(b % along), y = width * static_cast<double>(b / along);
    corners.insert(corners.end(), {x, y});
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = (b * wide + ghosts + j) * wide + ghosts + i;
        dens[static_cast<size_t>(at)] =
            x + (static_cast<double>(i) + 0.5) * cell + 10 * (y + (static_cast<double>(j) + 0.5) * cell);
      }
    }
  }
  {
    stria::File file = stria::File::create(MPI_COMM_WORLD, argc > 1 ? argv[1] : "blocks.h5");
    const stria::Rows rows = file.place_rows(mine);  // where this rank's go, and how many all have
    file.create_dataset<int32_t>("level", {rows.total}).put_rows(rows, levels);
    file.create_dataset<double>("corner", {rows.total, 2}).put_rows(rows, corners);
    file.create_dataset<double>("dens", {rows.total, n, n})
        .put_rows(rows, stria::Memory::interior(dens.data(), {mine, wide, wide}, {0, ghosts, ghosts}, {0, ghosts, ghosts}));
    file.set_attribute("/", "time", 0.25);
    file.commit();
    if (rank == 0) {
      std::printf("%lld blocks\n", static_cast<long long>(rows.total));
    }
  }
  MPI_Finalize();
  return 0;
}
