#include "peers/pnetcdf_file.hpp"

#include <pnetcdf.h>

#include <cstring>

namespace stria::bench {
namespace {

// PnetCDF takes MPI_INT but not MPI_INT32_T.
MPI_Datatype mpi_type(const flash::MetadataList& list) {
  return list.is_integer ? MPI_INT : MPI_DOUBLE;
}

int open_alone(const std::string& path) {
  int id = -1;
  require_netcdf(ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &id), "open " + path);
  return id;
}

int define_dimension(int file, const char* name, int64_t length) {
  int dimension = -1;
  require_netcdf(ncmpi_def_dim(file, name, length, &dimension), std::string("define ") + name);
  return dimension;
}

int define_variable(int file, const std::string& name, int type, const std::vector<int>& dimensions) {
  int variable = -1;
  require_netcdf(ncmpi_def_var(file, name.c_str(), type, static_cast<int>(dimensions.size()), dimensions.data(), &variable),
                 "define " + name);
  return variable;
}

}  // namespace

void require_netcdf(int outcome, const std::string& what) {
  require(outcome == NC_NOERR, "PnetCDF: cannot " + what + ": " + ncmpi_strerror(outcome));
}

NetcdfRows::NetcdfRows(const flash::BlockPartition& partition, const std::vector<int64_t>& entry_shape)
    : start{partition.first}, count{partition.local} {
  for (const int64_t extent : entry_shape) {
    start.push_back(0);
    count.push_back(extent);
  }
}

NetcdfFile create_netcdf(const Round& round, const std::vector<int64_t>& variables, int type) {
  const RankData& data = round.data;
  NetcdfFile file;
  require_netcdf(ncmpi_create(round.comm, round.path.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file.id),
                 "create " + round.path);
  const int blocks = define_dimension(file.id, "dim_tot_blocks", data.unk.partition().total);
  const int x = define_dimension(file.id, "dim_nxb", data.unk.parameters().nxb);
  const int y = define_dimension(file.id, "dim_nyb", data.unk.parameters().nxb);
  const int z = define_dimension(file.id, "dim_nzb", data.unk.parameters().nxb);
  const int gid = define_dimension(file.id, "dim_NGID", flash::kGidWidth);
  const int axes = define_dimension(file.id, "dim_NDIM", 3);
  const int ends = define_dimension(file.id, "dim_2", 2);
  for (const flash::MetadataList& list : metadata_lists(data.table)) {
    std::vector<int> dimensions = {blocks};
    for (const int64_t extent : list.entry_shape) {
      dimensions.push_back(extent == flash::kGidWidth ? gid : extent == 3 ? axes : ends);
    }
    file.list_variables.push_back(define_variable(file.id, list.netcdf_name, list.is_integer ? NC_INT : NC_DOUBLE, dimensions));
  }
  for (const int64_t variable : variables) {
    file.variables.push_back(define_variable(file.id, flash::variable_label(variable), type, {blocks, z, y, x}));
  }
  require_netcdf(ncmpi_enddef(file.id), "end the definitions of " + round.path);
  return file;
}

void write_netcdf_lists(const NetcdfFile& file, const RankData& data, bool combined) {
  const std::vector<flash::MetadataList> lists = metadata_lists(data.table);
  for (size_t n = 0; n < lists.size(); ++n) {
    const NetcdfRows rows(data.unk.partition(), lists[n].entry_shape);
    const MPI_Datatype type = mpi_type(lists[n]);
    int request = 0;
    const int outcome = combined ? ncmpi_iput_vara(file.id, file.list_variables[n], rows.start.data(), rows.count.data(),
                                                   lists[n].data, lists[n].values, type, &request)
                                 : ncmpi_put_vara_all(file.id, file.list_variables[n], rows.start.data(), rows.count.data(),
                                                      lists[n].data, lists[n].values, type);
    require_netcdf(outcome, "write " + lists[n].netcdf_name);
  }
}

std::string check_netcdf_lists(const std::string& path, const RankData& data) {
  const int file = open_alone(path);
  std::string wrong;
  for (const flash::MetadataList& list : metadata_lists(data.table)) {
    int variable = -1;
    require_netcdf(ncmpi_inq_varid(file, list.netcdf_name.c_str(), &variable), "find " + list.netcdf_name);
    const NetcdfRows rows(data.unk.partition(), list.entry_shape);
    std::vector<char> found(static_cast<size_t>(list.values * (list.is_integer ? 4 : 8)));
    require_netcdf(
        ncmpi_get_vara_all(file, variable, rows.start.data(), rows.count.data(), found.data(), list.values, mpi_type(list)),
        "read " + list.netcdf_name);
    if (wrong.empty() && std::memcmp(found.data(), list.data, found.size()) != 0) {
      wrong = path + ": the list '" + list.netcdf_name + "' is not what was written";
    }
  }
  require_netcdf(ncmpi_close(file), "close " + path);
  return wrong;
}

flash::FileRuns netcdf_file_runs(const std::string& path, const RankData& data, const std::vector<int64_t>& variables,
                                 int64_t element_bytes) {
  flash::FileRuns runs{path, variables, {}, element_bytes, true};
  const int file = open_alone(path);
  const int64_t first_byte = data.unk.partition().first * data.unk.parameters().cells_per_block() * element_bytes;
  for (const int64_t variable : variables) {
    const std::string name = flash::variable_label(variable);
    int id = -1;
    MPI_Offset offset = 0;
    require_netcdf(ncmpi_inq_varid(file, name.c_str(), &id), "find " + name);
    require_netcdf(ncmpi_inq_varoffset(file, id, &offset), "find the data of " + name);
    runs.offsets_bytes.push_back(offset + first_byte);
  }
  require_netcdf(ncmpi_close(file), "close " + path);
  return runs;
}

}  // namespace stria::bench
