// Describes what `stria flash sedov` reports at its end: a table of all files for people, JSON for
// programs.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "command_line.hpp"
#include "output/simulation_files.hpp"
#include "sedov/sedov_run.hpp"

namespace stria::tool {

/// The options of the command as they were given.
struct SedovArguments {
  flash::SedovOptions sedov;
  flash::OutputOptions output;
  Command command;  ///< tells which options were given
  int64_t checkpoint_steps = 0, plot_steps = 0;
  double checkpoint_seconds = 0, plot_seconds = 0;
  std::string boundary = "outflow";
  std::string layout = "standard";
  std::string restart;
  std::string json_path;
  std::vector<std::string> hints;
  std::string compress;
  bool no_sync = false;

  bool writes_checkpoints() const { return checkpoint_steps > 0 || checkpoint_seconds > 0; }
  bool writes_plots() const { return plot_steps > 0 || plot_seconds > 0; }
};

/// Prints the state at the end beside the analytic solution and the table of files, and writes the
/// JSON file if one is wanted. Throws stria::Error on all ranks. Collective: yes.
void report_sedov(MPI_Comm comm, const SedovArguments& arguments, flash::SedovRun& run,
                  const std::vector<flash::WrittenFile>& files, double run_seconds);

}  // namespace stria::tool
