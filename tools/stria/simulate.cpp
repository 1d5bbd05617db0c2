// stria simulate: a workload on so many ranks of a machine that isn't there.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "run/run.hpp"
#include "stria/status.hpp"

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
  std::vector<std::string> settings;
  std::vector<std::string> hints;
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
                         {"messages", outcome.traffic.messages},
                         {"message_bytes", outcome.traffic.bytes},
                         {"events", outcome.events}};
  return document.dump(2) + "\n";
}

int run_simulate(Ranks& ranks, SimulateArguments& arguments) {
  RunOptions& options = arguments.options;
  options.kind = &kind_of(arguments.workload);
  options.chosen = chosen_of(*options.kind, arguments.settings);
  options.hints = parse_hints(ranks, arguments.hints);
  if (!arguments.json_path.empty()) {
    check_writable(ranks, arguments.json_path);
  }
  const Machine machine = simulate::find_machine(arguments.machine).value();
  const RunOutcome outcome = simulate::run(machine, options).value();
  print(ranks, text_of(machine, options, outcome));
  if (!arguments.json_path.empty()) {
    write_text(ranks, arguments.json_path, json_of(machine, options, outcome));
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
  std::string help = "how it is written:";
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
  command.add_option("--workload", arguments->workload, "a workload of `stria bench`").required().check(not_empty());
  command.add_option("--ranks", arguments->options.ranks, "processes").required().check(in_range(1, 1 << 20));
  command.add_option("--set", arguments->settings, "NAME=VALUE, a parameter of the workload; may be repeated")
      .take_all()
      .shown_default("");
  command.add_option("--through", arguments->options.through, ways_help()).check(one_of(way_names()));
  command.add_flag("--read", arguments->options.reads, "read instead of writing");
  command.add_flag("--verify", arguments->options.carries_data, "carry the bytes, and check every one in the file");
  command.add_option("--seed", arguments->options.seed, "of the servers' jitter");
  command.add_option("--hint", arguments->hints, "name=value, as in docs/hints.md; may be repeated")
      .take_all()
      .shown_default("");
  command.add_option("--json", arguments->json_path, "write the results there too").check(not_empty());
  command.callback([arguments, &action] { action = [arguments](Ranks& ranks) { return run_simulate(ranks, *arguments); }; });
}

}  // namespace stria::tool
