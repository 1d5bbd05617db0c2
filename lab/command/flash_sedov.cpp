// stria flash sedov: a Sedov blast on an adaptive mesh, with its checkpoints and plot files.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

#include "commands_of_mpi.hpp"
#include "file_options.hpp"
#include "output/simulation_files.hpp"
#include "sedov/output_schedule.hpp"
#include "sedov_report.hpp"
#include "stria/paths.hpp"
#include "stria/trace.hpp"

namespace stria::tool {

namespace {

using flash::OutputOptions;
using flash::Restored;
using flash::SedovOptions;
using flash::SedovRun;
using flash::SimulationFiles;
using flash::WrittenFile;
// Keeps the value of an option for the run. On a restart, options that are not given keep the
// checkpoint's value.
template <typename Value>
void keep_unless_given(const SedovArguments& arguments, const char* option, Value& value, const Value& of_file) {
  if (arguments.command.count(option) == 0) {
    value = of_file;
  }
}

SedovOptions options_for_restart(const SedovArguments& a, const SedovOptions& file) {
  SedovOptions o = a.sedov;
  keep_unless_given(a, "--dim", o.dim, file.dim);
  keep_unless_given(a, "--nxb", o.nxb, file.nxb);
  keep_unless_given(a, "--min-level", o.min_level, file.min_level);
  keep_unless_given(a, "--max-level", o.max_level, file.max_level);
  keep_unless_given(a, "--root-blocks", o.root_blocks, file.root_blocks);
  keep_unless_given(a, "--boundary", o.boundary, file.boundary);
  keep_unless_given(a, "--gamma", o.problem.gamma, file.problem.gamma);
  keep_unless_given(a, "--energy", o.problem.energy, file.problem.energy);
  keep_unless_given(a, "--cfl", o.cfl, file.cfl);
  keep_unless_given(a, "--refine-every", o.refine_every, file.refine_every);
  keep_unless_given(a, "--tend", o.end_time, file.end_time);
  if (a.command.count("--tend") == 0) {
    keep_unless_given(a, "--steps", o.max_steps, file.max_steps);
  }
  o.problem.ambient_density = file.problem.ambient_density;
  o.problem.ambient_pressure = file.problem.ambient_pressure;
  o.problem.radius_cells = file.problem.radius_cells;
  o.refine_above = file.refine_above;
  o.derefine_below = file.derefine_below;
  o.refine_filter = file.refine_filter;
  return o;
}

// Damage to data that the run doesn't load is no reason to refuse a file that was
// asked for by name.
Restored restore_one(MPI_Comm comm, const SedovArguments& arguments, const std::string& path) {
  SedovOptions options = options_for_restart(arguments, flash::read_options(comm, path, arguments.output.hints));
  Restored restored = flash::restore_checkpoint(comm, path, options, arguments.output.hints);
  for (const std::string& damage : restored.damages) {
    warn(comm, fmt::format("'{}': {}; the run goes on, as it needs nothing of that", path, damage));
  }
  return restored;
}

// Returns the options that a checkpoint holds; no value, and a message, when it can't be read.
std::optional<SedovOptions> options_of(MPI_Comm comm, const SedovArguments& arguments, const std::string& path) {
  try {
    return flash::read_options(comm, path, arguments.output.hints);
  } catch (const Error& error) {
    print(comm, fmt::format("passing over {}: {}\n", path, error.what()));
    return std::nullopt;
  }
}

// Returns the latest checkpoint that is whole. Damaged ones are named and skipped.
Restored restore_latest(MPI_Comm comm, const SedovArguments& arguments) {
  auto paths = flash::list_checkpoints(comm, arguments.output.directory, arguments.output.base, arguments.output.hints);
  for (const std::string& path : paths) {
    auto of_file = options_of(comm, arguments, path);
    if (!of_file) {
      continue;
    }
    try {
      Restored restored =
          flash::restore_checkpoint(comm, path, options_for_restart(arguments, *of_file), arguments.output.hints);
      if (restored.damages.empty()) {
        return restored;
      }
      print(comm, fmt::format("passing over {}: {}; --restart with its name takes it, as the run needs nothing of that\n", path,
                              fmt::join(restored.damages, ", ")));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kInvalidArgument) {
        throw;  // the file is whole, but not for this run
      }
      print(comm, fmt::format("passing over {}: {}\n", path, error.what()));
    }
  }
  throw Error(ErrorCode::kNotFound, fmt::format("there is no usable checkpoint '{}hdf5_chk_*' in '{}'", arguments.output.base,
                                                arguments.output.directory));
}

// Drives one run: steps, output when it is due, progress.
class SedovDriver {
 public:
  SedovDriver(MPI_Comm comm, const SedovArguments& arguments, SedovRun& run, SimulationFiles& files)
      : comm_(comm),
        arguments_(arguments),
        run_(run),
        files_(files),
        start_(MPI_Wtime()),
        checkpoints_(arguments.checkpoint_steps, arguments.checkpoint_seconds),
        plots_(arguments.plot_steps, arguments.plot_seconds) {}

