// stria trace diff: two runs side by side.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tracing/summary.hpp"
#include "tracing/trace_command.hpp"

namespace stria::tool {

namespace {

using nlohmann::json;
using trace::Counter;

/// The same quantity of both runs.
struct Pair {
  std::string name;
  double a = 0;
  double b = 0;
};

/// Seconds per rank, of a kind, a phase or the program.
json pair_json(const Pair& pair) {
  json entry = {{"name", pair.name}, {"a", pair.a}, {"b", pair.b}, {"difference", pair.b - pair.a}};
  entry["ratio"] = pair.a > 0 ? json(pair.b / pair.a) : json(nullptr);
  return entry;
}

std::vector<Pair> phases_of(const Summary& a, const Summary& b) {
  std::vector<Pair> pairs;
  for (size_t i = 0; i < a.phases.size(); ++i) {
    if (a.phases[i].seconds.mean > 0 || b.phases[i].seconds.mean > 0) {
      pairs.push_back({a.phases[i].name, a.phases[i].seconds.mean, b.phases[i].seconds.mean});
    }
  }
  if (a.waiting.mean > 0 || b.waiting.mean > 0) {
    pairs.push_back({"(waiting)", a.waiting.mean, b.waiting.mean});  // inside the others
  }
  return pairs;
}

/// The kinds of either run; the one that changed most comes first.
std::vector<Pair> operations_of(const Summary& a, const Summary& b) {
  std::map<std::string, Pair> by_name;
  auto add = [&by_name](const Summary& summary, double Pair::*side) {
    for (const OperationRow& row : summary.operations) {
      Pair& pair = by_name[fmt::format("{} ({})", row.name, trace::layer_name(row.layer))];
      pair.*side += row.seconds / std::max(summary.rank_count, 1);
    }
  };
  add(a, &Pair::a);
  add(b, &Pair::b);
  std::vector<Pair> pairs;
  for (auto& [name, pair] : by_name) {
    pair.name = name;
    pairs.push_back(pair);
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& x, const Pair& y) { return std::abs(x.b - x.a) > std::abs(y.b - y.a); });
  return pairs;
}

std::vector<Pair> counters_of(const Summary& a, const Summary& b) {
  std::vector<Pair> pairs;
  for (const Counter counter : {Counter::kWriteRequests, Counter::kWritePieces, Counter::kBytesWritten, Counter::kReadRequests,
                                Counter::kReadPieces, Counter::kBytesRead, Counter::kSyncs, Counter::kCommits}) {
    if (a[counter] != 0 || b[counter] != 0) {
      pairs.push_back({trace::counter_name(counter), static_cast<double>(a[counter]), static_cast<double>(b[counter])});
    }
  }
  return pairs;
}

std::string change(const Pair& pair) {
  if (pair.a <= 0) {
    return pair.b > 0 ? "only in B" : "";
  }
  if (pair.b <= 0) {
    return "only in A";
  }
  const double ratio = pair.b / pair.a;
  if (ratio > 0.995 && ratio < 1.005) {
    return "the same";
  }
  return ratio < 1 ? fmt::format("{:.2f} times faster", 1 / ratio) : fmt::format("{:.2f} times slower", ratio);
}

std::string times_text(const char* title, const std::vector<Pair>& pairs) {
  if (pairs.empty()) {
    return "";
  }
  std::string text = fmt::format("\n{:<34}{:>13}{:>13}{:>13}   B is\n", title, "A (s)", "B (s)", "B - A (s)");
  for (const Pair& pair : pairs) {
    text += fmt::format("{:<34}{:>13.4g}{:>13.4g}{:>+13.4g}   {}\n", pair.name, pair.a, pair.b, pair.b - pair.a, change(pair));
  }
  return text;
}

std::string counters_text(const std::vector<Pair>& pairs) {
  std::string text = fmt::format("\n{:<34}{:>16}{:>16}{:>10}\n", "Counter", "A", "B", "B / A");
  for (const Pair& pair : pairs) {
    text += fmt::format("{:<34}{:>16.0f}{:>16.0f}{:>10}\n", pair.name, pair.a, pair.b,
                        pair.a > 0 ? fmt::format("{:.2f}", pair.b / pair.a) : "");
  }
  return text;
}

json list_json(const std::vector<Pair>& pairs) {
  json list = json::array();
  for (const Pair& pair : pairs) {
    list.push_back(pair_json(pair));
  }
  return list;
}

void compare(const std::string& path_a, const std::string& path_b, bool as_json) {
  const trace::TraceFile trace_a = read_trace(path_a);
  const trace::TraceFile trace_b = read_trace(path_b);
  const Summary a = summarize(trace_a);
  const Summary b = summarize(trace_b);
  const Pair program{"program", a.program_seconds, b.program_seconds};
  if (as_json) {
    const json answer = {{"a", {{"file", path_a}, {"command", trace_a.command}, {"ranks", a.rank_count}}},
                         {"b", {{"file", path_b}, {"command", trace_b.command}, {"ranks", b.rank_count}}},
                         {"program", pair_json(program)},
                         {"phases", list_json(phases_of(a, b))},
                         {"operations", list_json(operations_of(a, b))},
                         {"counters", list_json(counters_of(a, b))}};
    print(alone(), answer.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
    return;
  }
  print(alone(), fmt::format("A: {}, {} ranks\nB: {}, {} ranks\nTimes are means per rank.\n", trace_a.command, a.rank_count,
                             trace_b.command, b.rank_count) +
                     times_text("Program", {program}) + times_text("Phase", phases_of(a, b)) +
                     times_text("Operation, by what changed most", operations_of(a, b)) + counters_text(counters_of(a, b)));
}

}  // namespace

void add_trace_diff(CLI::App& group, Action& action) {
  auto paths = std::make_shared<std::pair<std::string, std::string>>();
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = group.add_subcommand("diff", "two runs side by side: what became faster or slower, by how much");
  command->add_option("a", paths->first, "the trace to compare with")->required();
  command->add_option("b", paths->second, "the trace to compare")->required();
  command->add_flag("--json", *as_json, "answer in JSON");
  command->callback([=, &action] {
    action = [=](Ranks& ranks) {
      on_root(ranks, [&] { compare(paths->first, paths->second, *as_json); });
      return kDone;
    };
  });
}

}  // namespace stria::tool
