#include "peers/modes.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <pnetcdf.h>
#ifdef STRIA_BENCH_ADIOS2
#include <adios2/common/ADIOSConfig.h>
#endif

#include <cstdio>
#include <numeric>

namespace stria::bench {

RankData::RankData(flash::Unk blocks, int rank, int64_t staging_bytes)
    : unk(std::move(blocks)), table(make_block_table(unk.partition(), rank)), limit(unk, staging_bytes) {
  one_variable.resize(static_cast<size_t>(run_values()));
  all_variables.resize(static_cast<size_t>(run_values() * unk.parameters().nvar));
}

std::vector<int64_t> RankData::every_variable() const {
  std::vector<int64_t> variables(static_cast<size_t>(unk.parameters().nvar));
  std::iota(variables.begin(), variables.end(), 0);
  return variables;
}

void RankData::ensure_packed() {
  if (limit.packed() == nullptr) {
    require(limit.prepare_packed());
  }
}

const char* mode_kind_name(ModeKind kind) {
  switch (kind) {
    case ModeKind::kCheckpoint:
      return "checkpoint";
    case ModeKind::kPlot:
      return "plot";
    case ModeKind::kRead:
      return "read";
  }
  return "unknown";
}

std::vector<Mode> all_modes() {
  std::vector<Mode> modes;
  for (const auto& family : {limit_modes, hdf5_modes, hdf5_multi_modes, pnetcdf_modes, mpiio_modes
#ifdef STRIA_BENCH_ADIOS2
                             ,
                             adios2_modes
#endif
       }) {
    const std::vector<Mode> some = family();
    modes.insert(modes.end(), some.begin(), some.end());
  }
  return modes;
}

std::vector<std::pair<std::string, std::string>> peer_libraries() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  std::vector<std::pair<std::string, std::string>> libraries = {{"HDF5", fmt::format("{}.{}.{}", major, minor, release)},
                                                                {"PnetCDF", PNETCDF_VERSION}};
#ifdef STRIA_BENCH_ADIOS2
  libraries.emplace_back("ADIOS2", ADIOS2_VERSION_STR);
#endif
  return libraries;
}

void require(bool ok, const std::string& what) {
  if (ok) {
    return;
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fmt::print(stderr, "bench_flash_peers: rank {}: {}\n", rank, what);
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void require(const Status& status) {
  require(status.ok(), status.message());
}

}  // namespace stria::bench
