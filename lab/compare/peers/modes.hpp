// A mode is one way to get the FLASH pattern into or out of a file; the bench runs them in turn,
// round by round.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "limits/limit_files.hpp"
#include "workload/block_metadata.hpp"
#include "workload/unk.hpp"

namespace stria::bench {

using flash::LimitTimes;

/// One rank's arrays, and the buffers that it keeps from round to round so that memory
/// is touched once.
struct RankData {
  RankData(flash::Unk blocks, int rank, int64_t staging_bytes);
  RankData(const RankData&) = delete;  // `limit` refers to `unk`
  RankData& operator=(const RankData&) = delete;

  /// Cells of all local blocks: the values of one variable.
  int64_t run_values() const { return unk.blocks() * unk.parameters().cells_per_block(); }

  /// Returns the numbers of all variables.
  std::vector<int64_t> every_variable() const;

  /// Makes limit.packed() valid, outside any timing.
  void ensure_packed();

  flash::Unk unk;
  flash::BlockTable table;
  flash::LimitFiles limit;
  std::vector<int64_t> plot_variables;
  std::vector<double> one_variable;  ///< packed values of one variable
  /// Packed values of every variable, for writes that are still pending.
  std::vector<double> all_variables;
};

/// One round of one mode on one rank.
struct Round {
  MPI_Comm comm = MPI_COMM_NULL;
  RankData& data;
  flash::Unk* target = nullptr;  ///< where a reading mode puts the values
  std::string path;
  bool sync = false;
  LimitTimes times;
};

/// Says what a mode moves: it decides the useful bytes and which option selects it.
enum class ModeKind { kCheckpoint, kPlot, kRead };

const char* mode_kind_name(ModeKind kind);

struct Mode {
  std::string name;
  ModeKind kind = ModeKind::kCheckpoint;
  bool slow = false;  ///< runs on the smaller workload
  /// This isn't timed, and may be empty. It writes the file, once, for modes that read.
  std::function<void(Round&)> prepare;
  std::function<void(Round&)> run;  ///< timed, open to close
  /// Where the values lie; empty for reading modes.
  std::function<flash::FileRuns(Round&)> file_runs;
  std::function<std::string(Round&)> check_lists;  ///< compares the block lists; may be empty
};

/// Returns every mode of this program.
std::vector<Mode> all_modes();
std::vector<Mode> limit_modes();
std::vector<Mode> hdf5_modes();
std::vector<Mode> hdf5_multi_modes();  ///< none before HDF5 1.14
std::vector<Mode> pnetcdf_modes();
std::vector<Mode> mpiio_modes();
std::vector<Mode> adios2_modes();  ///< in builds with ADIOS2

/// Returns the libraries behind the modes, each with its version: {"HDF5", "1.14.5"}.
std::vector<std::pair<std::string, std::string>> peer_libraries();

/// Says where the packed values of a checkpoint come from.
enum class Source {
  kOneVariable,  ///< packed one variable at a time within the measured time, as FLASH does
  /// An ideal one-pass pack of everything, within the measured time: more than applications do.
  kOnePass,
  kPrepacked,  ///< packed before the clock starts: the library's own time
  /// Described to the library as a memory selection or datatype, not packed by the caller.
  kInPlace,
};

/// Ends the job with a message when `ok` is false: a rank that fails alone would leave the
/// others waiting.
void require(bool ok, const std::string& what);
void require(const Status& status);

}  // namespace stria::bench
