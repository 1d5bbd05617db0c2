// A probe's time series in a file that grows: each step's commit adds a row that others can read at
// once, and a second run goes on where the first one ended, or was killed.
//   mpiexec -n 4 ./probe_cpp probe.h5
#include <mpi.h>

#include <filesystem>
#include <stria/file.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string path = argc > 1 ? argv[1] : "probe.h5";
  const int64_t steps = 5, cells = 100;  // the cells are those of one rank
  int exists = std::filesystem::exists(path) ? 1 : 0;
  MPI_Bcast(&exists, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (exists == 0) {
    stria::File file = stria::File::create(MPI_COMM_WORLD, path);
    file.create_dataset<float>("temperature", {stria::kUnlimited, ranks * cells});
    file.commit();
  }
  for (int64_t step = 0; step < steps; ++step) {
    stria::File file = stria::File::append(MPI_COMM_WORLD, path);
    stria::Dataset series = file.append_rows("temperature", 1);
    const int64_t row = series.dims()[0] - 1;
    const std::vector<double> temperature(cells, 300 + 0.5 * static_cast<double>(row) + rank);
    series.put({{row, rank * cells}, {1, cells}}, temperature);
    file.set_attribute("temperature", "rows", row + 1);
    file.commit();  // from now on every reader that opens the file sees the row
  }
  MPI_Finalize();
  return 0;
}
