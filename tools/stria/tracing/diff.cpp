// stria trace diff: two runs side by side.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "folded.hpp"
#include "report/rule.hpp"
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

/// Returns the seconds per rank, of a kind, a phase or the program.
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

/// Returns the kinds of either run; the one that changed most comes first.
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

std::string signed_seconds_text(double seconds) {
  return seconds == 0 ? "" : (seconds < 0 ? "-" : "+") + seconds_text(std::abs(seconds));
}

// Returns what makes a comparison of the two runs lame.
std::vector<std::string> differences_of(const trace::TraceFile& trace_a, const Summary& a, const trace::TraceFile& trace_b,
                                        const Summary& b) {
  std::vector<std::string> differences;
  if (a.rank_count != b.rank_count) {
    differences.push_back(fmt::format("A ran on {}, B on {}; times are means per rank", counted_text(a.rank_count, "rank"),
                                      counted_text(b.rank_count, "rank")));
  }
  if (a.files.size() != b.files.size()) {
    differences.push_back(fmt::format("A used {}, B {}", counted_text(static_cast<int64_t>(a.files.size()), "file"),
                                      counted_text(static_cast<int64_t>(b.files.size()), "file")));
  }
  for (const Counter counter : {Counter::kBytesPut, Counter::kBytesGot}) {
    if (a[counter] != b[counter]) {
      differences.push_back(fmt::format("the program {} {} in A, {} in B", counter == Counter::kBytesPut ? "put" : "got",
                                        bytes_text(static_cast<double>(a[counter])),
                                        bytes_text(static_cast<double>(b[counter]))));
    }
  }
  if (RunDigest(trace_a).detail() != RunDigest(trace_b).detail()) {
    differences.push_back("the traces were recorded at different levels, so that one knows more operations");
  }
  return differences;
}

std::string times_text(const char* title, const std::vector<Pair>& pairs) {
  if (pairs.empty()) {
    return "";
  }
  std::string text = fmt::format("\n{:<30}{:>10}{:>10}{:>10}  B is\n", title, "A", "B", "B - A");
  for (const Pair& pair : pairs) {
    text += fmt::format("{:<30.30}{:>10}{:>10}{:>10}  {}\n", pair.name, seconds_text(pair.a), seconds_text(pair.b),
                        signed_seconds_text(pair.b - pair.a), change(pair));
  }
  return text;
}

std::string counters_text(const std::vector<Pair>& pairs) {
  std::string text = fmt::format("\n{:<30}{:>18}{:>18}{:>10}\n", "Counter", "A", "B", "B / A");
  for (const Pair& pair : pairs) {
    text += fmt::format("{:<30}{:>18}{:>18}{:>10}\n", pair.name, count_text(static_cast<int64_t>(pair.a)),
                        count_text(static_cast<int64_t>(pair.b)), pair.a > 0 ? fmt::format("{:.2f}", pair.b / pair.a) : "");
  }
  return text;
}

double io_seconds(const trace::TraceFile& trace) {
  return RunDigest(trace).io_seconds() / std::max(1, trace.rank_count());
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
  const std::vector<Pair> program = {{"program", a.program_seconds, b.program_seconds},
                                     {"all I/O", io_seconds(trace_a), io_seconds(trace_b)}};
  const std::vector<std::string> differences = differences_of(trace_a, a, trace_b, b);
  if (as_json) {
    const json answer = {{"a", {{"file", path_a}, {"command", trace_a.command}, {"ranks", a.rank_count}}},
                         {"b", {{"file", path_b}, {"command", trace_b.command}, {"ranks", b.rank_count}}},
                         {"differences", differences},
                         {"program", pair_json(program[0])},
                         {"io", pair_json(program[1])},
                         {"phases", list_json(phases_of(a, b))},
                         {"operations", list_json(operations_of(a, b))},
                         {"counters", list_json(counters_of(a, b))}};
    print(alone(), answer.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
    return;
  }
  std::string heading = fmt::format("A: {}, {}\nB: {}, {}\nTimes are means per rank.\n", trace_a.command,
                                    counted_text(a.rank_count, "rank"), trace_b.command, counted_text(b.rank_count, "rank"));
  for (const std::string& difference : differences) {
    heading += fmt::format("Not the same: {}.\n", difference);
  }
  print(alone(), folded_lines(heading) + times_text("Program", program) + times_text("Phase", phases_of(a, b)) +
                     times_text("Operation, by what changed most", operations_of(a, b)) + counters_text(counters_of(a, b)));
}

}  // namespace

void add_trace_diff(Command group, Action& action) {
  auto paths = std::make_shared<std::pair<std::string, std::string>>();
  auto as_json = std::make_shared<bool>(false);
  Command command = group.add_subcommand("diff", "two runs side by side: what became faster or slower, by how much");
  command.add_option("a", paths->first, "the trace to compare with").required();
  command.add_option("b", paths->second, "the trace to compare").required();
  command.add_flag("--json", *as_json, "answer in JSON");
  command.callback([=, &action] {
    action = [=](Ranks& ranks) {
      on_root(ranks, [&] { compare(paths->first, paths->second, *as_json); });
      return kDone;
    };
  });
}

}  // namespace stria::tool
