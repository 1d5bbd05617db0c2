// stria simulate: a workload on so many ranks of a machine that isn't there.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "run/run.hpp"
#include "run/timeline_file.hpp"
#include "stria/status.hpp"
#include "tune/recording.hpp"

namespace stria::tool {

namespace {

using nlohmann::json;
using simulate::Machine;
using simulate::RunOptions;
using simulate::RunOutcome;

struct SimulateArguments {
  RunOptions options;
  std::string machine;
  std::string workload;
  std::string trace;  ///< a trace whose requests are played instead
  std::string timeline;
  std::vector<std::string> settings;
  std::vector<std::string> hints;
  std::vector<std::string> numbers;  ///< numbers that take the place of the machine's
  std::string through;               ///< empty: the library, or as it was recorded
  std::string json_path;
};

const bench::WorkloadKind& kind_of(const std::string& name) {
  const auto& kinds = bench::workload_kinds();
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const bench::WorkloadKind& kind) { return kind.name == name; });
  if (found == kinds.end()) {
    std::string names;
    for (const bench::WorkloadKind& kind : kinds) {
      names += (names.empty() ? "" : ", ") + kind.name;
    }
    throw Error(ErrorCode::kInvalidArgument, fmt::format("--workload {}: it is one of {}", name, names));
  }
  return *found;
}

void set_number(const bench::WorkloadKind& kind, const std::string& name, const std::string& value, bench::Chosen& chosen) {
  for (const bench::Parameter& parameter : kind.parameters) {
    if (parameter.name == name) {
      const int64_t number = std::atoll(value.c_str());
      if (number < parameter.lowest || number > parameter.highest) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("--set {}={}: it is a number from {} to {}", name, value, parameter.lowest, parameter.highest));
      }
      chosen.numbers[name] = number;
      return;
    }
  }
  for (const bench::Choice& choice : kind.choices) {
    if (choice.name == name) {
      if (std::find(choice.words.begin(), choice.words.end(), value) == choice.words.end()) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("--set {}={}: it is one of {}", name, value, fmt::join(choice.words, ", ")));
      }
      chosen.words[name] = value;
      return;
    }
  }
  throw Error(ErrorCode::kInvalidArgument, fmt::format("--set {}: workload '{}' has no such parameter", name, kind.name));
}

bench::Chosen chosen_of(const bench::WorkloadKind& kind, const std::vector<std::string>& settings) {
  bench::Chosen chosen = kind.standards();
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("--set {}: NAME=VALUE is wanted", setting));
    }
    set_number(kind, setting.substr(0, equals), setting.substr(equals + 1), chosen);
  }
  return chosen;
}

double rate_of(const RunOutcome& outcome) {
  return static_cast<double>(outcome.useful_bytes) / outcome.seconds / 1e6;
}

std::string text_of(const Machine& machine, const RunOptions& options, const RunOutcome& outcome) {
  std::string text = fmt::format("{}\n{} {} {}, {} ranks of {} a node, simulated\n\n", machine.title, options.kind->name,
                                 options.reads ? "read through" : "written through", options.through, options.ranks,
                                 machine.nodes.ranks_per_node);
  text += fmt::format("{:>12}{:>12}{:>12}{:>12}{:>14}{:>12}\n", "s", "open s", "MB", "MB/s", "requests", "messages");
  text += fmt::format("{:>12.4f}{:>12.4f}{:>12.1f}{:>12.1f}{:>14}{:>12}\n\n", outcome.seconds, outcome.open_s,
                      static_cast<double>(outcome.useful_bytes) / 1e6, rate_of(outcome), outcome.store.requests,
                      outcome.traffic.messages);
  text += fmt::format("busy: the busiest server {:.4f} s, a server on average {:.4f} s, metadata {:.4f} s, locks {:.4f} s\n",
                      outcome.busiest_server_s, outcome.mean_server_s, outcome.metadata_s, outcome.locks_s);
  text += fmt::format(
      "servers: {} requests not behind the one before, {} parts of blocks; locks: {} granted, {} revoked, {} of those flushed\n",
      outcome.store.seeks, outcome.store.part_blocks, outcome.store.grants, outcome.store.revocations, outcome.store.flushes);
  if (!outcome.method.empty()) {
    text += fmt::format("method: {} ({})", outcome.method, outcome.reason);
    text += outcome.aggregators > 0 ? fmt::format(", {} aggregators\n", outcome.aggregators) : "\n";
  }
  return text;
}

constexpr size_t kSizesShown = 16;

