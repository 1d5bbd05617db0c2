#include "report/terminal.hpp"

#include <array>

#include "report/rule.hpp"

namespace stria::tool {

namespace {

constexpr double kHighShare = 0.20;
constexpr double kMediumShare = 0.05;
constexpr size_t kColumns = 80;
constexpr size_t kIndent = 9;

struct Look {
  const char* name;
  const char* colour;  // the colour of ANSI: red, yellow, cyan, grey
};
constexpr std::array<Look, 4> kLooks = {
    {{"high", "\033[1;31m"}, {"medium", "\033[1;33m"}, {"low", "\033[1;36m"}, {"remark", "\033[2m"}}};
constexpr const char* kPlain = "\033[0m";

const Look& look_of(Severity severity) {
  return kLooks[static_cast<size_t>(severity)];
}

// Breaks a text at its blanks. The first line begins behind the indent, the others have it.
std::string wrapped(std::string_view text) {
  const std::string indent(kIndent, ' ');
  std::string lines;
  size_t column = kIndent;
  while (!text.empty()) {
    const size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    if (column > kIndent && column + 1 + word.size() > kColumns) {
      lines += "\n" + indent;
      column = kIndent;
    }
    if (column > kIndent) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines + "\n";
}

}  // namespace

Severity severity_of(const Finding& finding, const RunDigest& run) {
  const double share = finding.weight * run.io_share();
  return finding.is_remark       ? Severity::kRemark
         : share >= kHighShare   ? Severity::kHigh
         : share >= kMediumShare ? Severity::kMedium
                                 : Severity::kLow;
}

std::string counts_text(std::span<const Finding> findings, const RunDigest& run) {
  std::array<int, kLooks.size()> counts{};
  for (const Finding& finding : findings) {
    ++counts[static_cast<size_t>(severity_of(finding, run))];
  }
  const int remarks = counts[static_cast<size_t>(Severity::kRemark)];
  const int to_change = static_cast<int>(findings.size()) - remarks;
  std::string text = to_change > 0 ? counted_text(to_change, "finding") : "";
  const char* separator = ": ";
  for (size_t i = 0; i < static_cast<size_t>(Severity::kRemark); ++i) {
    if (counts[i] > 0) {
      text += fmt::format("{}{} {}", separator, counts[i], kLooks[i].name);
      separator = ", ";
    }
  }
  if (remarks > 0) {
    text += (text.empty() ? "" : "; ") + counted_text(remarks, "remark");
  }
  return text;
}

std::string terminal_text(std::span<const Finding> findings, const RunDigest& run, bool coloured) {
  std::string text = counts_text(findings, run);
  text += text.empty() ? "" : "\n";
  for (const Finding& finding : findings) {
    if (finding.is_remark) {
      continue;
    }
    const Look& look = look_of(severity_of(finding, run));
    const std::string name = fmt::format("{:<{}}", look.name, kIndent);
    text += (coloured ? look.colour + name + kPlain : name) + wrapped(finding.text);
    const std::string indent(kIndent, ' ');
    text += indent + wrapped(finding.evidence) + indent + wrapped("-> " + finding.advice);
  }
  return text;
}

}  // namespace stria::tool
