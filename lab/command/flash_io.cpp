// stria flash io: the FLASH I/O benchmark.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands_of_mpi.hpp"
#include "file_options.hpp"
#include "folded.hpp"
#include "format/flash_file.hpp"
#include "io/benchmark.hpp"
#include "ranks_of_mpi.hpp"
#include "report/text.hpp"
#include "spread.hpp"
#include "stria/trace.hpp"

namespace stria::tool {

namespace {

using flash::IoOptions;
using flash::ModeResult;
using nlohmann::json;

struct FlashIoArguments {
  IoOptions options;
  Command command;  // tells which options were given
  std::string layout = "both";
  bool plot_files = false;
  bool no_checksums = false;
  std::vector<std::string> hints;
  std::string json_path;
};

json mode_json(const ModeResult& mode, bool verified) {
  const std::vector<double> rates = megabytes_per_second(static_cast<double>(mode.useful_bytes), mode.seconds);
  json phases = json::object();
  for (const auto& [name, values] : mode.phases) {
    phases[name] = spread(values).median;
  }
  json result = {{"name", mode.name},
                 {"kind", mode.kind},
                 {"useful_bytes", mode.useful_bytes},
                 {"file_bytes", mode.file_bytes > 0 ? json(mode.file_bytes) : json(nullptr)},
                 {"seconds", as_json(spread(mode.seconds))},
                 {"mbps", as_json(spread(rates))},
                 {"phases", phases},
                 {"rounds_seconds", mode.seconds},
                 {"memory_growth_bytes", mode.memory_bytes < 0 ? json(nullptr) : json(mode.memory_bytes)},
                 {"verified", verified ? json(true) : json(nullptr)}};
  if (!mode.method.empty()) {
    result["method"] = mode.method;
    result["reason"] = mode.reason;
  }
  if (!mode.file.empty()) {
    result["file"] = mode.file;
  }
  return result;
}

// Returns the blocks of all ranks, whose numbers may differ.
int64_t total_blocks(const IoOptions& options, int ranks) {
  int64_t sum = options.total_blocks;
  for (int rank = 0; rank < ranks && options.total_blocks == 0; ++rank) {
    sum += options.workload.blocks_on(rank);
  }
  return sum;
}

json report_json(const std::vector<ModeResult>& modes, const FlashIoArguments& arguments, int ranks) {
  const IoOptions& options = arguments.options;
  json list = json::array();
  for (const ModeResult& mode : modes) {
    list.push_back(mode_json(mode, options.verify));
  }
  return {{"ranks", ranks},
          {"parameters",
           {{"nxb", options.workload.nxb},
            {"nvar", options.workload.nvar},
            {"blocks", options.workload.blocks_per_rank},
            {"total_blocks", total_blocks(options, ranks)},
            {"layout", arguments.layout},
            {"format", format_name(options.format)},
            {"plotfile", options.plot_files},
            {"async", options.in_background},
            {"read", options.read},
            {"limits", options.limits},
            {"keep", options.keep},
            {"read_from", options.read_from},
            {"values", options.values},
            {"guard_cells", options.workload.guard_cells},
            {"rounds", options.rounds},
            {"dir", options.directory},
            {"sync", options.sync},
            {"checksums", options.checksums},
            {"compress", options.compress},
            {"names", options.named},
            {"verified", options.verify},
            {"plot_variables", options.plot_variables},
            {"hints", options.hints}}},
          {"modes", list}};
}

std::string phase_text(const ModeResult& mode) {
  std::string text;
  for (const char* name : {"open", "metadata", "pack", "exchange", "write", "read", "unpack", "sync", "commit"}) {
    auto found = mode.phases.find(name);
    double ms = found == mode.phases.end() ? 0 : spread(found->second).median * 1e3;
    if (ms >= 0.05) {
      text += fmt::format("{}{} {:.1f}", text.empty() ? "" : ", ", name, ms);
    }
  }
  return text;
}

std::string table(const std::vector<ModeResult>& modes) {
  std::string text = fmt::format("{:<18}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "mode", "MB", "MB/s", "min", "max", "extra MB");
  std::string phases;
  for (const ModeResult& mode : modes) {
    json j = mode_json(mode, false);
    text += fmt::format("{:<18}{:>10.1f}{:>10.0f}{:>10.0f}{:>10.0f}{:>10}\n", mode.name,
                        static_cast<double>(mode.useful_bytes) / 1e6, j["mbps"]["median"].get<double>(),
                        j["mbps"]["min"].get<double>(), j["mbps"]["max"].get<double>(),
                        mode.memory_bytes < 0 ? "-" : fmt::format("{:.1f}", static_cast<double>(mode.memory_bytes) / 1e6));
    const std::string spent = phase_text(mode);
    phases += spent.empty() ? "" : folded(fmt::format("{:<18}{}", mode.name, spent), 18);
  }
  text += "extra MB: the most memory that a rank held above its own arrays\n";
  return text + (phases.empty() ? "" : "\nms of a rank in each phase\n" + phases);
}

int run_flash_io(MPI_Comm comm, FlashIoArguments& arguments) {
  IoOptions& options = arguments.options;
  if (arguments.command.count("--plot-variables") > 0 && options.plot_variables > options.workload.nvar) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("--plot-variables {}: a plot file holds some of the {} variables",
                                                         options.plot_variables, options.workload.nvar));
  }
  options.standard = arguments.layout != "experimental";
  options.experimental = arguments.layout != "standard";
  options.plot_files = arguments.plot_files;
  options.checksums = !arguments.no_checksums;
  options.hints = parse_hints(comm, arguments.hints);
  if (options.read_from.empty()) {
    const Filters filters = options.compress.empty() ? Filters() : Filters::from_text(options.compress);
    flash::check_form({.filters = filters}, options.format, options.hints);
  }
  if (!arguments.json_path.empty()) {
    check_writable(comm, arguments.json_path);
  }
  trace::start_from_environment(comm);
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  std::string what = options.read_from.empty()
                         ? fmt::format("blocks of {}^3 cells, {} variables", options.workload.nxb, options.workload.nvar)
                         : "reading " + options.read_from;
  print(comm, fmt::format("FLASH I/O: {}, {}, {}, in {}\n", counted_text(ranks, "rank"), what,
                          counted_text(options.rounds, "round"), options.directory));
  auto modes = flash::run_io_benchmark(
      comm, options, [&](const std::string& line) { print(comm, "  " + line + "\n"); },
      [&](const std::string& warning) { warn(comm, warning); });
  print(comm, "\n" + table(modes));
  if (options.verify) {
    print(comm, "every value of every file was checked\n");
  }
  if (!arguments.json_path.empty()) {
    write_text(comm, arguments.json_path, report_json(modes, arguments, ranks).dump(2) + "\n");
  }
  return kDone;
}

}  // namespace

