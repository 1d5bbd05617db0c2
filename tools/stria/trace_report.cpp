// stria trace report: what a run's I/O cost, why, and what to change.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "command.hpp"
#include "folded.hpp"
#include "report/report_page.hpp"
#include "report/rule.hpp"
#include "report/storage_limit.hpp"
#include "report/terminal.hpp"

namespace stria::tool {

namespace {

struct ReportOptions {
  std::string trace;
  std::string output;
  std::string json;
  std::string probe;
  bool probes = true;  ///< where no directory is given, too
  double limit_mb = 0;
};

struct Texts {
  std::string page;
  std::string json;
  std::string said;
};

StorageLimit limit_for(const RunDigest& run, const ReportOptions& options) {
  if (options.limit_mb > 0) {
    return given_limit(options.limit_mb);
  }
  const bool durable = run.counters().total(trace::Counter::kSyncs) > 0;
  if (!options.probe.empty()) {
    return probe_limit(options.probe, durable, run.counters().writers()).value();
  }
  // Where the user has not asked for a probe, one that fails only leaves the limit unknown.
  const std::string directory = options.probes ? directory_to_probe(run) : "";
  if (directory.empty()) {
    return {};
  }
  auto probed = probe_limit(directory, durable, run.counters().writers());
  return probed.ok() ? *std::move(probed) : StorageLimit();
}

Texts make(const ReportOptions& options) {
  const trace::TraceFile trace = trace::TraceFile::read(options.trace).value();
  const RunDigest run(trace);
  const StorageLimit limit = limit_for(run, options);
  const std::vector<Finding> findings = find(run, limit);
  std::string said = folded(headline(run, limit), 0);
  if (limit.bytes_per_second > 0) {
    said += folded(fmt::format("Data moved at {}; the limit is {}.", rate_text(run.useful_rate()), limit_text(limit)), 0);
  }
  const bool coloured = ::isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  said += terminal_text(findings, run, coloured);
  return {report_page(run, limit, findings), report_json(run, limit, findings), said};
}

int run_report(Ranks& ranks, const ReportOptions& options) {
  std::string output = options.output;
  if (output.empty()) {
    output = std::filesystem::path(options.trace).replace_extension(".report.html").string();
  }
  check_writable(ranks, output);
  Texts texts;
  on_root(ranks, [&] { texts = make(options); });
  write_text(ranks, output, texts.page);
  if (!options.json.empty()) {
    write_text(ranks, options.json, texts.json);
  }
  print(ranks, fmt::format("{}{}: the report; open it in a browser\n", texts.said, output));
  return kDone;
}

}  // namespace

void add_trace_report(Command trace, Action& action) {
  auto options = std::make_shared<ReportOptions>();
  Command command = trace.add_subcommand("report", "one HTML page: what I/O cost, why, and what to change");
  command.add_option("file", options->trace, "the trace").required();
  command.add_option("-o,--output", options->output, "the page (default: the trace's name with .report.html)")
      .check(not_empty());
  command.add_option("--json", options->json, "also write the numbers and findings for programs").check(not_empty());
  Option limit = command.add_option("--limit", options->limit_mb, "what the storage can do at best, in MB/s");
  limit.check(positive());
  Option probe =
      command.add_option("--probe", options->probe,
                         "measure that now, by writing to this directory for half a second (default: that of the run's "
                         "largest file, where it is here)");
  probe.excludes(limit);
  command.add_flag("!--no-probe", options->probes, "measure nothing").excludes(probe);
  command.callback([=, &action] { action = [=](Ranks& ranks) { return run_report(ranks, *options); }; });
}

}  // namespace stria::tool