  double run_to_end() {
    while (!run_.finished()) {
      run_.step().throw_if_error();
      progress(false);
      output(run_.finished());
    }
    files_.finish();
    report_files();
    progress(true);
    return MPI_Wtime() - start_;
  }

 private:
  void output(bool last) {
    int64_t step = run_.scalars().step;
    // Plot files come first, so that the checkpoint holds the number with which they go on.
    if (plots_.due(comm_, step) || (last && arguments_.writes_plots())) {
      files_.write_plots(run_);
    }
    if (checkpoints_.due(comm_, step) || (last && arguments_.writes_checkpoints())) {
      files_.write_checkpoint(run_);
    }
    report_files();
  }

  void report_files() {
    for (const std::string& warning : files_.take_hint_warnings()) {
      warn(comm_, warning);
    }
    for (; reported_files_ < files_.written().size(); ++reported_files_) {
      const WrittenFile& file = files_.written()[reported_files_];
      print(comm_, fmt::format("  wrote {}  {:.2f} MB in {:.1f} ms\n", file.path, static_cast<double>(file.file_bytes) / 1e6,
                               file.seconds * 1e3));
    }
  }

  // Rank 0 alone prints, so that each rank may use its own clock.
  void progress(bool always) {
    double now = MPI_Wtime();
    if (!always && now - last_line_time_ < 1) {
      return;
    }
    last_line_time_ = now;
    const auto& s = run_.scalars();
    print(comm_, fmt::format("  step {:>5}  t = {:.5e}  dt = {:.2e}  {:>6} blocks  {:.1f} s\n", s.step, s.time, s.dt,
                             run_.mesh().global_block_count(), now - start_));
  }

  MPI_Comm comm_;
  const SedovArguments& arguments_;
  SedovRun& run_;
  SimulationFiles& files_;
  double start_;
  flash::OutputSchedule checkpoints_;
  flash::OutputSchedule plots_;
  double last_line_time_ = 0;
  size_t reported_files_ = 0;
};

// Checked at the start, so that a run of hours doesn't fail at its first file.
void prepare_directory(MPI_Comm comm, const std::string& directory, bool is_written_to) {
  on_root(comm, [&] {
    if (is_store_path(directory)) {
      // A store that doesn't answer says so; directories in it are made with their files.
      path_exists(directory);
      return;
    }
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) {
      throw Error(ErrorCode::kPermissionDenied,
                  fmt::format("the directory '{}' can't be made: {}", directory, error.message()));
    }
    if (is_written_to && access(directory.c_str(), W_OK | X_OK) != 0) {
      Status::from_errno(errno, fmt::format("no files can be written in '{}'", directory)).throw_if_error();
    }
  });
}

// Checked here and not where the options are declared, because the parser's own check
// lets "nan" pass.
void check_seconds(const char* option, double seconds) {
  if (!(seconds >= 0 && std::isfinite(seconds))) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{}: seconds are zero or more, not {}", option, seconds));
  }
}

// Checked now and not when the first file is written.
void check_base(const std::string& base) {
  // A file name has at most 255 bytes, and ours add to the base.
  constexpr size_t kLongestBase = 200;
  if (base.find('/') != std::string::npos || base.size() > kLongestBase) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("--base '{}': a file's name begins so: no '/' in it, and at most {} characters (--out names the directory)",
                    base, kLongestBase));
  }
}

// Warns because a later --restart latest looks only at the numbers.
void warn_of_older_files(MPI_Comm comm, const SedovArguments& a) {
  auto older = flash::list_checkpoints(comm, a.output.directory, a.output.base, a.output.hints);
  if (!older.empty()) {
    warn(comm, fmt::format("'{}' is from an earlier run: this one counts from 0 again and replaces files as it reaches their "
                           "numbers, and --restart latest takes the highest number, whoever wrote it",
                           older.front()));
  }
}

