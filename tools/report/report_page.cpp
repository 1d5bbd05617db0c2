#include "report/report_page.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "report/report_style.hpp"
#include "report/rule.hpp"
#include "report/svg.hpp"
#include "viewer/view_page.hpp"

namespace stria::tool {

namespace {

using nlohmann::json;
using trace::Counter;

constexpr size_t kMostFiles = 200;

double rate(const RunDigest& run) {
  return share_of(static_cast<double>(run.useful_bytes()), run.io_wall_seconds());
}

// A probe is a sample of storage that others use, too, and of its caches: a run may have met a better moment.
bool is_at_limit(const RunDigest& run, const StorageLimit& limit) {
  return rate(run) >= limit.bytes_per_second;
}

double io_share(const RunDigest& run) {
  return share_of(run.io_seconds(), run.run_seconds() * run.ranks());
}

std::string finding_item(const Finding& finding) {
  return fmt::format(
      "<li data-rule=\"{}\"><h3>{}</h3><p class=\"evidence\">{}</p><p class=\"advice\"><b>What to change.</b> {}</p></li>\n",
      finding.rule, html(finding.text), html(finding.evidence), html(finding.advice));
}

std::string findings_section(const std::vector<Finding>& findings) {
  if (findings.empty()) {
    return fmt::format("<p>Nothing stands out: none of the {} rules found anything to change.</p>", rule_names().size());
  }
  std::string items;
  for (const Finding& finding : findings) {
    items += finding_item(finding);
  }
  return fmt::format("<ol class=\"findings\">{}</ol>", items);
}

std::string tile(const std::string& value, const std::string& label) {
  return fmt::format("<div><b>{}</b><span>{}</span></div>", html(value), html(label));
}

std::string tiles(const RunDigest& run, const StorageLimit& limit) {
  std::string text =
      tile(percent_text(io_share(run)),
           fmt::format("of the run in I/O: {} of {}, mean of {} {}", seconds_text(run.io_seconds() / std::max(1, run.ranks())),
                       seconds_text(run.run_seconds()), run.ranks(), run.ranks() == 1 ? "rank" : "ranks"));
  text +=
      tile(rate_text(rate(run)), fmt::format("effective: {} in {} of I/O", bytes_text(static_cast<double>(run.useful_bytes())),
                                             seconds_text(run.io_wall_seconds())));
  if (limit.bytes_per_second > 0) {
    const std::string of_what = fmt::format("{}, {}", rate_text(limit.bytes_per_second), limit.source);
    text += is_at_limit(run, limit) ? tile("at the limit", "no less than " + of_what)
                                    : tile(percent_text(share_of(rate(run), limit.bytes_per_second)), "of " + of_what);
  }
  return text;
}

std::map<std::string, std::string> facts_of(const RunDigest& run, int file) {
  std::map<std::string, std::string> facts;
  for (const trace::NamedFact& fact : run.trace().facts) {
    if (fact.file == file && !fact.value.empty()) {
      facts.emplace(fact.key, fact.value);
    }
  }
  return facts;
}

std::string file_row(const RunDigest& run, int file) {
  auto cell = [](const std::string& text) { return fmt::format("<td>{}</td>", html(text)); };
  auto of = [&run, file](Counter counter) { return run.of_file(counter, file); };
  const int64_t requests = of(Counter::kReadRequests) + of(Counter::kWriteRequests);
  const int64_t pieces = of(Counter::kReadPieces) + of(Counter::kWritePieces);
  const int64_t bytes = of(Counter::kBytesRead) + of(Counter::kBytesWritten);
  double seconds = 0;
  for (size_t phase = 0; phase < kPhaseCount; ++phase) {
    seconds += static_cast<double>(of(static_cast<Counter>(static_cast<size_t>(Counter::kOpenNs) + phase))) * 1e-9;
  }
  std::string method;
  std::string more;
  for (const auto& [key, value] : facts_of(run, file)) {
    (key == "method" ? method : more) +=
        key == "method" ? value : fmt::format("<dt>{}</dt><dd>{}</dd>", html(key), html(value));
  }
  const std::string& name = run.trace().files[static_cast<size_t>(file)];
  return fmt::format("<tr><td class=\"name\">{}{}</td>", html(name),
                     more.empty() ? "" : fmt::format("<details><summary>how</summary><dl>{}</dl></details>", more)) +
         cell(count_text(of(Counter::kOpens))) + cell(bytes_text(static_cast<double>(of(Counter::kBytesRead)))) +
         cell(bytes_text(static_cast<double>(of(Counter::kBytesWritten)))) + cell(count_text(requests)) +
         cell(pieces == 0 ? "" : bytes_text(share_of(static_cast<double>(bytes), static_cast<double>(pieces)))) + cell(method) +
         cell(seconds_text(seconds / std::max(1, run.ranks()))) + "</tr>\n";
}

std::string files_section(const RunDigest& run) {
  std::vector<int> files = run.files();
  if (files.empty()) {
    return "<p>No counters of files were recorded.</p>";
  }
  auto moved = [&run](int file) { return run.of_file(Counter::kBytesRead, file) + run.of_file(Counter::kBytesWritten, file); };
  std::stable_sort(files.begin(), files.end(), [&moved](int a, int b) { return moved(a) > moved(b); });
  std::string rows;
  for (size_t i = 0; i < std::min(files.size(), kMostFiles); ++i) {
    rows += file_row(run, files[i]);
  }
  const std::string rest =
      files.size() > kMostFiles ? fmt::format("<p class=\"note\">… and {} smaller files.</p>", files.size() - kMostFiles) : "";
  return fmt::format(
      "<div "
      "class=\"scroll\"><table><thead><tr><th>file</th><th>opens</th><th>read</th><th>written</th><th>requests</th><th>mean "
      "piece</th>"
      "<th>method</th><th>time a rank</th></tr></thead><tbody>{}</tbody></table></div>{}",
      rows, rest);
}

// Waiting lies inside the parts of the picture.
std::string waiting_note(const RunDigest& run) {
  const double seconds = run.waiting_seconds();
  if (seconds <= 0) {
    return "";
  }
  return fmt::format(" In all of it together a rank stood still for others for {}, {} of the time.",
                     seconds_text(seconds / run.ranks()), percent_text(share_of(seconds, run.io_seconds())));
}

std::string section(const std::string& title, const std::string& note, const std::string& content) {
  if (content.empty()) {
    return "";
  }
  const std::string said = note.empty() ? "" : fmt::format("<p class=\"note\">{}</p>", note);
  return fmt::format("<section><h2>{}</h2>{}{}</section>\n", title, said, content);
}

}  // namespace

std::string headline(const RunDigest& run, const StorageLimit& limit) {
  std::string text = fmt::format("{} of the run's time went into I/O. While it did, data moved at {}",
                                 percent_text(io_share(run)), rate_text(rate(run)));
  if (limit.bytes_per_second > 0) {
    const std::string share = percent_text(share_of(rate(run), limit.bytes_per_second)) + " of ";
    text += fmt::format(": {}{}, {}", is_at_limit(run, limit) ? "at the limit, no less than " : share,
                        rate_text(limit.bytes_per_second), limit.source);
  }
  return text + ".";
}

std::string report_page(const RunDigest& run, const StorageLimit& limit, const std::vector<Finding>& findings) {
  const trace::TraceFile& trace = run.trace();
  std::string notices;
  for (const std::string& notice : trace_notices(trace)) {
    notices += fmt::format("<p role=\"alert\">{}</p>\n", html(notice));
  }
  const std::string title = trace.program.empty() ? "A run" : trace.program;
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>{} – "
      "I/O report</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n<header><h1>{}</h1><p "
      "class=\"command\">{}</p></header>\n"
      "{}<p class=\"headline\">{}</p>\n<div class=\"tiles\">{}</div>\n",
      html(title), kReportStyle, html(title), html(trace.command), notices, html(headline(run, limit)), tiles(run, limit));
  page += section(
      findings.empty() ? "Findings" : fmt::format("{} {}", findings.size(), findings.size() == 1 ? "finding" : "findings"),
      findings.empty() ? "" : "The weightiest first.", findings_section(findings));
  page += section("Where the time in I/O went", "All ranks together; seconds are the mean of a rank." + waiting_note(run),
                  run.breakdown().empty() ? "" : breakdown_picture(run));
  page +=
      section("Ranks", "Time in I/O of each rank. Columns of unlike height mean that some wait for others.", rank_picture(run));
  page += section(
      "Sizes of the pieces that reached the storage",
      "<i class=\"p-write\"></i> written <i class=\"p-read\"></i> read, in bytes; a piece is a contiguous part of a file.",
      size_picture(run));
  page += section("Files", "", files_section(run));
  return page + "</main>\n</body>\n</html>\n";
}

std::string report_json(const RunDigest& run, const StorageLimit& limit, const std::vector<Finding>& findings) {
  json list = json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"rule", finding.rule},
                    {"text", finding.text},
                    {"evidence", finding.evidence},
                    {"advice", finding.advice},
                    {"weight", finding.weight}});
  }
  json breakdown = json::object();
  for (const TimeShare& share : run.breakdown()) {
    breakdown[share.name] = share.seconds;
  }
  const json report = {{"program", run.trace().program},
                       {"ranks", run.ranks()},
                       {"run_seconds", run.run_seconds()},
                       {"io_share", io_share(run)},
                       {"io_seconds", run.io_seconds()},
                       {"io_wall_seconds", run.io_wall_seconds()},
                       {"waiting_seconds", run.waiting_seconds()},
                       {"useful_bytes", run.useful_bytes()},
                       {"bytes_per_second", rate(run)},
                       {"limit", {{"bytes_per_second", limit.bytes_per_second}, {"source", limit.source}}},
                       {"breakdown_seconds", breakdown},
                       {"findings", list}};
  return report.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace stria::tool
