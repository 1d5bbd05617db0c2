// The files of a Sedov run: numbered checkpoints and plot files, of which the last few are kept,
// and the restart from them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format/flash_file.hpp"
#include "sedov/sedov_run.hpp"

namespace stria::flash {

struct OutputOptions {
  std::string directory = ".";
  std::string base = "sedov_";
  std::vector<std::string> plot_variables = {"dens", "pres", "temp"};
  bool corners = false;  ///< also plot files of corner values
  bool sync = true;
  bool async = false;  ///< checkpoints are written while the run goes on
  int keep = 0;        ///< checkpoints to keep; 0: all
  CheckpointForm form;
  Format format = Format::kHdf5;
  Hints hints;
};

/// One file as it was written. Phases: mean over the ranks.
struct WrittenFile {
  std::string path;
  std::string kind;  ///< "checkpoint", "plot" or "corner plot"
  int64_t step = 0;
  int64_t useful_bytes = 0;
  int64_t file_bytes = 0;
  double seconds = 0;       ///< open to commit, or to commit_async()'s return, the slowest rank
  double wait_seconds = 0;  ///< the run's wait for commit_async(), the slowest rank's
  PhaseTimes phases;
  std::string method;
};

struct Restored;

/// Holds what a killed run has left, a line each, for people.
struct Leftovers {
  std::vector<std::string> cleared;
  std::vector<std::string> failures;  ///< what stays as it was, and why
};

class SimulationFiles {
 public:
  SimulationFiles(MPI_Comm comm, OutputOptions options);

  /// Removes what a killed run left half written, and brings staged files to their own place. One
  /// that can't be brought stays where it is. Collective: yes.
  Leftovers clear_leftovers();
  /// Goes on counting after a restored run. Checkpoints up to that one count among those to keep.
  /// Collective: yes.
  void continue_after(const Restored& restored);
  /// Checks the names of the variables to plot, before the run begins. Throws stria::Error
  /// (kInvalidArgument).
  void check_plot_variables(SedovRun& run) const;

  /// Write one file each. Throw stria::Error on all ranks. Collective: yes.
  void write_checkpoint(SedovRun& run);
  void write_plots(SedovRun& run);
  /// Waits for a checkpoint that is still being written, which is then in written(). Throws
  /// stria::Error on all ranks. Collective: yes.
  void finish();

  const std::vector<WrittenFile>& written() const { return written_; }
  /// Returns what was wrong with the hints, as the files written since the last call say it; each
  /// sentence once a run.
  std::vector<std::string> take_hint_warnings();

 private:
  std::vector<int> plot_indices(const CellArray& cells) const;
  ScalarLists scalars(const SedovRun& run, bool corners) const;
  void write(const std::string& path, const std::string& kind, SedovRun& run, const std::function<void(File&)>& put);
  void note_warnings(const std::vector<std::string>& warnings);
  void remove_old();

  MPI_Comm comm_;
  OutputOptions options_;
  int next_checkpoint_ = 0;
  int next_plot_ = 0;
  std::vector<std::string> checkpoints_;  // those of this run, oldest first
  std::vector<WrittenFile> written_;
  std::vector<std::string> hint_warnings_;  // all of them
  size_t taken_warnings_ = 0;
  std::optional<std::pair<Commit, WrittenFile>> under_way_;
};

/// A run restored from a checkpoint.
struct Restored {
  std::unique_ptr<SedovRun> run;
  std::string path;
  int checkpoint_number = 0;
  int plot_number = 0;
  /// Sentences on what is damaged but was not loaded; the run doesn't need it.
  std::vector<std::string> damages;
  std::vector<std::string> unchecked;  ///< sentences on what could not be compared with checksums
  std::vector<std::string> hint_warnings;
};

/// Reads the options that a checkpoint was written with. With stria_staging, the nearest whole file
/// of that name is read. Throws stria::Error. Collective: yes.
SedovOptions read_options(MPI_Comm comm, const std::string& path, const Hints& hints);

/// Restores from one checkpoint and checks every checksum: damage to what is loaded is an error,
/// damage to the rest is reported. The run goes on with `options`; dimension and block size must be
/// the file's. Throws stria::Error on all ranks. Collective: yes.
Restored restore_checkpoint(MPI_Comm comm, const std::string& path, const SedovOptions& options, const Hints& hints);

/// Returns the checkpoints of a directory, latest first, and with stria_staging those that are
/// staged on their way there. Collective: yes; the same list everywhere.
std::vector<std::string> list_checkpoints(MPI_Comm comm, const std::string& directory, const std::string& base,
                                          const Hints& hints);

}  // namespace stria::flash
