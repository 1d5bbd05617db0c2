// Writes records with PnetCDF, which know nothing of Stria. Usage: pnetcdf_records PATH 1|2|5
#include <mpi.h>
#include <pnetcdf.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr MPI_Offset kRecords = 4;
constexpr MPI_Offset kLength = 3;

void need(int code) {
  if (code != NC_NOERR) {
    std::fprintf(stderr, "pnetcdf_records: %s\n", ncmpi_strerror(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) {
    return 2;
  }
  const int version = std::atoi(argv[2]);
  const int mode = version == 5 ? NC_64BIT_DATA : version == 2 ? NC_64BIT_OFFSET : 0;
  int file = 0, time = 0, x = 0, fixed = 0, bytes = 0, shorts = 0, floats = 0;
  need(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER | mode, MPI_INFO_NULL, &file));
  need(ncmpi_def_dim(file, "time", NC_UNLIMITED, &time));
  need(ncmpi_def_dim(file, "x", kLength, &x));
  const int both[] = {time, x};
  need(ncmpi_def_var(file, "bytes", NC_BYTE, 2, both, &bytes));
  need(ncmpi_def_var(file, "fixed", NC_DOUBLE, 1, &x, &fixed));
  need(ncmpi_def_var(file, "shorts", NC_SHORT, 1, &time, &shorts));
  need(ncmpi_def_var(file, "floats", NC_FLOAT, 2, both, &floats));
  need(ncmpi_put_att_text(file, fixed, "units", 2, "cm"));
  need(ncmpi_enddef(file));
  const MPI_Offset start[] = {0, 0}, count[] = {kRecords, kLength};
  std::vector<int> numbers(kRecords * kLength);
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<int>(i);
  }
  need(ncmpi_put_vara_int_all(file, fixed, start, &kLength, numbers.data()));
  need(ncmpi_put_vara_int_all(file, bytes, start, count, numbers.data()));
  need(ncmpi_put_vara_int_all(file, shorts, start, count, numbers.data()));
  need(ncmpi_put_vara_int_all(file, floats, start, count, numbers.data()));
  need(ncmpi_close(file));
  MPI_Finalize();
  return 0;
}
