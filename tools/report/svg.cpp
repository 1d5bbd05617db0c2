#include "report/svg.hpp"

#include <algorithm>
#include <string_view>

#include "report/rule.hpp"

namespace stria::tool {

namespace {

using trace::Counter;

constexpr double kWidth = 760;
constexpr int kMostColumns = 128;

// Returns the CSS class that colours a part. Parts of the engine have their own; all others take
// turns.
std::string color_class(const std::string& name, size_t index) {
  static constexpr std::string_view kNames[] = {"open",  "metadata", "pack", "unpack", "exchange",
                                                "write", "read",     "sync", "commit", "plan"};
  if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) {
    return "p-" + name;
  }
  static constexpr std::pair<std::string_view, const char*> kClasses[] = {
      {kWaitingPart, "p-waiting"},           {kTurnPart, "p-turn"},         {kSharingPart, "p-sharing"},
      {kBackgroundWaitPart, "p-background"}, {"storage name", "p-name"},    {"storage close", "p-close"},
      {"storage reserve", "p-reserve"},      {"storage resize", "p-resize"}};
  const auto* const known =
      std::find_if(std::begin(kClasses), std::end(kClasses), [&name](const auto& entry) { return entry.first == name; });
  if (known != std::end(kClasses)) {
    return known->second;
  }
  const bool is_rest = name == kOutsidePart || name == kOtherCallsPart || name.ends_with(kItself);
  return is_rest ? "p-other" : fmt::format("k-{}", index % 6);
}

std::string rectangle(const std::string& css, double x, double y, double width, double height) {
  return fmt::format("<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"", css, x, y, width,
                     height);
}

std::string axis_text(double x, double y, const std::string& text, const char* anchor = "end") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor, html(text));
}

}  // namespace

std::string html(const std::string& text) {
  std::string safe;
  for (char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string breakdown_picture(const RunDigest& run) {
  const std::vector<TimeShare> shares = run.breakdown();
  double whole = 0;
  std::string words;
  for (const TimeShare& share : shares) {
    whole += share.seconds;
  }
  std::string bars;
  std::string legend;
  double x = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    const double part = shares[i].seconds / whole;
    const std::string css = color_class(shares[i].name, i);
    const std::string said = fmt::format("{} {}", shares[i].name, percent_text(part));
    bars += rectangle(css, x, 0, part * kWidth, 44) + fmt::format("><title>{}</title></rect>", html(said));
    legend += fmt::format("<li><i class=\"{}\"></i>{} <b>{}</b> <span>{}</span></li>", css, html(shares[i].name),
                          percent_text(part), seconds_text(shares[i].seconds / run.ranks()));
    words += (words.empty() ? "" : ", ") + said;
    x += part * kWidth;
  }
  return fmt::format(
      "<svg viewBox=\"0 0 {} 44\" role=\"img\" aria-label=\"Time in I/O: {}\" preserveAspectRatio=\"none\" "
      "class=\"bar\">{}</svg>"
      "<ul class=\"legend\">{}</ul>",
      kWidth, html(words), bars, legend);
}

std::string rank_picture(const RunDigest& run) {
  constexpr double kHeight = 150;
  constexpr double kLeft = 64;
  const int columns = std::min(run.ranks(), kMostColumns);
  const std::vector<TimeShare> parts = run.breakdown();
  auto first_rank = [&](int column) { return static_cast<int>(int64_t{column} * run.ranks() / columns); };
  auto height_of = [&](const TimeShare& part, int column) {
    double seconds = 0;
    for (int rank = first_rank(column); rank < first_rank(column + 1); ++rank) {
      seconds += run.part(part.name, rank);
    }
    return seconds / (first_rank(column + 1) - first_rank(column));
  };
  double most = 0;
  for (int column = 0; column < columns; ++column) {
    double all = 0;
    for (const TimeShare& part : parts) {
      all += height_of(part, column);
    }
    most = std::max(most, all);
  }
  if (most <= 0) {
    return "";
  }
  const double width = std::min((kWidth - kLeft) / columns, 48.0);
  std::string bars;
  for (int column = 0; column < columns; ++column) {
    double y = kHeight;
    for (size_t i = 0; i < parts.size(); ++i) {
      const double height = height_of(parts[i], column) / most * (kHeight - 10);
      y -= height;
      if (height > 0.05) {
        bars += rectangle(color_class(parts[i].name, i), kLeft + column * width, y,
                          std::max(0.5, width - (width > 4 ? 1.5 : 0)), height) +
                fmt::format("><title>{} {}</title></rect>", html(parts[i].name), seconds_text(height_of(parts[i], column)));
      }
    }
  }
  const std::string last = run.ranks() == 1 ? ""
                                            : axis_text(kLeft + std::max(columns * width, 120.0), kHeight + 16,
                                                        fmt::format("rank {}", run.ranks() - 1));
  const std::string axis = axis_text(kLeft - 6, 14, seconds_text(most)) + axis_text(kLeft - 6, kHeight, "0 s") +
                           axis_text(kLeft, kHeight + 16, "rank 0", "start") + last;
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Seconds in I/O by rank, at most {}\">{}{}</svg>",
                     kWidth, kHeight + 20, seconds_text(most), bars, axis);
}

// Returns the name of a bin in bytes: "100 B to 1 kB" for the trace's "100–1K".
std::string bin_text(size_t bin) {
  auto end = [](size_t at) { return bytes_text(static_cast<double>(trace::kSizeBinEnds[at])); };
  return bin == 0                           ? "to " + end(0)
         : bin < trace::kSizeBinEnds.size() ? end(bin - 1) + " to " + end(bin)
                                            : "above " + end(bin - 1);
}

std::string size_picture(const RunDigest& run) {
  constexpr double kRow = 22;
  constexpr double kLeft = 140;
  int64_t most = 0;
  std::array<std::array<int64_t, 2>, trace::kSizeBinCount> counts{};
  for (size_t bin = 0; bin < counts.size(); ++bin) {
    counts[bin] = {run.counters().total(static_cast<Counter>(static_cast<size_t>(Counter::kWriteSizes0) + bin)),
                   run.counters().total(static_cast<Counter>(static_cast<size_t>(Counter::kReadSizes0) + bin))};
    most = std::max({most, counts[bin][0], counts[bin][1]});
  }
  if (most == 0) {
    return "";
  }
  std::string bars;
  std::string words;
  double y = 4;
  for (size_t bin = 0; bin < counts.size(); ++bin) {
    const auto [writes, reads] = counts[bin];
    if (writes + reads == 0) {
      continue;
    }
    const std::string name = bin_text(bin);
    bars += axis_text(kLeft - 8, y + 13, name);
    double row = y;
    for (const auto& [css, count] : {std::pair("p-write", writes), std::pair("p-read", reads)}) {
      if (count > 0) {
        bars += rectangle(css, kLeft, row, static_cast<double>(count) / static_cast<double>(most) * (kWidth - kLeft - 90), 8) +
                "/>";
        row += 9;
      }
    }
    const int64_t longest = std::max(writes, reads);
    bars += axis_text(kLeft + static_cast<double>(longest) / static_cast<double>(most) * (kWidth - kLeft - 90) + 8, y + 11,
                      count_text(writes + reads), "start");
    words += fmt::format("{}{}: {}", words.empty() ? "" : ", ", name, writes + reads);
    y += kRow;
  }
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Pieces by size: {}\">{}</svg>", kWidth, y + 4,
                     html(words), bars);
}

}  // namespace stria::tool
