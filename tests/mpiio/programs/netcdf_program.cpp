// A parallel netCDF-4 program: collective and independent variables, an unlimited dimension,
// compression, read back and compared. usage: netcdf_program write|read FILE

#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr size_t kRows = 40;
constexpr size_t kColumns = 240;

void need(int code, const char* what) {
  if (code != NC_NOERR) {
    std::fprintf(stderr, "netcdf_program: %s: %s\n", what, nc_strerror(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

const char* const kNames[] = {"collective", "independent", "compressed", "records"};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  need(argc == 3 ? NC_NOERR : NC_EINVAL, "usage: netcdf_program write|read FILE");
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool write = std::strcmp(argv[1], "write") == 0;
  int file = 0;
  if (write) {
    need(nc_create_par(argv[2], NC_NETCDF4 | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &file), "nc_create_par");
    int dims[2];
    int record_dims[2];
    need(nc_def_dim(file, "row", kRows, &dims[0]), "nc_def_dim");
    need(nc_def_dim(file, "column", kColumns, &dims[1]), "nc_def_dim");
    need(nc_def_dim(file, "time", NC_UNLIMITED, &record_dims[0]), "nc_def_dim");
    record_dims[1] = dims[1];
    for (const char* name : kNames) {
      int variable = 0;
      const bool records = std::strcmp(name, "records") == 0;
      need(nc_def_var(file, name, NC_DOUBLE, 2, records ? record_dims : dims, &variable), "nc_def_var");
      if (std::strcmp(name, "compressed") == 0) {
        need(nc_def_var_deflate(file, variable, 1, 1, 3), "nc_def_var_deflate");
      }
    }
    need(nc_enddef(file), "nc_enddef");
  } else {
    need(nc_open_par(argv[2], NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &file), "nc_open_par");
  }
  // Columns by blocks; every row.
  const size_t begin = kColumns * static_cast<size_t>(rank) / static_cast<size_t>(ranks);
  const size_t end = kColumns * static_cast<size_t>(rank + 1) / static_cast<size_t>(ranks);
  const size_t start[2] = {0, begin};
  const size_t count[2] = {kRows, end - begin};
  for (const char* name : kNames) {
    int variable = 0;
    need(nc_inq_varid(file, name, &variable), "nc_inq_varid");
    const bool alone = std::strcmp(name, "independent") == 0;
    need(nc_var_par_access(file, variable, alone ? NC_INDEPENDENT : NC_COLLECTIVE), "nc_var_par_access");
    std::vector<double> wanted(kRows * (end - begin));
    for (size_t i = 0; i < wanted.size(); ++i) {
      wanted[i] = static_cast<double>(i / (end - begin)) * 1000.0 + static_cast<double>(begin + i % (end - begin));
    }
    if (write) {
      need(nc_put_vara_double(file, variable, start, count, wanted.data()), "nc_put_vara");
    } else {
      std::vector<double> values(wanted.size(), -1.0);
      need(nc_get_vara_double(file, variable, start, count, values.data()), "nc_get_vara");
      need(values == wanted ? NC_NOERR : NC_ERANGE, "comparing what was read");
    }
  }
  need(nc_close(file), "nc_close");
  MPI_Finalize();
  return 0;
}
