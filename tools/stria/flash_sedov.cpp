// stria flash sedov: a Sedov blast on an adaptive mesh, with its checkpoints and plot files.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "output/simulation_files.hpp"
#include "sedov/diagnostics.hpp"
#include "sedov/exact.hpp"
#include "sedov/output_schedule.hpp"
#include "stria/trace.hpp"

namespace stria::tool {

namespace {

using flash::OutputOptions;
using flash::Restored;
using flash::SedovOptions;
using flash::SedovRun;
using flash::SimulationFiles;
using flash::WrittenFile;
using nlohmann::json;

struct Arguments {
  SedovOptions sedov;
  OutputOptions output;
  CLI::App* command = nullptr;  // tells which options were given
  int64_t checkpoint_steps = 0, plot_steps = 0;
  double checkpoint_seconds = 0, plot_seconds = 0;
  std::string boundary = "outflow";
  std::string layout = "standard";
  std::string restart;
  std::string json_path;
  std::vector<std::string> hints;
  bool no_sync = false;
};

// What an option means for the run; those not given on a restart are the checkpoint's.
template <typename Value>
void keep_unless_given(const Arguments& arguments, const char* option, Value& value, const Value& of_file) {
  if (arguments.command->count(option) == 0) {
    value = of_file;
  }
}

SedovOptions options_for_restart(const Arguments& a, const SedovOptions& file) {
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
  if (a.command->count("--tend") == 0) {
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

Restored restore_one(MPI_Comm comm, const Arguments& arguments, const std::string& path) {
  SedovOptions options = options_for_restart(arguments, flash::read_options(comm, path));
  return flash::restore_checkpoint(comm, path, options, arguments.output.hints);
}

// The options that a checkpoint holds; none when it can't be read, which is said.
std::optional<SedovOptions> options_of(MPI_Comm comm, const std::string& path) {
  try {
    return flash::read_options(comm, path);
  } catch (const Error& error) {
    print(comm, fmt::format("passing over {}: {}\n", path, error.what()));
    return std::nullopt;
  }
}

// The latest checkpoint that is whole; damaged ones are named and passed over.
Restored restore_latest(MPI_Comm comm, const Arguments& arguments) {
  auto paths = flash::list_checkpoints(comm, arguments.output.directory, arguments.output.base);
  for (const std::string& path : paths) {
    auto of_file = options_of(comm, path);
    if (!of_file) {
      continue;
    }
    try {
      return flash::restore_checkpoint(comm, path, options_for_restart(arguments, *of_file), arguments.output.hints);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kInvalidArgument) {
        throw;  // whole, but not for this run
      }
      print(comm, fmt::format("passing over {}: {}\n", path, error.what()));
    }
  }
  throw Error(ErrorCode::kNotFound, fmt::format("there is no usable checkpoint '{}hdf5_chk_*' in '{}'", arguments.output.base,
                                                arguments.output.directory));
}

json file_json(const WrittenFile& file, double run_seconds) {
  json phases = json::object();
  for (size_t i = 0; i < kPhaseCount; ++i) {
    phases[phase_name(static_cast<Phase>(i))] = file.phases.seconds[i];
  }
  return {{"path", file.path},
          {"kind", file.kind},
          {"step", file.step},
          {"useful_bytes", file.useful_bytes},
          {"file_bytes", file.file_bytes},
          {"seconds", file.seconds},
          {"mbps", static_cast<double>(file.useful_bytes) / file.seconds / 1e6},
          {"share_of_run", file.seconds / run_seconds},
          {"phases", phases},
          {"method", file.method}};
}

std::string files_table(const std::vector<WrittenFile>& files, double run_seconds) {
  std::string text = fmt::format("{:<34}{:>9}{:>9}{:>9}{:>7}   {:>7}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}\n", "file", "MB", "ms",
                                 "MB/s", "% run", "open", "meta", "pack", "exch", "write", "sync", "commit");
  double io_seconds = 0;
  for (const WrittenFile& f : files) {
    io_seconds += f.seconds;
    auto ms = [&](Phase phase) { return f.phases[phase] * 1e3; };
    text += fmt::format("{:<34}{:>9.2f}{:>9.1f}{:>9.0f}{:>7.2f}   {:>7.1f}{:>7.1f}{:>7.1f}{:>7.1f}{:>7.1f}{:>7.1f}{:>7.1f}\n",
                        std::filesystem::path(f.path).filename().string(), static_cast<double>(f.file_bytes) / 1e6,
                        f.seconds * 1e3, static_cast<double>(f.useful_bytes) / f.seconds / 1e6, 100 * f.seconds / run_seconds,
                        ms(Phase::kOpen), ms(Phase::kMetadata), ms(Phase::kPack), ms(Phase::kExchange), ms(Phase::kWrite),
                        ms(Phase::kSync), ms(Phase::kCommit));
  }
  return text + fmt::format("phases in ms, mean over the ranks; {} files, {:.2f} s of {:.2f} s run time were I/O ({:.1f} %)\n",
                            files.size(), io_seconds, run_seconds, 100 * io_seconds / run_seconds);
}

// Drives one run: steps, output when it is due, progress.
class Driver {
 public:
  Driver(MPI_Comm comm, const Arguments& arguments, SedovRun& run, SimulationFiles& files)
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
    progress(true);
    return MPI_Wtime() - start_;
  }

 private:
  void output(bool last) {
    int64_t step = run_.scalars().step;
    bool checkpoints = arguments_.checkpoint_steps > 0 || arguments_.checkpoint_seconds > 0;
    bool plots = arguments_.plot_steps > 0 || arguments_.plot_seconds > 0;
    // Plots first: the checkpoint then says with which number their count goes on.
    if (plots_.due(comm_, step) || (last && plots)) {
      files_.write_plots(run_);
    }
    if (checkpoints_.due(comm_, step) || (last && checkpoints)) {
      files_.write_checkpoint(run_);
    }
    for (; reported_files_ < files_.written().size(); ++reported_files_) {
      const WrittenFile& file = files_.written()[reported_files_];
      print(comm_, fmt::format("  wrote {}  {:.2f} MB in {:.1f} ms\n", file.path, static_cast<double>(file.file_bytes) / 1e6,
                               file.seconds * 1e3));
    }
  }

  // Only rank 0 prints, so each rank may go by its own clock.
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
  const Arguments& arguments_;
  SedovRun& run_;
  SimulationFiles& files_;
  double start_;
  flash::OutputSchedule checkpoints_;
  flash::OutputSchedule plots_;
  double last_line_time_ = 0;
  size_t reported_files_ = 0;
};

json physics_json(SedovRun& run) {
  auto totals = flash::compute_totals(run.mesh());
  const SedovOptions& o = run.options();
  double finest = flash::block_length(run.mesh().domain(), o.max_level - 1, 0) / o.nxb;
  flash::SedovSolution exact =
      flash::SedovSolution::make({o.dim, o.problem.gamma, o.problem.energy, o.problem.ambient_density}).value();
  return {{"time", run.scalars().time},
          {"step", run.scalars().step},
          {"blocks", run.mesh().global_block_count()},
          {"mass", totals.mass},
          {"energy", totals.energy},
          {"shock_radius", flash::numerical_shock_radius(run.mesh())},
          {"exact_shock_radius", exact.shock_radius(run.scalars().time)},
          {"finest_cell", finest},
          {"state_hash", fmt::format("{:016x}", flash::state_hash(run.mesh()))}};
}

int report(MPI_Comm comm, const Arguments& arguments, SedovRun& run, const SimulationFiles& files, double seconds) {
  json physics = physics_json(run);
  print(comm,
        fmt::format(
            "\nshock at r = {:.4f}, the analytic solution has {:.4f} (finest cell {:.4f}); mass {:.15g}, energy {:.15g}\n\n",
            physics["shock_radius"].get<double>(), physics["exact_shock_radius"].get<double>(),
            physics["finest_cell"].get<double>(), physics["mass"].get<double>(), physics["energy"].get<double>()));
  print(comm, files_table(files.written(), seconds));
  if (!arguments.json_path.empty()) {
    int ranks = 1;
    MPI_Comm_size(comm, &ranks);
    json list = json::array();
    double io_seconds = 0;
    for (const WrittenFile& file : files.written()) {
      list.push_back(file_json(file, seconds));
      io_seconds += file.seconds;
    }
    const SedovOptions& o = run.options();
    json document = {{"ranks", ranks},
                     {"parameters",
                      {{"dim", o.dim},
                       {"nxb", o.nxb},
                       {"min_level", o.min_level},
                       {"max_level", o.max_level},
                       {"steps", o.max_steps},
                       {"cfl", o.cfl},
                       {"gamma", o.problem.gamma},
                       {"sync", arguments.output.sync}}},
                     {"run_seconds", seconds},
                     {"io_seconds", io_seconds},
                     {"io_share", io_seconds / seconds},
                     {"result", physics},
                     {"files", list}};
    write_text(comm, arguments.json_path, document.dump(2) + "\n");
  }
  return kDone;
}

void prepare_directory(MPI_Comm comm, const std::string& directory) {
  on_root(comm, [&] {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) {
      throw Error(ErrorCode::kPermissionDenied,
                  fmt::format("the directory '{}' can't be made: {}", directory, error.message()));
    }
  });
}

// Here and not where the options are declared, as the parser's own check lets "nan" through.
void check_seconds(const char* option, double seconds) {
  if (!(seconds >= 0 && std::isfinite(seconds))) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{}: seconds are zero or more, not {}", option, seconds));
  }
}

