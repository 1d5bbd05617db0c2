#include "report/report_page.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "report/report_style.hpp"
#include "report/rule.hpp"
#include "report/svg.hpp"
#include "report/terminal.hpp"
#include "viewer/view_page.hpp"

namespace stria::tool {

namespace {

using nlohmann::json;
using trace::Counter;

constexpr size_t kMostFiles = 200;

double of_limit(const RunDigest& run, const StorageLimit& limit) {
  return share_of(run.useful_rate(), limit.bytes_per_second);
}

std::string section(const std::string& title, const std::string& note, const std::string& content) {
  if (content.empty()) {
    return "";
  }
  const std::string said = note.empty() ? "" : fmt::format("<p class=\"note\">{}</p>", note);
  return fmt::format("<section><h2>{}</h2>{}{}</section>\n", title, said, content);
}

// What is wider than a narrow window scrolls by itself, also by the keyboard.
std::string scrolling(const std::string& title, const std::string& content) {
  return content.empty()
             ? ""
             : fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">{}</div>", title, content);
}

std::string finding_item(const Finding& finding) {
  return fmt::format("<li data-rule=\"{}\"><h3>{}</h3><p class=\"evidence\">{}</p><p class=\"advice\"><b>{}</b> {}</p></li>\n",
                     finding.rule, html(finding.text), html(finding.evidence),
                     finding.is_remark ? "To change it:" : "What to change.", html(finding.advice));
}

// First what to change, then what is worth knowing but not worth the effort.
std::string findings_sections(const std::vector<Finding>& findings, const RunDigest& run, Verdict verdict) {
  std::string items;
  std::string remarks;
  for (const Finding& finding : findings) {
    (finding.is_remark ? remarks : items) += finding_item(finding);
  }
  std::string text;
  if (!items.empty()) {
    text += section(counts_text(findings, run), "The one that costs most comes first.",
                    fmt::format("<ol class=\"findings\">{}</ol>", items));
  } else if (verdict == Verdict::kBelowLimit || verdict == Verdict::kNotCompared) {
    text += section("Findings", "", fmt::format("<p>None of the {} rules found anything to change.</p>", rule_names().size()));
  }
  if (!remarks.empty()) {
    text += section("Remarks", "True of this run, but to change them would gain next to nothing of its time.",
                    fmt::format("<ol class=\"findings remarks\">{}</ol>", remarks));
  }
  return text;
}

std::string tile(const std::string& value, const std::string& label) {
  return fmt::format("<div><b>{}</b><span>{}</span></div>", html(value), html(label));
}

std::string tiles(const RunDigest& run, const StorageLimit& limit) {
  std::string text =
      tile(percent_text(run.io_share()),
           fmt::format("of the run in I/O: {} of {}, mean of {}", seconds_text(run.io_seconds() / std::max(1, run.ranks())),
                       seconds_text(run.run_seconds()), counted_text(run.ranks(), "rank")));
  text += tile(rate_text(run.useful_rate()), fmt::format("{} of the program's data in {} of I/O",
                                                         bytes_text(static_cast<double>(run.counters().useful_bytes())),
                                                         seconds_text(run.io_wall_seconds())));
  if (limit.bytes_per_second > 0) {
    text += of_limit(run, limit) >= 1 ? tile("at the limit", "no less than " + limit_text(limit))
                                      : tile(percent_text(of_limit(run, limit)), "of the limit, " + limit_text(limit));
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
  auto of = [&run, file](Counter counter) { return run.counters().of_file(counter, file); };
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
  std::vector<int> files = run.counters().files();
  if (files.empty()) {
    return "<p>No counters of files were recorded.</p>";
  }
  auto moved = [&run](int file) {
    return run.counters().of_file(Counter::kBytesRead, file) + run.counters().of_file(Counter::kBytesWritten, file);
  };
  std::stable_sort(files.begin(), files.end(), [&moved](int a, int b) { return moved(a) > moved(b); });
  std::string rows;
  for (size_t i = 0; i < std::min(files.size(), kMostFiles); ++i) {
    rows += file_row(run, files[i]);
  }
  const std::string rest =
      files.size() > kMostFiles ? fmt::format("<p class=\"note\">… and {} smaller files.</p>", files.size() - kMostFiles) : "";
  return scrolling("Files",
                   fmt::format("<table><thead><tr><th>file</th><th>opens</th><th>read</th><th>written</th><th>requests</th>"
                               "<th>mean piece</th><th>method</th><th>time per rank</th></tr></thead><tbody>{}</tbody></table>",
                               rows)) +
         rest;
}

// Waiting is contained in the parts of the picture where there are no spans of messages.
std::string waiting_note(const RunDigest& run) {
  const double seconds = run.waiting_seconds();
  if (seconds <= 0 || run.part(kWaitingPart) > 0) {
    return "";
  }
  return fmt::format(" In all of it together a rank stood still for others for {}, {} of the time.",
                     seconds_text(seconds / run.ranks()), percent_text(time_share(seconds, run.io_seconds())));
}

}  // namespace

std::string limit_text(const StorageLimit& limit) {
  return fmt::format("{}, {}", rate_text(limit.bytes_per_second), limit.source);
}

std::string headline(const RunDigest& run, const StorageLimit& limit) {
  const std::string share = percent_text(run.io_share());
  const std::string rate = rate_text(run.useful_rate());
  switch (verdict_of(run, limit)) {
    case Verdict::kLittle:
      return fmt::format("Nothing to do: I/O took {} of the run's time. Without any of it the run would hardly be shorter.",
                         share);
    case Verdict::kAtLimit:
      return fmt::format(
          "Nothing to do about how this run does its I/O: it took {} of the run's time, as fast as the storage "
          "allows. Only less data, output less often or faster storage would make it shorter.",
          share);
    case Verdict::kBelowLimit:
      return fmt::format("I/O took {} of the run's time. While it did, data moved at {}, {} of what the storage can do.", share,
                         rate, percent_text(of_limit(run, limit)));
    case Verdict::kNotCompared:
      break;
  }
  return fmt::format("I/O took {} of the run's time. While it did, data moved at {}.", share, rate);
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
  page += findings_sections(findings, run, verdict_of(run, limit));
  page += section("Where the time in I/O went", "All ranks together; seconds are the mean of a rank." + waiting_note(run),
                  run.breakdown().empty() ? "" : breakdown_picture(run));
  page += section("Ranks", "Time in I/O of each rank, in the colours above.", scrolling("Ranks", rank_picture(run)));
  page += section("Sizes of the pieces that reached the storage",
                  "<i class=\"p-write\"></i> written <i class=\"p-read\"></i> read: number of pieces; a piece is a contiguous "
                  "part of a file.",
                  scrolling("Sizes of the pieces", size_picture(run)));
  page += section("Files", "", files_section(run));
  return page + "</main>\n</body>\n</html>\n";
}

namespace {

const char* verdict_name(Verdict verdict) {
  static constexpr const char* kNames[] = {"little", "at_limit", "below_limit", "not_compared"};
  return kNames[static_cast<size_t>(verdict)];
}

}  // namespace

std::string report_json(const RunDigest& run, const StorageLimit& limit, const std::vector<Finding>& findings) {
  json list = json::array();
  json remarks = json::array();
  for (const Finding& finding : findings) {
    (finding.is_remark ? remarks : list)
        .push_back({{"rule", finding.rule},
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
                       {"io_share", run.io_share()},
                       {"io_seconds", run.io_seconds()},
                       {"io_wall_seconds", run.io_wall_seconds()},
                       {"waiting_seconds", run.waiting_seconds()},
                       {"useful_bytes", run.counters().useful_bytes()},
                       {"bytes_per_second", run.useful_rate()},
                       {"limit", {{"bytes_per_second", limit.bytes_per_second}, {"source", limit.source}}},
                       {"breakdown_seconds", breakdown},
                       {"verdict", verdict_name(verdict_of(run, limit))},
                       {"findings", list},
                       {"remarks", remarks}};
  return report.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace stria::tool
