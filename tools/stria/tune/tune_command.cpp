#include "tune/tune_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "agree.hpp"
#include "run/benchmark.hpp"
#include "spread.hpp"
#include "stria/status.hpp"
#include "tune/candidates.hpp"
#include "tune/race.hpp"

namespace stria::tool {

namespace {

using bench::BenchOptions;
using bench::WorkloadKind;

struct Arguments {
  std::string directory = ".";
  std::string workload;
  std::vector<std::string> sizes;
  std::string through = "library";
  double budget_s = 60;
  bool read = false;
  std::string output = "stria.hints";
  std::string mpiexec;
  CLI::App* command = nullptr;
};

constexpr size_t kTableRows = 8;

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const WorkloadKind& kind : bench::workload_kinds()) {
    names.push_back(kind.name);
  }
  return names;
}

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

// An entry "name=value" of --size, as the option --name of `stria bench`.
void set_size(BenchOptions& options, const std::string& entry) {
  const size_t equals = std::min(entry.find('='), entry.size());
  const std::string name = entry.substr(0, equals), value = entry.substr(std::min(equals + 1, entry.size()));
  for (const bench::Parameter& parameter : options.kind->parameters) {
    if (parameter.name == name) {
      int64_t number = 0;
      if (!CLI::detail::lexical_cast(value, number) || number < parameter.lowest || number > parameter.highest) {
        refuse(fmt::format("--size {}: a number from {} to {} is needed", entry, parameter.lowest, parameter.highest));
      }
      options.chosen.numbers[name] = number;
      return;
    }
  }
  for (const bench::Choice& choice : options.kind->choices) {
    if (choice.name == name && std::find(choice.words.begin(), choice.words.end(), value) != choice.words.end()) {
      options.chosen.words[name] = value;
      return;
    }
  }
  refuse(fmt::format("--size {}: not a size of this workload (stria bench {} --help)", entry, options.kind->name));
}

BenchOptions bench_options(const Arguments& arguments) {
  BenchOptions options;
  for (const WorkloadKind& kind : bench::workload_kinds()) {
    if (kind.name == arguments.workload) {
      options.kind = &kind;
    }
  }
  options.chosen = options.kind->standards();
  for (const std::string& size : arguments.sizes) {
    set_size(options, size);
  }
  options.through = arguments.through;
  options.rounds = 1;
  options.warm_up = false;
  options.read = arguments.read;
  return options;
}

/// A directory of its own for the files, so that hints of earlier days (`.stria-hints`) don't
/// change the defaults. It goes with its files. A store has neither.
class Place {
 public:
  Place(MPI_Comm comm, const std::string& directory) : comm_(comm), path_(directory) {
    if (is_store(directory)) {
      return;
    }
    std::string name = directory + "/stria_tune.XXXXXX";
    on_root(comm, [&] {
      if (mkdtemp(name.data()) == nullptr) {
        Status::from_errno(errno, fmt::format("make a directory in '{}'", directory)).throw_if_error();
      }
    });
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, comm);
    path_ = made_ = name;
  }
  ~Place() {
    int rank = 0;
    MPI_Comm_rank(comm_, &rank);
    std::error_code ignored;
    if (rank == 0 && !made_.empty()) {
      std::filesystem::remove_all(made_, ignored);
    }
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  const std::string& path() const { return path_; }

 private:
  MPI_Comm comm_;
  std::string path_;
  std::string made_;
};

// Rank 0's clock decides for all.
double shared(MPI_Comm comm, double value) {
  MPI_Bcast(&value, 1, MPI_DOUBLE, 0, comm);
  return value;
}

// Of one write, and of one read where that counts. Hints may ask for more memory than there is; the
// defaults must not fail.
double seconds_of(MPI_Comm comm, const BenchOptions& options) {
  try {
    const auto result = bench::run_benchmark(comm, options, [](const std::string&) {});
    return shared(comm, spread(result.write.seconds).median + spread(result.read.seconds).median);
  } catch (const Error&) {
    if (options.layer.hints.empty()) {
      throw;
    }
    return std::numeric_limits<double>::infinity();
  }
}

std::string table(const Verdict& verdict) {
  std::string text = fmt::format("\n{:>8}{:>8}   hints\n{:>8.2f}{:>8}   defaults: {:.1f} ms\n", "faster", "rounds", 1.0, "",
                                 verdict.default_s * 1e3);
  for (size_t i = 0; i < std::min(kTableRows, verdict.runners.size()); ++i) {
    const Runner& runner = verdict.runners[i];
    text += fmt::format("{:>8.2f}{:>8}   {}\n", spread(runner.ratios).median, runner.ratios.size(), in_words(runner.hints));
  }
  return text;
}

