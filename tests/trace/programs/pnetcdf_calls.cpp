// PnetCDF, each call a known number of times. usage: pnetcdf_calls FILE
#include <mpi.h>
#include <pnetcdf.h>

#include <array>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int file = 0;
  if (argc != 2 || ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER, MPI_INFO_NULL, &file) != NC_NOERR) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  std::array<int, 2> dimensions{};
  std::array<int, 2> variables{};
  ncmpi_def_dim(file, "rows", ranks, &dimensions[0]);
  ncmpi_def_dim(file, "columns", 1000, &dimensions[1]);
  ncmpi_def_var(file, "doubles", NC_DOUBLE, 2, dimensions.data(), &variables[0]);
  ncmpi_def_var(file, "ints", NC_INT, 2, dimensions.data(), &variables[1]);
  ncmpi_enddef(file);
  const std::array<MPI_Offset, 2> start{rank, 0};
  const std::array<MPI_Offset, 2> count{1, 1000};
  std::vector<double> doubles(1000, rank);
  std::vector<int> ints(1000, rank);
  for (int i = 0; i < 2; ++i) {
    ncmpi_put_vara_double_all(file, variables[0], start.data(), count.data(), doubles.data());
  }
  std::array<int, 3> requests{};
  std::array<int, 3> statuses{};
  for (int& request : requests) {
    ncmpi_iput_vara_int(file, variables[1], start.data(), count.data(), ints.data(), &request);
  }
  ncmpi_wait_all(file, 3, requests.data(), statuses.data());
  ncmpi_put_vara_all(file, variables[0], start.data(), count.data(), doubles.data(), 1000, MPI_DOUBLE);
  ncmpi_get_vara_double_all(file, variables[0], start.data(), count.data(), doubles.data());
  ncmpi_begin_indep_data(file);
  ncmpi_put_var1_double(file, variables[0], start.data(), doubles.data());
  ncmpi_end_indep_data(file);
  ncmpi_close(file);
  MPI_Finalize();
  return doubles[999] == rank ? 0 : 1;
}
