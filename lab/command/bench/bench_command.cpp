// stria bench WORKLOAD: one access pattern through one interface.
#include "bench/bench_command.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/text.hpp"
#include "stria/status.hpp"
#include "stria/trace.hpp"

namespace stria::tool {

namespace {

using bench::BenchOptions;
using bench::WorkloadKind;

struct BenchArguments {
  BenchOptions options;
  std::vector<std::string> hints;
  std::string json_path;
  std::string csv_path;
  std::string trace_directory;
  bool independent = false;
  bool no_checksums = false;
};

const std::vector<std::string> kPosixMethods{"automatic", "multiple", "list_io", "contiguous"};
const std::vector<std::string> kLibraryMethods{"automatic",    "multiple", "list_io",  "datatype_io",
                                               "data_sieving", "hybrid",   "two_phase"};

// The method is a hint to the library, and to MPI-IO where that is the drop-in.
void settle_method(BenchArguments& arguments) {
  BenchOptions& options = arguments.options;
  const bool posix = options.through == "posix";
  const auto& methods = posix ? kPosixMethods : kLibraryMethods;
  if (std::find(methods.begin(), methods.end(), options.layer.method) == methods.end()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("--method {}: with --through {} one of {}", options.layer.method,
                                                         options.through, fmt::join(methods, ", ")));
  }
  if (!posix && options.layer.method != "automatic") {
    options.layer.hints["stria_method"] = options.layer.method;
  }
}

int run_bench(MPI_Comm comm, BenchArguments& arguments) {
  BenchOptions& options = arguments.options;
  options.layer.hints = parse_hints(comm, arguments.hints);
  options.layer.collective = !arguments.independent;
  options.layer.checksums = !arguments.no_checksums;
  settle_method(arguments);
  for (const std::string& path : {arguments.json_path, arguments.csv_path}) {
    if (!path.empty()) {
      check_writable(comm, path);
    }
  }
  if (arguments.trace_directory.empty()) {
    trace::start_from_environment(comm);
  } else {
    trace::start(comm, {trace::Level::kFull, arguments.trace_directory});
  }
  BenchRun told{options};
  MPI_Comm_size(comm, &told.ranks);
  print(comm, fmt::format("{} through {}: {}, {}, in {}\n", options.kind->name, options.through,
                          counted_text(told.ranks, "rank"), counted_text(options.rounds, "round"), options.directory));
  const auto result = bench::run_benchmark(comm, options, [&](const std::string& line) { print(comm, "  " + line + "\n"); });
  print(comm, "\n" + bench_text(told, result));
  if (!arguments.json_path.empty()) {
    write_text(comm, arguments.json_path, bench_json(told, result));
  }
  if (!arguments.csv_path.empty()) {
    write_text(comm, arguments.csv_path, bench_csv(told, result));
  }
  if (!arguments.trace_directory.empty()) {
    print(comm, fmt::format("trace: {}\n", trace::finish()));
  }
  return kDone;
}

void add_sizes(Command command, const WorkloadKind& kind, bench::Chosen& chosen) {
  chosen = kind.standards();
  for (const bench::Parameter& parameter : kind.parameters) {
    command.add_option("--" + parameter.name, chosen.numbers[parameter.name], parameter.help)
        .check(in_range(parameter.lowest, parameter.highest));
  }
  for (const bench::Choice& choice : kind.choices) {
    command.add_option("--" + choice.name, chosen.words[choice.name], choice.help).check(one_of(choice.words));
  }
}

void add_workload(Command bench, const WorkloadKind& kind, Action& action) {
  auto arguments = std::make_shared<BenchArguments>();
  BenchOptions& options = arguments->options;
  options.kind = &kind;
  Command command = bench.add_subcommand(kind.name, kind.help);
  command.take_last_and_show_defaults();
  add_sizes(command, kind, options.chosen);
  command.add_option("--through", options.through, "the interface: the library, MPI-IO, or plain requests")
      .check(one_of({"library", "mpiio", "posix"}));
  command.add_option("--method", options.layer.method, "how noncontiguous data travel");
  command.add_flag("--independent", arguments->independent, "MPI-IO: independent calls, not collective ones");
  command.add_option("--list-regions", options.layer.list_regions, "posix: stretches of a list").check(in_range(1, 1 << 20));
  command.add_option("--dir", options.directory, "where the files go, also stria://SERVER/PATH").check(not_empty());
  command.add_option("--rounds", options.rounds, "counted rounds, after one that warms up").check(in_range(1, 10000));
  command.add_flag("--read", options.read, "also read back");
  command.add_option("--reads-from", options.reads_from, "each rank reads what the rank so many further on wrote")
      .check(in_range(0, 1 << 20));
  command.add_flag("--verify", options.verify, "check every byte in the file, and every byte read");
  command.add_flag("--sync", options.layer.sync, "make every file survive a power loss");
  command.add_flag("--no-checksums", arguments->no_checksums, "library: store no checksums");
  command.add_flag("--keep", options.keep, "leave the files of the last round");
  command.add_option("--hint", arguments->hints, "name=value, as in docs/hints.md; may be repeated")
      .take_all()
      .shown_default("");
  command.add_option("--json", arguments->json_path, "write the results there too").check(not_empty());
  command.add_option("--csv", arguments->csv_path, "write the results there as a table").check(not_empty());
  command.add_option("--trace", arguments->trace_directory, "record everything, into this directory").check(not_empty());
  command.callback(
      [arguments, &action] { action = over_mpi([arguments](MPI_Comm comm) { return run_bench(comm, *arguments); }); });
}

}  // namespace

void add_bench(Command app, Action& action) {
  Command bench = app.add_subcommand("bench", "access patterns through the library, MPI-IO or plain requests");
  bench.require_subcommand();
  for (const WorkloadKind& kind : bench::workload_kinds()) {
    add_workload(bench, kind, action);
  }
}

}  // namespace stria::tool
