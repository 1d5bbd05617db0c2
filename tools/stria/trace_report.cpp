// stria trace report: what a run's I/O cost, why, and what to change.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "command.hpp"
#include "report/report_page.hpp"
#include "report/rule.hpp"
#include "report/storage_limit.hpp"

namespace stria::tool {

namespace {

struct Options {
  std::string trace;
  std::string output;
  std::string json;
  std::string probe;
  double limit_mb = 0;
};

struct Texts {
  std::string page;
  std::string json;
  std::string said;
  int64_t findings = 0;
};

StorageLimit limit_for(const RunDigest& run, const Options& options) {
  if (options.limit_mb > 0) {
    return given_limit(options.limit_mb);
  }
  if (!options.probe.empty()) {
    return probe_limit(options.probe, run.total(trace::Counter::kSyncs) > 0, run.writers()).value();
  }
  return limit_of(run);
}

Texts make(const Options& options) {
  const trace::TraceFile trace = trace::TraceFile::read(options.trace).value();
  const RunDigest run(trace);
  const StorageLimit limit = limit_for(run, options);
  const std::vector<Finding> findings = find(run, limit);
  const auto count = std::count_if(findings.begin(), findings.end(), [](const Finding& finding) { return !finding.is_remark; });
  std::string said = headline(run, limit) + "\n";
  if (limit.bytes_per_second > 0) {
    said += fmt::format("Data moved at {}; the limit is {}.\n", rate_text(run.useful_rate()), limit_text(limit));
  }
  return {report_page(run, limit, findings), report_json(run, limit, findings), said, count};
}

int run(Ranks& ranks, const Options& options) {
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
  print(ranks, fmt::format("{}{}: the report, with {} {}; open it in a browser\n", texts.said, output, texts.findings,
                           texts.findings == 1 ? "finding" : "findings"));
  return kDone;
}

}  // namespace

void add_trace_report(CLI::App& trace, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = trace.add_subcommand("report", "one HTML page: what I/O cost, why, and what to change");
  command->add_option("file", options->trace, "the trace")->required();
  command->add_option("-o,--output", options->output, "the page (default: the trace's name with .report.html)")
      ->check(not_empty());
  command->add_option("--json", options->json, "also write the numbers and findings for programs")->check(not_empty());
  CLI::Option* limit = command->add_option("--limit", options->limit_mb, "what the storage can do at best, in MB/s");
  limit->check(CLI::PositiveNumber);
  command->add_option("--probe", options->probe, "measure that now, by writing to this directory for a second")
      ->excludes(limit);
  command->callback([=, &action] { action = [=](Ranks& ranks) { return run(ranks, *options); }; });
}

}  // namespace stria::tool