/// Returns the most common sizes of writes, the most common first.
json write_sizes_of(const RunOutcome& outcome) {
  std::vector<std::pair<int64_t, int64_t>> sizes(outcome.store.write_sizes.begin(), outcome.store.write_sizes.end());
  std::stable_sort(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  sizes.resize(std::min(sizes.size(), kSizesShown));
  json list = json::array();
  for (const auto& [bytes, count] : sizes) {
    list.push_back({{"bytes", bytes}, {"count", count}});
  }
  return list;
}

std::string json_of(const Machine& machine, const RunOptions& options, const RunOutcome& outcome) {
  json numbers = json::object();
  for (const auto& [name, value] : options.chosen.numbers) {
    numbers[name] = value;
  }
  for (const auto& [name, word] : options.chosen.words) {
    numbers[name] = word;
  }
  const json document = {{"simulated", true},
                         {"machine", machine.name},
                         {"workload", options.kind->name},
                         {"parameters", numbers},
                         {"through", options.through},
                         {"direction", options.reads ? "read" : "write"},
                         {"ranks", options.ranks},
                         {"hints", options.hints},
                         {"seed", options.seed},
                         {"verified", options.carries_data},
                         {"seconds", outcome.seconds},
                         {"open_seconds", outcome.open_s},
                         {"useful_bytes", outcome.useful_bytes},
                         {"mbps", rate_of(outcome)},
                         {"method", outcome.method},
                         {"reason", outcome.reason},
                         {"aggregators", outcome.aggregators},
                         {"servers",
                          {{"requests", outcome.store.requests},
                           {"bytes", outcome.store.bytes},
                           {"seeks", outcome.store.seeks},
                           {"parts_of_blocks", outcome.store.part_blocks},
                           {"busiest_s", outcome.busiest_server_s},
                           {"mean_s", outcome.mean_server_s}}},
                         {"locks",
                          {{"granted", outcome.store.grants},
                           {"revoked", outcome.store.revocations},
                           {"flushed", outcome.store.flushes},
                           {"s", outcome.locks_s}}},
                         {"metadata_s", outcome.metadata_s},
                         {"common_write_sizes", write_sizes_of(outcome)},
                         {"messages", outcome.traffic.messages},
                         {"message_bytes", outcome.traffic.bytes},
                         {"events", outcome.events}};
  return document.dump(2) + "\n";
}

// Returns the way in which a recorded run moved its bytes.
std::string way_of(const RecordedRun& recorded) {
  return recorded.requests->is_file_a_rank ? "own-file" : recorded.collective ? "calls" : "alone";
}

// Returns all of the recorded requests, unless a setting says how many.
bench::WorkloadKind replay_of(const RecordedRun& recorded) {
  bench::WorkloadKind kind = bench::replay_kind(recorded.requests);
  kind.parameters[0].standard = kind.parameters[0].highest;
  return kind;
}

int run_simulate(Ranks& ranks, SimulateArguments& arguments) {
  RunOptions& options = arguments.options;
  if (arguments.workload.empty() == arguments.trace.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "either --workload or --trace says what is simulated");
  }
  bench::WorkloadKind replayed;
  if (arguments.trace.empty()) {
    options.kind = &kind_of(arguments.workload);
    options.through = arguments.through.empty() ? "library" : arguments.through;
  } else {
    const RecordedRun recorded = recorded_run(trace::TraceFile::read(arguments.trace).value());
    replayed = replay_of(recorded);
    options.kind = &replayed;
    options.through = arguments.through.empty() ? way_of(recorded) : arguments.through;
    options.reads |= !recorded.writes;
    print(ranks, recorded.told + "\n");
  }
  options.records_timeline = !arguments.timeline.empty();
  options.chosen = chosen_of(*options.kind, arguments.settings);
  options.hints = parse_hints(ranks, arguments.hints);
  for (const std::string& path : {arguments.json_path, arguments.timeline}) {
    if (!path.empty()) {
      check_writable(ranks, path);
    }
  }
  const Machine machine = simulate::find_machine(arguments.machine, arguments.numbers).value();
  const RunOutcome outcome = simulate::run(machine, options).value();
  print(ranks, text_of(machine, options, outcome));
  if (!arguments.json_path.empty()) {
    write_text(ranks, arguments.json_path, json_of(machine, options, outcome));
  }
  if (options.records_timeline) {
    const std::string command = fmt::format("{} on {} ranks of {}, simulated", options.kind->name, options.ranks, machine.name);
    const std::vector<std::byte> bytes = simulate::trace_file_of(machine, options, outcome, command);
    write_text(ranks, arguments.timeline, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  return kDone;
}

std::vector<std::string> way_names() {
  std::vector<std::string> names;
  for (const simulate::Way& way : simulate::ways()) {
    names.push_back(way.name);
  }
  return names;
}

std::string ways_help() {
  std::string help = "how it is written (library, or as recorded):";
  for (const simulate::Way& way : simulate::ways()) {
    help += fmt::format(" {}: {};", way.name, way.help);
  }
  help.back() = '.';
  return help;
}

}  // namespace

void add_simulate(Command app, Action& action) {
  auto arguments = std::make_shared<SimulateArguments>();
  Command command = app.add_subcommand("simulate", "a workload on so many ranks of a machine that isn't there");
  command.take_last_and_show_defaults();
  command.add_option("--machine", arguments->machine, "a machine's name, or a file that describes one")
      .required()
      .check(not_empty());
  command.add_option("--workload", arguments->workload, "a workload of `stria bench`").check(not_empty()).shown_default("");
  command.add_option("--trace", arguments->trace, "instead of a workload: a trace whose requests are played on so many ranks")
      .check(not_empty())
      .shown_default("");
  command.add_option("--ranks", arguments->options.ranks, "processes").required().check(in_range(1, 1 << 20));
  command.add_option("--set", arguments->settings, "NAME=VALUE, a parameter of the workload; may be repeated")
      .take_all()
      .shown_default("");
  command.add_option("--through", arguments->through, ways_help()).check(one_of(way_names())).shown_default("");
  command.add_flag("--read", arguments->options.reads, "read instead of writing");
  command.add_flag("--verify", arguments->options.carries_data, "carry the bytes, and check every one in the file");
  command.add_option("--seed", arguments->options.seed, "of the servers' jitter");
  command.add_option("--hint", arguments->hints, "name=value, as in docs/hints.md; may be repeated")
      .take_all()
      .shown_default("");
  command.add_option("--number", arguments->numbers, "section.number=value, in place of the machine's; may be repeated")
      .take_all()
      .shown_default("");
  command.add_option("--json", arguments->json_path, "write the results there too").check(not_empty());
  command.add_option("--timeline", arguments->timeline, "write a trace of it there, for `stria trace view`")
      .check(not_empty())
      .shown_default("");
  command.callback([arguments, &action] { action = [arguments](Ranks& ranks) { return run_simulate(ranks, *arguments); }; });
}

}  // namespace stria::tool
