// A PnetCDF program: blocking, nonblocking, many sections at once, derived memory types, record
// variables; read back and compared. usage: pnetcdf_program write|read FILE

#include <mpi.h>
#include <pnetcdf.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr MPI_Offset kRows = 40;
constexpr MPI_Offset kColumns = 240;

void need(int code, const char* what) {
  if (code != NC_NOERR) {
    std::fprintf(stderr, "pnetcdf_program: %s: %s\n", what, ncmpi_strerror(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

const char* const kNames[] = {"blocking", "independent", "nonblocking_a", "nonblocking_b", "sections", "ghosts", "records"};

// A rank's block of columns, with its values in row-major order.
struct Block {
  std::array<MPI_Offset, 2> start;
  std::array<MPI_Offset, 2> count;
  std::vector<double> values;
};

Block block_of(int rank, int ranks) {
  Block block;
  const MPI_Offset begin = kColumns * rank / ranks;
  const MPI_Offset end = kColumns * (rank + 1) / ranks;
  block.start = {0, begin};
  block.count = {kRows, end - begin};
  for (MPI_Offset i = 0; i < kRows * (end - begin); ++i) {
    block.values.push_back(static_cast<double>(i / (end - begin) * 1000 + begin + i % (end - begin)));
  }
  return block;
}

void define(int file) {
  std::array<int, 2> dims{};
  std::array<int, 2> record_dims{};
  need(ncmpi_def_dim(file, "row", kRows, &dims[0]), "ncmpi_def_dim");
  need(ncmpi_def_dim(file, "column", kColumns, &dims[1]), "ncmpi_def_dim");
  need(ncmpi_def_dim(file, "time", NC_UNLIMITED, &record_dims[0]), "ncmpi_def_dim");
  record_dims[1] = dims[1];
  for (const char* name : kNames) {
    int variable = 0;
    const bool records = std::strcmp(name, "records") == 0;
    need(ncmpi_def_var(file, name, NC_DOUBLE, 2, records ? record_dims.data() : dims.data(), &variable), "ncmpi_def_var");
  }
  need(ncmpi_enddef(file), "ncmpi_enddef");
}

// Returns the block within memory that has two more columns on either side.
std::vector<double> with_ghosts(const Block& block, MPI_Datatype* type) {
  const std::array<int, 2> sizes{static_cast<int>(block.count[0]), static_cast<int>(block.count[1]) + 4};
  const std::array<int, 2> subsizes{sizes[0], sizes[1] - 4};
  const std::array<int, 2> starts{0, 2};
  MPI_Type_create_subarray(2, sizes.data(), subsizes.data(), starts.data(), MPI_ORDER_C, MPI_DOUBLE, type);
  MPI_Type_commit(type);
  std::vector<double> memory(static_cast<size_t>(sizes[0] * sizes[1]), -7.0);
  for (int i = 0; i < sizes[0] * subsizes[1]; ++i) {
    memory[static_cast<size_t>(i / subsizes[1] * sizes[1] + i % subsizes[1] + 2)] = block.values[static_cast<size_t>(i)];
  }
  return memory;
}

void write_all(int file, const Block& block) {
  int variable = 0;
  const auto find = [&](const char* name) {
    need(ncmpi_inq_varid(file, name, &variable), name);
    return variable;
  };
  const double* values = block.values.data();
  need(ncmpi_put_vara_double_all(file, find("blocking"), block.start.data(), block.count.data(), values), "put_vara_all");
  need(ncmpi_put_vara_double_all(file, find("records"), block.start.data(), block.count.data(), values),
       "put_vara_all, records");
  std::array<int, 2> requests{};
  std::array<int, 2> statuses{};
  // Each call has its own buffer: until it is done, a nonblocking call may swap bytes in it.
  const std::vector<double> a = block.values;
  const std::vector<double> b = block.values;
  need(ncmpi_iput_vara_double(file, find("nonblocking_a"), block.start.data(), block.count.data(), a.data(), &requests[0]),
       "iput");
  need(ncmpi_iput_vara_double(file, find("nonblocking_b"), block.start.data(), block.count.data(), b.data(), &requests[1]),
       "iput");
  need(ncmpi_wait_all(file, 2, requests.data(), statuses.data()), "wait_all");
  // Each row a section of its own.
  std::vector<std::array<MPI_Offset, 2>> starts;
  std::vector<std::array<MPI_Offset, 2>> counts;
  for (MPI_Offset row = 0; row < kRows; ++row) {
    starts.push_back({row, block.start[1]});
    counts.push_back({1, block.count[1]});
  }
  std::vector<MPI_Offset*> start_list;
  std::vector<MPI_Offset*> count_list;
  for (size_t i = 0; i < starts.size(); ++i) {
    start_list.push_back(starts[i].data());
    count_list.push_back(counts[i].data());
  }
  need(ncmpi_put_varn_double_all(file, find("sections"), static_cast<int>(kRows), start_list.data(), count_list.data(), values),
       "put_varn_all");
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const std::vector<double> memory = with_ghosts(block, &type);
  need(ncmpi_put_vara_all(file, find("ghosts"), block.start.data(), block.count.data(), memory.data(), 1, type),
       "put_vara_all, type");
  MPI_Type_free(&type);
  need(ncmpi_begin_indep_data(file), "begin_indep_data");
  need(ncmpi_put_vara_double(file, find("independent"), block.start.data(), block.count.data(), values), "put_vara");
  need(ncmpi_end_indep_data(file), "end_indep_data");
}

void read_all(int file, const Block& block) {
  for (const char* name : kNames) {
    int variable = 0;
    need(ncmpi_inq_varid(file, name, &variable), name);
    std::vector<double> values(block.values.size(), -1.0);
    need(ncmpi_get_vara_double_all(file, variable, block.start.data(), block.count.data(), values.data()), "get_vara_all");
    need(values == block.values ? NC_NOERR : NC_ERANGE, name);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  need(argc == 3 ? NC_NOERR : NC_EINVAL, "usage: pnetcdf_program write|read FILE");
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Block block = block_of(rank, ranks);
  int file = 0;
  if (std::strcmp(argv[1], "write") == 0) {
    need(ncmpi_create(MPI_COMM_WORLD, argv[2], NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file), "ncmpi_create");
    define(file);
    write_all(file, block);
  } else {
    need(ncmpi_open(MPI_COMM_WORLD, argv[2], NC_NOWRITE, MPI_INFO_NULL, &file), "ncmpi_open");
    read_all(file, block);
  }
  need(ncmpi_close(file), "ncmpi_close");
  MPI_Finalize();
  return 0;
}
