#include "sedov_report.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "ranks_of_mpi.hpp"
#include "report/rule.hpp"
#include "sedov/diagnostics.hpp"
#include "sedov/exact.hpp"
#include "spread.hpp"

namespace stria::tool {

namespace {

using flash::SedovOptions;
using flash::SedovRun;
using flash::WrittenFile;
using nlohmann::json;

constexpr std::array kPhasesOfAWrite = {Phase::kOpen,  Phase::kMetadata, Phase::kPack,  Phase::kExchange,
                                        Phase::kWrite, Phase::kSync,     Phase::kCommit};

// Returns all that the run spent on the file.
double seconds_of(const WrittenFile& file) {
  return file.seconds + file.wait_seconds;
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
          {"wait_seconds", file.wait_seconds},
          {"mbps", static_cast<double>(file.useful_bytes) / file.seconds / 1e6},
          {"share_of_run", seconds_of(file) / run_seconds},
          {"phases", phases},
          {"method", file.method}};
}

// Returns the files of one kind together, in the form of a mode of `stria flash io`.
json kind_json(const std::string& kind, const std::vector<const WrittenFile*>& files) {
  std::vector<double> seconds;
  std::vector<double> rates;
  json phases = json::object();
  for (const WrittenFile* file : files) {
    seconds.push_back(file->seconds);
    rates.push_back(static_cast<double>(file->useful_bytes) / file->seconds / 1e6);
  }
  for (size_t i = 0; i < kPhaseCount; ++i) {
    std::vector<double> phase;
    for (const WrittenFile* file : files) {
      phase.push_back(file->phases.seconds[i]);
    }
    phases[phase_name(static_cast<Phase>(i))] = spread(std::move(phase)).median;
  }
  return {{"name", kind},
          {"files", files.size()},
          {"seconds", as_json(spread(std::move(seconds)))},
          {"mbps", as_json(spread(std::move(rates)))},
          {"phases", phases}};
}

json kinds_json(const std::vector<WrittenFile>& files) {
  std::map<std::string, std::vector<const WrittenFile*>> kinds;
  for (const WrittenFile& file : files) {
    kinds[file.kind].push_back(&file);
  }
  json list = json::array();
  for (const auto& [kind, of_kind] : kinds) {
    list.push_back(kind_json(kind, of_kind));
  }
  return list;
}

constexpr int kPhaseColumns = 6;

// The text has as many columns, with a digit behind the point where there is room for it.
std::string ms_text(double seconds) {
  const double ms = seconds * 1e3;
  return fmt::format("{:>{}.{}f}", ms, kPhaseColumns, ms < 999.95 ? 1 : 0);
}

std::string files_table(const std::vector<WrittenFile>& files, double run_seconds) {
  if (files.empty()) {
    return "no files were written: --checkpoint-every, --plot-every and the like ask for them\n";
  }
  std::string text = fmt::format("{:<28}{:>10}{:>10}{:>8}{:>8}{:>10}\n", "file", "MB", "ms", "MB/s", "% run", "wait ms");
  std::string phases = fmt::format("\n{:<28}", "ms of a rank in each phase");
  for (const char* name : {"open", "meta", "pack", "exch", "write", "sync", "commit", "other"}) {
    phases += fmt::format("{:>{}}", name, kPhaseColumns);
  }
  phases += "\n";
  double io_seconds = 0;
  for (const WrittenFile& f : files) {
    io_seconds += seconds_of(f);
    const std::string name = std::filesystem::path(f.path).filename().string();
    const double megabytes = static_cast<double>(f.useful_bytes) / 1e6;
    text += fmt::format("{:<28}{:>10.2f}{:>10.1f}{:>8.0f}{:>8.2f}{:>10.1f}\n", name, megabytes, f.seconds * 1e3,
                        megabytes / f.seconds, 100 * seconds_of(f) / run_seconds, f.wait_seconds * 1e3);
    double other_seconds = f.seconds;
    phases += fmt::format("{:<28}", name);
    for (Phase phase : kPhasesOfAWrite) {
      phases += ms_text(f.phases[phase]);
      other_seconds -= f.phases[phase];
    }
    phases += ms_text(std::max(other_seconds, 0.0)) + "\n";
  }
  return text + phases +
         fmt::format(
             "\n"
             "MB: what the program stored, without headers and checksums\n"
             "wait: for a commit in the background, before the next one or at the end of\n"
             "  the run; the slowest rank\n"
             "other: waiting for the slowest rank, and what no phase counts\n"
             "{}, {:.2f} s of {:.2f} s run time were I/O ({:.1f} %)\n",
             counted_text(static_cast<int64_t>(files.size()), "file"), io_seconds, run_seconds, 100 * io_seconds / run_seconds);
}

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

// Returns the parameters of the run. After a restart those that were not given are the
// checkpoint's.
json parameters_json(const SedovArguments& a, const SedovOptions& o) {
  return {{"dim", o.dim},
          {"nxb", o.nxb},
          {"min_level", o.min_level},
          {"max_level", o.max_level},
          {"root_blocks", o.root_blocks},
          {"boundary", o.boundary == flash::Boundary::kPeriodic  ? "periodic"
                       : o.boundary == flash::Boundary::kReflect ? "reflect"
                                                                 : "outflow"},
          {"steps", o.max_steps},
          {"tend", std::isfinite(o.end_time) ? json(o.end_time) : json(nullptr)},
          {"cfl", o.cfl},
          {"gamma", o.problem.gamma},
          {"energy", o.problem.energy},
          {"refine_every", o.refine_every},
          {"out", a.output.directory},
          {"base", a.output.base},
          {"checkpoint_every", a.checkpoint_steps},
          {"checkpoint_seconds", a.checkpoint_seconds},
          {"plot_every", a.plot_steps},
          {"plot_seconds", a.plot_seconds},
          {"plot_variables", a.output.plot_variables},
          {"corners", a.output.corners},
          {"keep", a.output.keep},
          {"layout", a.layout},
          {"restart", a.restart},
          {"sync", a.output.sync},
          {"hints", a.output.hints}};
}

json report_json(MPI_Comm comm, const SedovArguments& a, SedovRun& run, const std::vector<WrittenFile>& files, json physics,
                 double run_seconds) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  json list = json::array();
  double io_seconds = 0;
  for (const WrittenFile& file : files) {
    list.push_back(file_json(file, run_seconds));
    io_seconds += seconds_of(file);
  }
  return {{"ranks", ranks},
          {"parameters", parameters_json(a, run.options())},
          {"run_seconds", run_seconds},
          {"io_seconds", io_seconds},
          {"io_share", io_seconds / run_seconds},
          {"result", std::move(physics)},
          {"modes", kinds_json(files)},
          {"files", list}};
}

}  // namespace

void report_sedov(MPI_Comm comm, const SedovArguments& arguments, SedovRun& run, const std::vector<WrittenFile>& files,
                  double run_seconds) {
  json physics = physics_json(run);
  print(comm,
        fmt::format("\nshock at r = {:.4f}, the analytic solution has {:.4f} (finest cell {:.4f})\n"
                    "mass {:.15g}, energy {:.15g}\n\n",
                    physics["shock_radius"].get<double>(), physics["exact_shock_radius"].get<double>(),
                    physics["finest_cell"].get<double>(), physics["mass"].get<double>(), physics["energy"].get<double>()));
  print(comm, files_table(files, run_seconds));
  if (!arguments.json_path.empty()) {
    write_text(comm, arguments.json_path,
               report_json(comm, arguments, run, files, std::move(physics), run_seconds)
                       .dump(2, ' ', false, json::error_handler_t::replace) +
                   "\n");
  }
}

}  // namespace stria::tool
