// stria trace stats: the tables of a run, as in Thakur, Lusk, Gropp (1995), and its counters,
// as in Darshan.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "folded.hpp"
#include "report/text.hpp"
#include "stria/trace.hpp"
#include "trace/record/levels.hpp"
#include "tracing/exporters.hpp"
#include "tracing/summary.hpp"
#include "tracing/trace_command.hpp"

namespace stria::tool {

namespace {

using nlohmann::json;
using trace::Counter;

json spread_json(const Spread& spread) {
  return {{"mean", spread.mean},
          {"min", spread.minimum},
          {"max", spread.maximum},
          {"max_rank", spread.slowest_rank},
          {"imbalance", spread.imbalance()}};
}

json pairs_json(const std::vector<std::pair<int64_t, int64_t>>& pairs, const char* value_name) {
  json list = json::array();
  for (const auto& [value, count] : pairs) {
    list.push_back({{value_name, value}, {"count", count}});
  }
  return list;
}

json counters_json(const std::vector<int64_t>& values) {
  json object = json::object();
  for (int i = 0; i < static_cast<int>(Counter::kCommonSize1); ++i) {
    object[trace::counter_name(static_cast<Counter>(i))] = values[static_cast<size_t>(i)];
  }
  return object;
}

/// MB/s, or 0 where no time was measured.
double rate(int64_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e6 : 0;
}

json operations_json(const Summary& summary) {
  json list = json::array();
  for (const OperationRow& row : summary.operations) {
    const double average = row.seconds / std::max(summary.rank_count, 1);
    list.push_back({{"operation", row.name},
                    {"layer", trace::layer_name(row.layer)},
                    {"count", row.count},
                    {"average_seconds", average},
                    {"percent_of_program", summary.program_seconds > 0 ? 100 * average / summary.program_seconds : 0},
                    {"total_seconds", row.seconds},
                    {"own_seconds", row.own_seconds},
                    {"longest_seconds", row.longest_seconds},
                    {"bytes", row.bytes},
                    {"ranks", row.rank_count}});
  }
  return list;
}

json files_json(const Summary& summary) {
  json list = json::array();
  for (const FileRow& row : summary.files) {
    list.push_back({{"file", row.path},
                    {"ranks", row.rank_count},
                    {"writers", row.writer_count},
                    {"aggregators", row.aggregators},
                    {"common_sizes", pairs_json(row.common_sizes, "bytes")},
                    {"common_strides", pairs_json(row.common_strides, "bytes")},
                    {"counters", counters_json(row.values)},
                    {"facts", row.facts}});
  }
  return list;
}

json describe(const trace::TraceFile& trace, const Summary& summary) {
  json phases = json::object();
  for (const PhaseRow& row : summary.phases) {
    phases[row.name] = spread_json(row.seconds);
  }
  return {{"program", trace.program},
          {"command", trace.command},
          {"start_unix_seconds", static_cast<double>(trace.start_unix_ns) * 1e-9},
          {"level", trace::level_name(static_cast<trace::Level>(std::min(trace.level, 4U)))},
          {"program_seconds", summary.program_seconds},
          {"ranks", summary.rank_count},
          {"nodes", summary.node_count},
          {"events", summary.event_count},
          {"dropped", summary.dropped},
          {"incomplete_ranks", summary.incomplete_ranks},
          {"warnings", trace.warnings},
          {"operations", operations_json(summary)},
          {"phases", phases},
          {"waiting", spread_json(summary.waiting)},
          {"counters", counters_json(summary.totals)},
          {"common_sizes", pairs_json(summary.common_sizes, "bytes")},
          {"write_mbps", rate(summary[Counter::kBytesWritten], summary.write_seconds)},
          {"read_mbps", rate(summary[Counter::kBytesRead], summary.read_seconds)},
          {"writers", summary.writer_count},
          {"aggregators", summary.aggregator_count},
          {"bytes_written", spread_json(summary.bytes_written)},
          {"aggregator_bytes_written", spread_json(summary.aggregator_bytes)},
          {"files", files_json(summary)}};
}

std::string size_text(int64_t bytes) {
  const char* units[] = {"", "K", "M", "G", "T"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 10'000 && unit + 1 < std::size(units)) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{}", bytes) : fmt::format("{:.1f}{}", value, units[unit]);
}

std::string common_text(const std::vector<std::pair<int64_t, int64_t>>& pairs) {
  std::string text;
  for (const auto& [value, count] : pairs) {
    text += fmt::format("{}{} x {} B", text.empty() ? "" : ", ", count, value);
  }
  return text.empty() ? "none" : text;
}

std::string header_text(const trace::TraceFile& trace, const Summary& summary) {
  std::string text = fmt::format("{}: {} on {}, {} events at level {}\n", trace.command,
                                 counted_text(summary.rank_count, "rank"), counted_text(summary.node_count, "node"),
                                 summary.event_count, trace::level_name(static_cast<trace::Level>(std::min(trace.level, 4U))));
  if (summary.dropped > 0) {
    text += fmt::format("{} records found no room and are missing below\n", summary.dropped);
  }
  if (summary.incomplete_ranks > 0) {
    text += fmt::format("{} did not end in good order: what follows ends with the last flush\n",
                        counted_text(summary.incomplete_ranks, "rank"));
  }
  return text + fmt::format("Total program time = {:.4g} s\n", summary.program_seconds);
}

std::string operations_text(const json& operations, int ranks) {
  if (operations.empty()) {
    return "\nNo spans were recorded: the counters below say how much, not when (STRIA_TRACE=full records all)\n";
  }
  size_t width = 22;
  for (const json& row : operations) {
    width = std::max(width, row["operation"].get<std::string>().size());
  }
  width += 2;
  std::string text = fmt::format("\n{:<{}}{:<9}{:>8}{:>11}{:>8}{:>11}{:>9}\n", "Operation", width, "layer", "count",
                                 "average s", "% of", "own time", "MB");
  text += fmt::format("{:<{}}{:<9}{:>8}{:>11}{:>8}{:>11}{:>9}\n", "", width, "", "", "of a rank", "program", "of a rank", "");
  for (const json& row : operations) {
    text += fmt::format("{:<{}}{:<9}{:>8}{:>11.4g}{:>8.2f}{:>11.4g}{:>9.1f}\n", row["operation"].get<std::string>(), width,
                        row["layer"].get<std::string>(), row["count"].get<int64_t>(), row["average_seconds"].get<double>(),
                        row["percent_of_program"].get<double>(), row["own_seconds"].get<double>() / ranks,
                        row["bytes"].get<double>() / 1e6);
  }
  return text;
}

std::string phases_text(const Summary& summary) {
  double sum = 0;
  for (const PhaseRow& row : summary.phases) {
    sum += row.seconds.mean;
  }
  std::string text = fmt::format("\n{:<12}{:>12}{:>10}{:>10}{:>10}{:>10}{:>12}\n", "Phase", "mean (s)", "% of I/O", "min (s)",
                                 "max (s)", "on rank", "max / mean");
  const auto add = [&text](const std::string& name, const Spread& seconds, const std::string& share) {
    if (seconds.maximum > 0) {
      text += fmt::format("{:<12}{:>12.4g}{:>10}{:>10.4g}{:>10.4g}{:>10}{:>12.2f}\n", name, seconds.mean, share,
                          seconds.minimum, seconds.maximum, seconds.slowest_rank, seconds.imbalance());
    }
  };
  for (const PhaseRow& row : summary.phases) {
    add(row.name, row.seconds, fmt::format("{:.1f}", 100 * row.seconds.mean / sum));
  }
  add("(waiting)", summary.waiting, "");  // inside the phases and between them
  return text;
}

// Returns how much of the commits in the background the program has not noticed.
std::string background_text(const Summary& summary) {
  const double worked = static_cast<double>(summary[Counter::kBackgroundNs]) * 1e-9;
  const double waited = static_cast<double>(summary[Counter::kBackgroundWaitNs]) * 1e-9;
  if (worked <= 0) {
    return "";
  }
  const double processor = static_cast<double>(summary[Counter::kBackgroundCpuNs]) * 1e-9;
  std::string text = fmt::format(
      "\nCommits in the background: {:.4g} s of work on all ranks, {:.4g} s of it on a processor; the ranks waited {:.4g} s for "
      "them\n",
      worked, processor, waited);
  if (summary[Counter::kUnstagedBytes] > 0) {
    text += fmt::format("{} bytes didn't fit into the staging memory and were written in the call\n",
                        summary[Counter::kUnstagedBytes]);
  }
  return text;
}

std::string transfer_text(const Summary& summary, bool write) {
  const int64_t bytes = summary[write ? Counter::kBytesWritten : Counter::kBytesRead];
  const int64_t pieces = summary[write ? Counter::kWritePieces : Counter::kReadPieces];
  if (pieces == 0) {
    return "";
  }
  const double seconds = write ? summary.write_seconds : summary.read_seconds;
  std::string text = fmt::format("\n{}: {} of {}, {:.2f} MB", write ? "Writes" : "Reads",
                                 counted_text(summary[write ? Counter::kWriteRequests : Counter::kReadRequests], "request"),
                                 counted_text(pieces, "piece"), static_cast<double>(bytes) / 1e6);
  if (seconds > 0) {
    text += fmt::format(" in {:.4g} s ({} of the ranks that did, mean): {:.4g} MB/s", seconds,
                        write ? "write phase" : "read phase", rate(bytes, seconds));
  }
  text += "\n  pieces by size:";
  const auto first = static_cast<size_t>(write ? Counter::kWriteSizes0 : Counter::kReadSizes0);
  for (int bin = 0; bin < trace::kSizeBinCount; ++bin) {
    const int64_t count = summary.totals[first + static_cast<size_t>(bin)];
    text += count > 0 ? fmt::format("  {}: {}", trace::size_bin_name(bin), count) : "";
  }
  auto share = [&](Counter of_reads, Counter of_writes) {
    return 100.0 * static_cast<double>(summary[write ? of_writes : of_reads]) / static_cast<double>(pieces);
  };
  return text + fmt::format("\n  consecutive {:.0f} %, sequential {:.0f} %, strided {:.0f} %, unaligned {:.0f} %\n",
                            share(Counter::kConsecutiveReads, Counter::kConsecutiveWrites),
                            share(Counter::kSequentialReads, Counter::kSequentialWrites),
                            share(Counter::kStridedReads, Counter::kStridedWrites),
                            share(Counter::kUnalignedReads, Counter::kUnalignedWrites));
}

std::string balance_text(const Summary& summary) {
  if (summary.writer_count == 0) {
    return "";
  }
  std::string text =
      fmt::format("\n{} of {} wrote; the most is {:.2f} MB on rank {}, {:.2f} times the mean\n", summary.writer_count,
                  counted_text(summary.rank_count, "rank"), summary.bytes_written.maximum / 1e6,
                  summary.bytes_written.slowest_rank, summary.bytes_written.imbalance());
  if (summary.aggregator_count > 0) {
    text += fmt::format("{}; the most that one wrote is {:.2f} times their mean\n",
                        counted_text(summary.aggregator_count, "aggregator"), summary.aggregator_bytes.imbalance());
  }
  return text;
}

std::string files_text(const Summary& summary) {
  std::string text;
  for (const FileRow& row : summary.files) {
    text += fmt::format("\n{}\n", row.path);
    text +=
        fmt::format("  {} opened it, {} wrote; {:.2f} MB written, {:.2f} MB read, {}\n", counted_text(row.rank_count, "rank"),
                    row.writer_count, static_cast<double>(row[Counter::kBytesWritten]) / 1e6,
                    static_cast<double>(row[Counter::kBytesRead]) / 1e6, counted_text(row[Counter::kSyncs], "sync"));
    text += fmt::format("  common sizes: {}\n  common strides: {}\n", common_text(row.common_sizes),
                        common_text(row.common_strides));
    text +=
        fmt::format("  most pieces of one request: {} written, {} read; largest offset {}\n", row[Counter::kMaxPiecesOfWrite],
                    row[Counter::kMaxPiecesOfRead], size_text(std::max(row[Counter::kMaxWriteEnd], row[Counter::kMaxReadEnd])));
    for (const auto& [key, value] : row.facts) {
      text += value.empty() ? "" : fmt::format("  {}: {}\n", key, value);
    }
  }
  return text;
}

struct StatsArguments {
  std::string file;
  std::string parquet;
  bool as_json = false;
};

int run_stats(Ranks& ranks, const StatsArguments& arguments) {
  on_root(ranks, [&] {
    const trace::TraceFile trace = read_trace(arguments.file);
    if (!arguments.parquet.empty()) {
      export_counters_parquet(trace, arguments.parquet);
    }
    const Summary summary = summarize(trace);
    const json description = describe(trace, summary);
    if (arguments.as_json) {
      print(alone(), description.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
      return;
    }
    print(alone(), folded_lines(header_text(trace, summary) +
                                operations_text(description["operations"], std::max(summary.rank_count, 1)) +
                                phases_text(summary) + background_text(summary) + transfer_text(summary, true) +
                                transfer_text(summary, false) + balance_text(summary) + files_text(summary)));
  });
  return kDone;
}

}  // namespace

void add_trace_stats(Command group, Action& action) {
  auto arguments = std::make_shared<StatsArguments>();
  Command command = group.add_subcommand("stats", "tables of a run: operations, phases, sizes, balance, files");
  command.add_option("file", arguments->file, "the trace").required();
  command.add_flag("--json", arguments->as_json, "answer in JSON");
  command.add_option("--parquet", arguments->parquet,
                     "also write the counters of each rank and file to this Parquet table; needs Python with pyarrow");
  command.callback([=, &action] { action = [=](Ranks& ranks) { return run_stats(ranks, *arguments); }; });
}

}  // namespace stria::tool
