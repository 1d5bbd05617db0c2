// A distributed array: a global grid of two dimensions, of which each rank has a box with a layer
// of ghost cells around it. The file has the grid whole, whatever the number of ranks; then it is
// read by other boxes.
//   mpiexec -n 4 ./distributed_array_cpp grid.h5
#include <mpi.h>

#include <cstdio>
#include <stria/distributed_array.hpp>
#include <stria/file.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1, wrong = 0, wrong_anywhere = 0, across[2] = {0, 0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, across);
  const std::string path = argc > 1 ? argv[1] : "grid.h5";
  const int64_t ny = 60, nx = 42, row = rank / across[1], column = rank % across[1];
  const int64_t y = ny * row / across[0], height = ny * (row + 1) / across[0] - y;
  const int64_t x = nx * column / across[1], width = nx * (column + 1) / across[1] - x;
  std::vector<double> density(static_cast<size_t>((height + 2) * (width + 2)), -1);
  for (int64_t j = 0; j < height; ++j) {
    for (int64_t i = 0; i < width; ++i) {
      density[static_cast<size_t>((j + 1) * (width + 2) + i + 1)] = static_cast<double>(1000 * (y + j) + x + i);
    }
  }
  {
    stria::File file = stria::File::create(MPI_COMM_WORLD, path);
    const stria::ArrayPart box{
        .shape = {ny, nx}, .start = {y, x}, .count = {height, width}, .ghosts_before = {1, 1}, .ghosts_after = {1, 1}};
    file.put("density", {density.data(), box});
    file.commit();
  }
  {
    stria::File file = stria::File::open(MPI_COMM_WORLD, path);
    const stria::Rows mine = file.share_rows(ny);
    std::vector<double> rows(static_cast<size_t>(mine.count * nx));
    file.get("density", {rows.data(), {.shape = {ny, nx}, .start = {mine.first, 0}, .count = {mine.count, nx}}});
    file.commit();  // reads
    for (int64_t i = 0; i < mine.count * nx; ++i) {
      wrong += rows[static_cast<size_t>(i)] == static_cast<double>(1000 * (mine.first + i / nx) + i % nx) ? 0 : 1;
    }
    MPI_Reduce(&wrong, &wrong_anywhere, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      std::printf("boxes of %d x %d ranks, read by rows: %s\n", across[0], across[1],
                  wrong_anywhere == 0 ? "as written" : "different");
    }
  }
  MPI_Finalize();
  return wrong_anywhere == 0 ? 0 : 1;
}
