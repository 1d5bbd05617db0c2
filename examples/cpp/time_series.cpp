// A time series: each step adds a row, from memory that the next step uses again.
//   mpiexec -n 4 ./time_series_cpp series.h5
#include <mpi.h>

#include <stria/file.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int64_t steps = 5, cells = 100;  // the cells are those of one rank
  std::vector<double> temperature(cells), times;
  {
    stria::File file = stria::File::create(MPI_COMM_WORLD, argc > 1 ? argv[1] : "series.h5");
    stria::Dataset series = file.create_dataset<float>("temperature", {steps, ranks * cells});
    for (int64_t step = 0; step < steps; ++step) {
      times.push_back(0.5 * static_cast<double>(step));
      temperature.assign(cells, 300 + times.back() + rank);
      series.put({{step, rank * cells}, {1, cells}}, temperature);
      file.flush();  // moves the row: the memory is free again
    }
    file.set_attribute("temperature", "times", times);
    file.commit();
  }
  MPI_Finalize();
  return 0;
}
