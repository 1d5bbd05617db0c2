#include "report/svg.hpp"

#include <algorithm>
#include <string_view>

#include "report/rule.hpp"

namespace stria::tool {

namespace {

using trace::Counter;

constexpr double kWidth = 760;
constexpr int kMostColumns = 128;

// The class that colours a part: phases have their own, everything else takes turns.
std::string color_class(const std::string& name, size_t index) {
  static constexpr std::string_view kStorage = "storage ";
  const std::string plain = name.starts_with(kStorage) ? name.substr(kStorage.size()) : name;
  for (size_t phase = 0; phase < kPhaseCount; ++phase) {
    if (plain == phase_name(static_cast<Phase>(phase))) {
      return "p-" + plain;
    }
  }
  if (name == "plan" || name == "turn wait" || name == "agreement among ranks") {
    return name == "plan" ? "p-plan" : "p-agreement";
  }
  const bool is_rest = name == "outside the phases" || name == "other calls" || name.ends_with(" itself");
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
  auto first_rank = [&](int column) { return static_cast<int>(int64_t{column} * run.ranks() / columns); };
  double most = 0;
  for (int rank = 0; rank < run.ranks(); ++rank) {
    most = std::max(most, run.io_seconds(rank));
  }
  if (most <= 0) {
    return "";
  }
  const double width = std::min((kWidth - kLeft) / columns, 48.0);
  std::string bars;
  for (int column = 0; column < columns; ++column) {
    const int begin = first_rank(column);
    const int end = first_rank(column + 1);
    double y = kHeight;
    auto add = [&](const std::string& css, double seconds) {
      const double height = seconds / (end - begin) / most * (kHeight - 10);
      y -= height;
      bars += rectangle(css, kLeft + column * width, y, std::max(0.5, width - (width > 4 ? 1.5 : 0)), height) + "/>";
    };
    double in_phases = 0;
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      double seconds = 0;
      for (int rank = begin; rank < end; ++rank) {
        seconds += run.seconds(static_cast<Phase>(phase), rank);
      }
      in_phases += seconds;
      add(std::string("p-") + phase_name(static_cast<Phase>(phase)), seconds);
    }
    double all = 0;
    for (int rank = begin; rank < end; ++rank) {
      all += run.io_seconds(rank);
    }
    add("p-other", std::max(0.0, all - in_phases));
  }
  const std::string axis =
      axis_text(kLeft - 6, 14, seconds_text(most)) + axis_text(kLeft - 6, kHeight, "0 s") +
      axis_text(kLeft, kHeight + 16, "rank 0", "start") +
      axis_text(kLeft + std::max(columns * width, 120.0), kHeight + 16, fmt::format("rank {}", run.ranks() - 1));
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Seconds in I/O by rank, at most {}\">{}{}</svg>",
                     kWidth, kHeight + 20, seconds_text(most), bars, axis);
}

std::string size_picture(const RunDigest& run) {
  constexpr double kRow = 22;
  constexpr double kLeft = 90;
  int64_t most = 0;
  std::array<std::array<int64_t, 2>, trace::kSizeBinCount> counts{};
  for (size_t bin = 0; bin < counts.size(); ++bin) {
    counts[bin] = {run.total(static_cast<Counter>(static_cast<size_t>(Counter::kWriteSizes0) + bin)),
                   run.total(static_cast<Counter>(static_cast<size_t>(Counter::kReadSizes0) + bin))};
    most = std::max({most, counts[bin][0], counts[bin][1]});
  }
  if (most == 0) {
    return "";
  }
  std::string bars;
  std::string words;
  double y = 4;
  for (size_t bin = 0; bin < counts.size(); ++bin) {
    const char* name = trace::size_bin_name(static_cast<int>(bin));
    const auto [writes, reads] = counts[bin];
    bars += axis_text(kLeft - 8, y + 13, name);
    double row = y;
    for (const auto& [css, count] : {std::pair("p-write", writes), std::pair("p-read", reads)}) {
      if (count > 0) {
        bars += rectangle(css, kLeft, row, static_cast<double>(count) / static_cast<double>(most) * (kWidth - kLeft - 90), 8) +
                "/>";
        row += 9;
      }
    }
    if (writes + reads > 0) {
      const int64_t longest = std::max(writes, reads);
      bars += axis_text(kLeft + static_cast<double>(longest) / static_cast<double>(most) * (kWidth - kLeft - 90) + 8, y + 11,
                        count_text(writes + reads), "start");
      words += fmt::format("{}{}: {}", words.empty() ? "" : ", ", name, writes + reads);
    }
    y += kRow;
  }
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Pieces by size: {}\">{}</svg>", kWidth, y + 4,
                     html(words), bars);
}

}  // namespace stria::tool
