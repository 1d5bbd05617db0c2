// The PnetCDF calls that the modes share: definitions in FLASH's names, the block lists, and where
// raw data lies.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "peers/modes.hpp"

namespace stria::bench {

/// A file with its variables defined, ready for data. CDF-5, because variables may pass 4 GiB.
struct NetcdfFile {
  int id = -1;
  std::vector<int> list_variables;  ///< beside metadata_lists()
  std::vector<int> variables;       ///< beside the variables given to create
};

/// This rank's rows of a variable of all blocks.
struct NetcdfRows {
  NetcdfRows(const flash::BlockPartition& partition, const std::vector<int64_t>& entry_shape);
  std::vector<MPI_Offset> start, count;
};

/// Ends the job with PnetCDF's own words when `outcome` is an error.
void require_netcdf(int outcome, const std::string& what);

/// Creates a file and defines everything. `type` is that of the cell variables: NC_DOUBLE or
/// NC_FLOAT. Collective: yes.
NetcdfFile create_netcdf(const Round& round, const std::vector<int64_t>& variables, int type);

/// Writes the block lists, each with its own blocking call or all combined in one. Collective: yes.
void write_netcdf_lists(const NetcdfFile& file, const RankData& data, bool combined);

/// Compares the lists in a file with this rank's. Empty, or which list differs. Not collective.
std::string check_netcdf_lists(const std::string& path, const RankData& data);

/// Finds where this rank's values of `variables` lie. Not collective.
flash::FileRuns netcdf_file_runs(const std::string& path, const RankData& data, const std::vector<int64_t>& variables,
                                 int64_t element_bytes);

}  // namespace stria::bench