std::string hints_file(const Arguments& arguments, int ranks, const Verdict& verdict) {
  std::string text = fmt::format(
      "# Written by `stria tune` for {} through {}{}, {} ranks, in {}.\n", arguments.workload, arguments.through,
      arguments.sizes.empty() ? "" : fmt::format(" ({})", fmt::join(arguments.sizes, ", ")), ranks, arguments.directory);
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

// Becomes the launcher, which starts the same command on ranks.
[[noreturn]] void start_ranks(const Arguments& arguments) {
  std::vector<std::string> words{"sh", "-c", "exec " + arguments.mpiexec + " \"$0\" \"$@\"", own_program(), "tune"};
  for (const CLI::Option* option : arguments.command->get_options()) {
    for (const std::string& value : option->results()) {
      if (option->get_name() != "--mpiexec") {
        words.push_back(option->get_items_expected_max() == 0 ? option->get_name() : option->get_name() + "=" + value);
      }
    }
  }
  become(std::move(words));
}

int run(MPI_Comm comm, const Arguments& arguments) {
  if (comm == MPI_COMM_NULL) {
    start_ranks(arguments);
  }
  BenchOptions options = bench_options(arguments);
  check_writable(comm, arguments.output);
  unsetenv("STRIA_HINTS_FILE");  // the defaults are meant, not what was tuned before
  unsetenv("STRIA_HINTS");
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  print(comm, fmt::format("tuning {} through {}: {} ranks, at most {:.0f} s, in {}\n", arguments.workload, arguments.through,
                          ranks, arguments.budget_s, arguments.directory));
  const Place place(comm, arguments.directory);
  options.directory = place.path();
  const double begin = MPI_Wtime();
  Track track;
  track.budget_s = arguments.budget_s;
  track.now = [&] { return shared(comm, MPI_Wtime() - begin); };
  track.progress = [&](const std::string& line) { print(comm, fmt::format("  {:5.1f} s: {}\n", MPI_Wtime() - begin, line)); };
  track.run = [&](const Hints& hints) {
    options.layer.hints = hints;
    return seconds_of(comm, options);
  };
  const Verdict verdict = race(track, candidates({ranks, is_store(arguments.directory)}));
  print(comm, table(verdict));
  write_text(comm, arguments.output, hints_file(arguments, ranks, verdict));
  if (verdict.is_better) {
    print(comm, fmt::format("\n{}\n{}\nwritten to {}: STRIA_HINTS_FILE={} applies them\n", in_words(verdict.runners[0].hints),
                            verdict.reason, arguments.output, arguments.output));
  } else {
    print(comm, fmt::format("\nnothing beats the defaults by more than the noise ({}): {} has no hints\n", verdict.reason,
                            arguments.output));
  }
  return kDone;
}

}  // namespace

bool starts_ranks(int argc, char** argv) {
  return argc > 1 && std::string_view(argv[1]) == "tune" &&
         std::any_of(argv + 2, argv + argc, [](const char* word) { return std::string_view(word).rfind("--mpiexec", 0) == 0; });
}

void add_tune(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("tune", "find the hints with which a workload runs fastest on a storage");
  arguments->command = command;
  command->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)->always_capture_default();
  command->add_option("--dir", arguments->directory, "the storage: a directory, or stria://SERVER/PATH")->check(not_empty());
  command->add_option("--for", arguments->workload, "a workload of stria bench")
      ->required()
      ->check(CLI::IsMember(workload_names()))
      ->default_str("");
  command->add_option("--size", arguments->sizes, "name=value, an option of that workload; may be repeated")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->default_str("");
  command->add_option("--through", arguments->through, "the interface: the library, or MPI-IO on the preloaded drop-in")
      ->check(CLI::IsMember({"library", "mpiio"}));
  command->add_option("--budget", arguments->budget_s, "seconds")->check(CLI::Range(0.1, 1e6));
  command->add_flag("--read", arguments->read, "reading counts too");
  command->add_option("-o,--output", arguments->output, "the hints file to write")->check(not_empty());
  command
      ->add_option("--mpiexec", arguments->mpiexec, "starts the ranks, as in \"mpiexec -n 4\"; without it, the ranks are these")
      ->check(not_empty())
      ->default_str("");
  command->callback([arguments, &action] { action = [arguments](MPI_Comm comm) { return run(comm, *arguments); }; });
}

}  // namespace stria::tool