int run_sedov(MPI_Comm comm, SedovArguments& a) {
  check_base(a.output.base);
  check_seconds("--checkpoint-seconds", a.checkpoint_seconds);
  check_seconds("--plot-seconds", a.plot_seconds);
  a.sedov.boundary = a.boundary == "periodic"  ? flash::Boundary::kPeriodic
                     : a.boundary == "reflect" ? flash::Boundary::kReflect
                                               : flash::Boundary::kOutflow;
  if (a.command.count("--tend") > 0 && a.command.count("--steps") == 0) {
    a.sedov.max_steps = std::numeric_limits<int32_t>::max();  // only the time decides
  }
  a.output.form.layout = a.layout == "experimental" ? flash::FileLayout::kExperimental : flash::FileLayout::kStandard;
  a.output.form.filters = a.compress.empty() ? Filters() : Filters::from_text(a.compress);
  a.output.sync = !a.no_sync;
  a.output.hints = parse_hints(comm, a.hints);
  if (a.writes_checkpoints()) {
    flash::check_form(a.output.form, a.output.format, a.output.hints);
  }
  prepare_directory(comm, a.output.directory, a.writes_checkpoints() || a.writes_plots());
  if (!a.json_path.empty()) {
    check_writable(comm, a.json_path);
  }
  trace::start_from_environment(comm);
  SimulationFiles files(comm, a.output);
  const flash::Leftovers leftovers = files.clear_leftovers();
  for (const std::string& line : leftovers.cleared) {
    print(comm, line + "\n");
  }
  for (const std::string& failure : leftovers.failures) {
    warn(comm, failure);
  }
  std::unique_ptr<SedovRun> sedov;
  if (a.restart.empty()) {
    sedov = SedovRun::start(comm, a.sedov).value();
    if (a.writes_checkpoints()) {
      warn_of_older_files(comm, a);
    }
  } else {
    Restored restored = a.restart == "latest" ? restore_latest(comm, a) : restore_one(comm, a, a.restart);
    sedov = std::move(restored.run);
    files.continue_after(restored);
    for (const std::string& warning : restored.hint_warnings) {
      warn(comm, warning);
    }
    for (const std::string& unchecked : restored.unchecked) {
      warn(comm, fmt::format("'{}': {}", restored.path, unchecked));
    }
    print(comm, fmt::format("restarted from {}, step {}\n", restored.path, sedov->scalars().step));
  }
  files.check_plot_variables(*sedov);
  const SedovOptions& o = sedov->options();
  print(comm, fmt::format("Sedov blast, {}-D, blocks of {}^{} cells, levels {} to {}\n", o.dim, o.nxb, o.dim, o.min_level,
                          o.max_level));
  if (sedov->finished()) {
    print(comm, "the run ends where this checkpoint was written: --steps or --tend says how much further to go\n");
  }
  double seconds = SedovDriver(comm, a, *sedov, files).run_to_end();
  report_sedov(comm, a, *sedov, files.written(), seconds);
  return kDone;
}

void add_physics_options(Command command, SedovOptions& sedov, std::string& boundary) {
  command.add_option("--dim", sedov.dim, "space dimensions, 2 or 3");
  command.add_option("--nxb", sedov.nxb, "cells of a block along each axis");
  command.add_option("--min-level", sedov.min_level, "coarsest level of the mesh; 1: one block per tree");
  command.add_option("--max-level", sedov.max_level, "finest level of the mesh");
  command.add_option("--root-blocks", sedov.root_blocks, "trees along x, y and z").expected(3);
  command.add_option("--boundary", boundary, "what lies outside").check(one_of({"outflow", "reflect", "periodic"}));
  command.add_option("--steps", sedov.max_steps, "stop after this many steps");
  command.add_option("--tend", sedov.end_time, "stop at this simulated time").shown_default("");
  command.add_option("--cfl", sedov.cfl, "Courant number");
  command.add_option("--gamma", sedov.problem.gamma, "ratio of specific heats");
  command.add_option("--energy", sedov.problem.energy, "of the explosion");
  command.add_option("--refine-every", sedov.refine_every, "steps between two adaptations of the mesh");
}

void add_output_options(Command command, SedovArguments& a) {
  command.add_option("--out", a.output.directory, "directory of the files").check(not_empty());
  command.add_option("--base", a.output.base, "what the files' names begin with");
  command.add_option("--checkpoint-every", a.checkpoint_steps, "a checkpoint after so many steps, and at the end; 0: never")
      .check(not_negative());
  command.add_option("--checkpoint-seconds", a.checkpoint_seconds, "the same in seconds of run time");
  command.add_option("--plot-every", a.plot_steps, "a plot file after so many steps, and at the end; 0: never")
      .check(not_negative());
  command.add_option("--plot-seconds", a.plot_seconds, "the same in seconds of run time");
  command.add_option("--plot-variables", a.output.plot_variables, "their names, one after another").take_all();
  command.add_flag("--corners", a.output.corners, "also plot files of values at the cells' corners");
  command.add_option("--keep", a.output.keep, "checkpoints to keep; 0: all").check(not_negative());
  command.add_option("--layout", a.layout, "of checkpoints").check(one_of({"standard", "experimental"}));
  add_format(command, a.output.format);
  add_compress(command, a.compress);
  command.add_flag("--names", a.output.form.named, "checkpoints: names of dimensions, for xarray");
  command.add_flag("--async", a.output.async, "write checkpoints while the run goes on");
  command.add_flag("--no-sync", a.no_sync, "don't wait until files are safe from a power loss");
  command.add_option("--hint", a.hints, "name=value, as in docs/hints.md; may be repeated").take_all().shown_default("");
}

}  // namespace

void add_flash_sedov(Command flash, Action& action) {
  auto a = std::make_shared<SedovArguments>();
  Command command = flash.add_subcommand("sedov", "a Sedov blast on an adaptive mesh, with checkpoints and plot files");
  a->command = command;
  command.take_last_and_show_defaults();
  add_physics_options(command, a->sedov, a->boundary);
  add_output_options(command, *a);
  command.add_option("--restart", a->restart, "a checkpoint, or 'latest' for the last whole one in --out").check(not_empty());
  command.add_option("--json", a->json_path, "write the results there too").check(not_empty());
  command.callback([a, &action] { action = over_mpi([a](MPI_Comm comm) { return run_sedov(comm, *a); }); });
}

}  // namespace stria::tool
