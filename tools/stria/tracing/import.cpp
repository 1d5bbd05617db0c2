// stria trace import: a trace of a Darshan log, so that every command on traces works for programs
// that never saw Stria. PyDarshan reads the log, by a script that this program contains
// (darshan_log.py).
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "report/text.hpp"
#include "stria/status.hpp"
#include "tracing/imported_parts.hpp"
#include "tracing/python_process.hpp"
#include "tracing/trace_command.hpp"

namespace stria::tool {

extern const char* const kDarshanScript;

namespace {

using nlohmann::json;

// Far more than any machine has.
constexpr int64_t kMostRanks = int64_t{1} << 18;

struct ImportArguments {
  std::string log;
  std::string output;
};

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::kFormat, fmt::format("'{}': {}", path, what));
}

std::string answer_of_python(const std::string& path) {
  PythonProcess python(kDarshanScript, path, PythonProcess::Pipe::kFromOutput);
  std::string answer = python.take();
  if (!python.finish("PyDarshan")) {
    throw Error(ErrorCode::kIo, fmt::format("{} did not read '{}'; what it said is above", python.program(), path));
  }
  return answer;
}

template <typename Number>
Number take(const std::string& bytes, size_t column, size_t row) {
  Number value{};
  std::memcpy(&value, bytes.data() + column + row * sizeof value, sizeof value);
  return value;
}

// Columns as darshan_log.py describes them.
std::vector<ImportedSpan> spans_of(const std::string& answer, size_t begin, size_t rows) {
  const size_t wide = rows * sizeof(int64_t), narrow = rows * sizeof(int32_t);
  if (answer.size() - begin != 4 * wide + 3 * narrow) {
    throw Error(ErrorCode::kIo, "the answer of darshan_log.py is cut off");
  }
  std::vector<ImportedSpan> spans(rows);
  for (size_t row = 0; row < rows; ++row) {
    ImportedSpan& span = spans[row];
    span.begin_ns = take<int64_t>(answer, begin, row);
    span.end_ns = take<int64_t>(answer, begin + wide, row);
    span.offset = take<int64_t>(answer, begin + 2 * wide, row);
    span.bytes = take<int64_t>(answer, begin + 3 * wide, row);
    const size_t behind = begin + 4 * wide;
    span.kind = take<int32_t>(answer, behind, row);
    span.rank = take<int32_t>(answer, behind + narrow, row);
    span.file = take<int32_t>(answer, behind + 2 * narrow, row);
  }
  return spans;
}

ImportedRecord record_of(const json& entry) {
  ImportedRecord record;
  record.file = entry.at("file").get<int32_t>();
  record.rank = entry.at("rank").get<int32_t>();
  record.values = entry.at("values").get<std::map<std::string, int64_t>>();
  for (const json& known : entry.value("extremes", json::array())) {
    record.known.push_back({known.at(0).get<int32_t>(), known.at(1).get<int64_t>(), known.at(2).get<int64_t>()});
  }
  return record;
}

ImportedRun run_of(const json& header, std::vector<ImportedSpan> spans) {
  ImportedRun run;
  run.command = header.at("command").get<std::string>();
  run.rank_count = header.at("ranks").get<int32_t>();
  run.start_unix_ns = header.at("start_unix_ns").get<int64_t>();
  run.run_ns = header.at("run_ns").get<int64_t>();
  run.files = header.at("files").get<std::vector<std::string>>();
  for (const auto& [rank, host] : header.at("hosts").items()) {
    run.hosts[std::stoi(rank)] = host.get<std::string>();
  }
  for (const json& entry : header.at("records")) {
    run.records.push_back(record_of(entry));
  }
  for (const json& fact : header.at("facts")) {
    run.facts.push_back({fact.at(0).get<int32_t>(), fact.at(1).get<std::string>(), fact.at(2).get<std::string>()});
  }
  run.spans = std::move(spans);
  return run;
}

void check(const ImportedRun& run, const std::string& path) {
  if (run.rank_count < 1 || run.rank_count > kMostRanks) {
    refuse(path, fmt::format("{} ranks", run.rank_count));
  }
  const auto is_rank = [&run](int32_t rank) { return rank >= 0 && rank < run.rank_count; };
  for (const ImportedRecord& record : run.records) {
    if (!is_rank(record.rank) && record.rank != kAllRanks) {
      refuse(path, fmt::format("a record of rank {}, of {} ranks", record.rank, run.rank_count));
    }
  }
  for (const ImportedSpan& span : run.spans) {
    if (!is_rank(span.rank)) {
      refuse(path, fmt::format("a request of rank {}, of {} ranks", span.rank, run.rank_count));
    }
  }
}

// Warns of what the log lacks.
ImportedRun read_log(const std::string& path) {
  const std::string answer = answer_of_python(path);
  const size_t line = std::min(answer.find('\n'), answer.size());
  const size_t behind = std::min(line + 1, answer.size());
  try {
    const json header = json::parse(answer.begin(), answer.begin() + static_cast<std::ptrdiff_t>(line));
    for (const json& warning : header.at("warnings")) {
      warn(alone(), fmt::format("'{}': {}", path, warning.get<std::string>()));
    }
    return run_of(header, spans_of(answer, behind, header.at("segments").get<size_t>()));
  } catch (const json::exception& error) {
    refuse(path, error.what());
  }
}

// Returns what to say.
std::string import(const ImportArguments& arguments, const std::string& output) {
  if (!std::filesystem::exists(arguments.log)) {
    throw Error(ErrorCode::kNotFound, fmt::format("open '{}': no such file", arguments.log));
  }
  const ImportedRun run = read_log(arguments.log);
  check(run, arguments.log);
  const ImportedTrace trace = trace_of(run);
  if (trace.overlapping_ranks > 0) {
    warn(alone(), fmt::format("'{}': threads of {} were in calls at the same time; their times, which add up to "
                              "more than the run, are scaled down to it",
                              arguments.log, counted_text(trace.overlapping_ranks, "rank")));
  }
  write_text(alone(), output, std::string(reinterpret_cast<const char*>(trace.bytes.data()), trace.bytes.size()));
  return fmt::format("{}: {}, {}, {}\n", output, counted_text(run.rank_count, "rank"), counted_text(run.files.size(), "file"),
                     run.spans.empty() ? "no requests by themselves (the log has no DXT): what, not when"
                                       : fmt::format("{} requests and calls", run.spans.size()));
}

int run_import(Ranks& ranks, const ImportArguments& arguments) {
  std::string output = arguments.output;
  if (output.empty()) {
    output = std::filesystem::path(arguments.log).replace_extension(".stria-trace").string();
  }
  check_writable(ranks, output);
  on_root(ranks, [&] { print(alone(), import(arguments, output)); });
  return kDone;
}

}  // namespace

void add_trace_import(Command group, Action& action) {
  auto arguments = std::make_shared<ImportArguments>();
  Command command = group.add_subcommand("import", "make a trace of a Darshan log; needs Python with PyDarshan");
  command.add_option("file", arguments->log, "the log, NAME.darshan").required();
  command.add_option("-o,--output", arguments->output, "the trace to write (default: the log's name with .stria-trace)")
      .check(not_empty());
  command.callback([=, &action] { action = [=](Ranks& ranks) { return run_import(ranks, *arguments); }; });
}

}  // namespace stria::tool
