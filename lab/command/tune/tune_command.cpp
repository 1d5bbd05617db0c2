#include "tune/tune_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "report/text.hpp"
#include "run/run.hpp"
#include "spread.hpp"
#include "stria/status.hpp"
#include "tune/candidates.hpp"
#include "tune/machine_figures.hpp"
#include "tune/measuring.hpp"
#include "tune/model_search.hpp"
#include "tune/past.hpp"
#include "tune/pattern.hpp"
#include "tune/race.hpp"
#include "tune/storage_figures.hpp"
#include "tune/supervisor.hpp"

namespace stria::tool {

namespace {

struct TuneArguments {
  std::string directory = ".";
  std::string workload;
  std::vector<std::string> sizes;
  std::string through = "library";
  double budget_s = 60;
  bool read = false;
  std::string output = "stria.hints";
  std::string machine;      ///< machine of a model, on which the search goes on; empty: the storage
  int ranks = 0;            ///< the ranks of the model
  std::string description;  ///< where a machine for `stria simulate` goes; empty for nowhere
  std::string mpiexec;
  double limit_s = 0;
  std::string past;  ///< what a watcher (supervisor.hpp) knows; empty without one
  Command command;
};

constexpr size_t kTableRows = 8;
/// The part of the budget for the figures of the storage.
constexpr double kFiguresPart = 0.15;

std::string table(const Verdict& verdict) {
  std::string text = fmt::format("\n{:>8}{:>8}   hints\n{:>8.2f}{:>8}   defaults: {:.1f} ms\n", "faster", "rounds", 1.0, "",
                                 verdict.default_s * 1e3);
  for (size_t i = 0; i < std::min(kTableRows, verdict.runners.size()); ++i) {
    const Runner& runner = verdict.runners[i];
    text += fmt::format("{:>8.2f}{:>8}   {}\n", spread(runner.ratios).median, runner.ratios.size(), in_words(runner.hints));
  }
  return text;
}

std::string hints_file(const TuneArguments& arguments, int ranks, const std::vector<std::string>& figures,
                       const Verdict& verdict) {
  std::string text =
      fmt::format("# Written by `stria tune` for {} through {}{}, {} ranks, in {}.\n", arguments.workload, arguments.through,
                  arguments.sizes.empty() ? "" : fmt::format(" ({})", fmt::join(arguments.sizes, ", ")), ranks,
                  arguments.machine.empty() ? arguments.directory : "the model of " + arguments.machine);
  for (const std::string& line : figures) {
    text += fmt::format("# Here {}.\n", line);
  }
  if (!verdict.runners.empty()) {
    text += fmt::format("# Best of {} candidates: {}\n# {}.\n", verdict.runners.size(), in_words(verdict.runners[0].hints),
                        verdict.reason);
  } else {
    text += fmt::format("# {}.\n", verdict.reason);
  }
  if (!verdict.is_better) {
    return text + "# Nothing beats the defaults by more than the noise, so there are no hints here.\n";
  }
  for (const auto& [name, value] : verdict.runners[0].hints) {
    text += fmt::format("# {}\n{} {}\n", meaning(name), name, value);
  }
  return text;
}

// Runs the same command on ranks.
int on_ranks(const TuneArguments& arguments) {
  std::vector<std::string> words{"sh", "-c", "exec " + arguments.mpiexec + " \"$0\" \"$@\"", own_program(), "tune"};
  for (const Option& option : arguments.command.options()) {
    const OptionFacts facts = option.facts();
    for (const std::string& value : facts.given) {
      if (facts.name != "--mpiexec") {
        words.push_back(facts.is_flag ? facts.name : facts.name + "=" + value);
      }
    }
  }
  return supervise(words, {arguments.limit_s, arguments.budget_s});
}

void print_outcome(MPI_Comm comm, const TuneArguments& arguments, const Verdict& verdict) {
  print(comm, table(verdict));
  if (verdict.is_better) {
    print(comm, fmt::format("\n{}\n{}\nwritten to {}: STRIA_HINTS_FILE={} applies them\n", in_words(verdict.runners[0].hints),
                            verdict.reason, arguments.output, arguments.output));
  } else {
    print(comm, fmt::format("\nnothing beats the defaults by more than the noise ({}): {} has no hints\n", verdict.reason,
                            arguments.output));
  }
}

double seconds_on_model(const simulate::Machine& machine, simulate::RunOptions options, bool reads_too) {
  const double seconds = simulate::run(machine, options).value().seconds;
  if (!reads_too || options.reads) {
    return seconds;
  }
  options.reads = true;
  return seconds + simulate::run(machine, options).value().seconds;
}

// Searches on the model of a machine. Rank 0 works, since all of its ranks are simulated.
void search_on_model(const TuneArguments& arguments, const Pattern& pattern) {
  if (arguments.ranks < 1) {
    throw Error(ErrorCode::kInvalidArgument, "--machine: --ranks says of how many ranks the model is");
  }
  const simulate::Machine modelled = simulate::find_machine(arguments.machine).value();
  const bench::BenchOptions chosen = options_of(pattern, arguments.sizes);
  simulate::RunOptions options;
  options.kind = chosen.kind;
  options.chosen = chosen.chosen;
  options.ranks = arguments.ranks;
  options.through = arguments.through == "library" ? "library" : "calls";
  options.reads = pattern.only_reads;
  const double begin_s = MPI_Wtime();
  Track track;
  track.budget_s = arguments.budget_s;
  track.now = [&] { return MPI_Wtime() - begin_s; };
  track.progress = [&](const std::string& line) { print(MPI_COMM_SELF, fmt::format("  {:5.1f} s: {}\n", track.now(), line)); };
  track.run = [&](const Hints& hints) {
    options.hints = hints;
    return seconds_on_model(modelled, options, arguments.read);
  };
  print(MPI_COMM_SELF, fmt::format("tuning {} through {} on the model of {}: {} ranks, at most {:.0f} s\n", arguments.workload,
                                   arguments.through, modelled.title, arguments.ranks, arguments.budget_s));
  const Verdict verdict = search_model(track, stages({arguments.ranks, true, modelled.servers.count}));
  write_text(MPI_COMM_SELF, arguments.output,
             hints_file(arguments, arguments.ranks, {"all is simulated, on " + modelled.title}, verdict));
  print_outcome(MPI_COMM_SELF, arguments, verdict);
}

int run_tune(MPI_Comm comm, const TuneArguments& arguments) {
  if (comm == MPI_COMM_NULL) {
    return on_ranks(arguments);
  }
  check_writable(comm, arguments.output);
  if (!arguments.description.empty()) {
    check_writable(comm, arguments.description);
  }
  unsetenv("STRIA_HINTS_FILE");  // the defaults are meant, not what was tuned before
  unsetenv("STRIA_HINTS");
  const Pattern pattern = pattern_of(comm, arguments.workload);
  if (!arguments.machine.empty()) {
    on_root(comm, [&] { search_on_model(arguments, pattern); });
    return kDone;
  }
  bench::BenchOptions options = options_of(pattern, arguments.sizes);
  options.through = arguments.through;
  options.read |= arguments.read;
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  const Place place(comm, arguments.directory);
  options.directory = place.path();
  Measuring measuring(comm, options, pattern.only_reads, arguments.past);
  measuring.tell("place " + place.made());
  if (!measuring.was_said()) {
    print(comm, fmt::format("tuning {} through {}: {}, at most {:.0f} s, in {}\n{}", arguments.workload, arguments.through,
                            counted_text(ranks, "rank"), arguments.budget_s, arguments.directory,
                            pattern.told.empty() ? "" : fmt::format("  {}\n", pattern.told)));
  }
  const Machine machine{ranks, is_store(arguments.directory)};
  Track track;
  track.budget_s = arguments.budget_s;
  track.now = [&] { return measuring.now(); };
  track.progress = [&](const std::string& line) {
    if (!measuring.was_said()) {
      print(comm, fmt::format("  {:5.1f} s: {}\n", track.now(), line));
    }
  };
  track.run = [&](const Hints& hints) { return measuring.run(hints); };
  track.run({});  // what can't be at all is said before anything else
  const auto figures = in_sentences(measure_storage(measuring, machine, kFiguresPart * arguments.budget_s));
  for (const std::string& line : figures) {
    track.progress(line);
  }
  if (!arguments.description.empty()) {
    track.progress("the machine for stria simulate");
    write_text(comm, arguments.description, described_machine(comm, measuring, options.directory));
  }
  const Verdict verdict = race(track, candidates(machine), stages(machine));
  write_text(comm, arguments.output, hints_file(arguments, ranks, figures, verdict));
  print_outcome(comm, arguments, verdict);
  return kDone;
}

}  // namespace

bool starts_ranks(int argc, char** argv) {
  return argc > 1 && std::string_view(argv[1]) == "tune" &&
         std::any_of(argv + 2, argv + argc, [](const char* word) { return std::string_view(word).rfind("--mpiexec", 0) == 0; });
}

void add_tune(Command app, Action& action) {
  auto arguments = std::make_shared<TuneArguments>();
  Command command = app.add_subcommand("tune", "find the hints with which a workload runs fastest on a storage");
  arguments->command = command;
  command.take_last_and_show_defaults();
  command.add_option("--dir", arguments->directory, "the storage: a directory, or stria://SERVER/PATH").check(not_empty());
  command.add_option("--for", arguments->workload, "a workload of stria bench, or a trace whose requests are played again")
      .required()
      .check(known_pattern())
      .shown_default("");
  command.add_option("--size", arguments->sizes, "name=value, an option of that workload; may be repeated")
      .take_all()
      .shown_default("");
  command.add_option("--through", arguments->through, "the interface: the library, or MPI-IO on the preloaded drop-in")
      .check(one_of({"library", "mpiio"}));
  command.add_option("--budget", arguments->budget_s, "seconds").check(between(0.1, 1e6));
  command.add_flag("--read", arguments->read, "reading counts too");
  command
      .add_option("--limit", arguments->limit_s,
                  "seconds after which a candidate is given up, with --mpiexec; default: 4 times what the defaults take")
      .check(between(0.1, 1e6))
      .shown_default("");
  command.add_option("-o,--output", arguments->output, "the hints file to write").check(not_empty());
  command.add_option("--machine", arguments->machine, "search on the model of this machine (stria simulate), not on a storage")
      .check(not_empty())
      .shown_default("");
  command.add_option("--ranks", arguments->ranks, "of that machine").check(in_range(1, 1 << 20)).shown_default("");
  command.add_option("--describe", arguments->description, "measure the machine too, and write it there for stria simulate")
      .check(not_empty())
      .shown_default("");
  command
      .add_option("--mpiexec", arguments->mpiexec, "starts the ranks, as in \"mpiexec -n 4\"; without it, the ranks are these")
      .check(not_empty())
      .shown_default("");
  command.add_option(kPastOption, arguments->past, "").hidden();  // for supervisor.cpp
  command.callback(
      [arguments, &action] { action = over_mpi([arguments](MPI_Comm comm) { return run_tune(comm, *arguments); }); });
}

}  // namespace stria::tool