int run(MPI_Comm comm, Arguments& a) {
  check_seconds("--checkpoint-seconds", a.checkpoint_seconds);
  check_seconds("--plot-seconds", a.plot_seconds);
  a.sedov.boundary = a.boundary == "periodic"  ? flash::Boundary::kPeriodic
                     : a.boundary == "reflect" ? flash::Boundary::kReflect
                                               : flash::Boundary::kOutflow;
  if (a.command->count("--tend") > 0 && a.command->count("--steps") == 0) {
    a.sedov.max_steps = std::numeric_limits<int32_t>::max();  // the time alone decides
  }
  a.output.layout = a.layout == "experimental" ? flash::FileLayout::kExperimental : flash::FileLayout::kStandard;
  a.output.sync = !a.no_sync;
  a.output.hints = parse_hints(comm, a.hints);
  prepare_directory(comm, a.output.directory);
  if (!a.json_path.empty()) {
    check_writable(comm, a.json_path);
  }
  trace::start_from_environment(comm);
  SimulationFiles files(comm, a.output);
  for (const std::string& line : files.clear_leftovers()) {
    print(comm, line + "\n");
  }
  std::unique_ptr<SedovRun> sedov;
  if (a.restart.empty()) {
    sedov = SedovRun::start(comm, a.sedov).value();
  } else {
    Restored restored = a.restart == "latest" ? restore_latest(comm, a) : restore_one(comm, a, a.restart);
    sedov = std::move(restored.run);
    files.continue_after(restored);
    print(comm, fmt::format("restarted from {}, step {}\n", restored.path, sedov->scalars().step));
  }
  files.check_plot_variables(*sedov);
  const SedovOptions& o = sedov->options();
  print(comm, fmt::format("Sedov blast, {}-D, blocks of {}^{} cells, levels {} to {}\n", o.dim, o.nxb, o.dim, o.min_level,
                          o.max_level));
  double seconds = Driver(comm, a, *sedov, files).run_to_end();
  return report(comm, a, *sedov, files, seconds);
}