void add_flash_io(Command flash, Action& action) {
  auto arguments = std::make_shared<FlashIoArguments>();
  IoOptions& options = arguments->options;
  Command command = flash.add_subcommand("io", "the FLASH I/O benchmark: checkpoint, plot file, plot file with corners");
  arguments->command = command;
  command.take_last_and_show_defaults();
  command.add_option("--nxb", options.workload.nxb, "cells of a block along each axis").check(in_range(2, 256));
  command.add_option("--nvar", options.workload.nvar, "variables of a cell").check(in_range(1, 1000));
  command.add_option("--blocks", options.workload.blocks_per_rank, "blocks on every rank (default: 80 + rank mod 3)")
      .check(in_range(1, 1000000))
      .shown_default("");
  command.add_option("--guard-cells", options.workload.guard_cells, "layers of guard cells").check(in_range(1, 16));
  command.add_option("--rounds", options.rounds, "counted rounds, after one that warms up").check(in_range(1, 10000));
  command.add_option("--dir", options.directory, "where the files go").check(not_empty());
  command.add_option("--layout", arguments->layout, "of the checkpoint").check(one_of({"standard", "experimental", "both"}));
  add_format(command, options.format);
  command.add_option("--plot-variables", options.plot_variables, "variables of a plot file").check(in_range(1, 1000));
  command.add_flag("--plotfile", arguments->plot_files, "also write the plot files, centred and with corners");
  command.add_flag("--async", options.in_background,
                   "also commit a checkpoint in the background, and time the call alone; with --limits also packing alone");
  command.add_flag("--read", options.read, "also read a checkpoint back into the blocks");
  command
      .add_option("--read-from", options.read_from,
                  "only read this checkpoint of another run with --keep, on these ranks, however many wrote it")
      .check(not_empty());
  const Option values =
      command.add_option("--values", options.values, "the blocks' values: doubles of this file, again and again")
          .check(existing_file());
  command.add_flag("--limits", options.limits, "also write with plain system calls: what the machine can do");
  command.add_flag("--sync", options.sync, "make every file survive a power loss");
  command.add_flag("--no-checksums", arguments->no_checksums, "store no checksums");
  add_compress(command, options.compress);
  command.add_flag("--names", options.named, "names of dimensions in the HDF5 checkpoints, for xarray");
  command.add_flag("--verify", options.verify, "check every value of every file").excludes(values);
  command.add_flag("--keep", options.keep, "leave the files of the last round");
  command.add_option("--hint", arguments->hints, "name=value, as in docs/hints.md; may be repeated")
      .take_all()
      .shown_default("");
  command.add_option("--json", arguments->json_path, "write the results there too").check(not_empty());
  command.callback(
      [arguments, &action] { action = over_mpi([arguments](MPI_Comm comm) { return run_flash_io(comm, *arguments); }); });
}

}  // namespace stria::tool