void add_physics_options(CLI::App& command, SedovOptions& sedov, std::string& boundary) {
  command.add_option("--dim", sedov.dim, "space dimensions, 2 or 3");
  command.add_option("--nxb", sedov.nxb, "cells of a block along each axis");
  command.add_option("--min-level", sedov.min_level, "coarsest level of the mesh; 1: one block a tree");
  command.add_option("--max-level", sedov.max_level, "finest level of the mesh");
  command.add_option("--root-blocks", sedov.root_blocks, "trees along x, y and z")->expected(3);
  command.add_option("--boundary", boundary, "what lies outside")->check(CLI::IsMember({"outflow", "reflect", "periodic"}));
  command.add_option("--steps", sedov.max_steps, "stop after this many steps");
  command.add_option("--tend", sedov.end_time, "stop at this simulated time");
  command.add_option("--cfl", sedov.cfl, "Courant number");
  command.add_option("--gamma", sedov.problem.gamma, "ratio of specific heats");
  command.add_option("--energy", sedov.problem.energy, "of the explosion");
  command.add_option("--refine-every", sedov.refine_every, "steps between two looks at the mesh");
}

}  // namespace

void add_flash_sedov(CLI::App& flash, Action& action) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = flash.add_subcommand("sedov", "a Sedov blast on an adaptive mesh, with checkpoints and plot files");
  a->command = command;
  command->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  add_physics_options(*command, a->sedov, a->boundary);
  command->add_option("--out", a->output.directory, "directory of the files");
  command->add_option("--base", a->output.base, "what the files' names begin with");
  command->add_option("--checkpoint-every", a->checkpoint_steps, "steps")->check(CLI::NonNegativeNumber);
  command->add_option("--checkpoint-seconds", a->checkpoint_seconds, "seconds of run time");
  command->add_option("--plot-every", a->plot_steps, "steps")->check(CLI::NonNegativeNumber);
  command->add_option("--plot-seconds", a->plot_seconds, "seconds of run time");
  command->add_option("--plot-variables", a->output.plot_variables, "their names, one after another")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--corners", a->output.corners, "also plot files of values at the cells' corners");
  command->add_option("--keep", a->output.keep, "checkpoints to keep; 0: all")->check(CLI::NonNegativeNumber);
  command->add_option("--layout", a->layout, "of checkpoints")->check(CLI::IsMember({"standard", "experimental"}));
  command->add_option("--restart", a->restart, "a checkpoint, or 'latest' for the last whole one in --out");
  command->add_flag("--no-sync", a->no_sync, "don't wait until files are safe from a power loss");
  command->add_option("--hint", a->hints, "name=value, as in docs/hints.md; may be repeated")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--json", a->json_path, "write the results there too");
  command->callback([a, &action] { action = [a](MPI_Comm comm) { return run(comm, *a); }; });
}

}  // namespace stria::tool
