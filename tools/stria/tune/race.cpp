#include "tune/race.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "spread.hpp"

namespace stria::tool {

namespace {

/// Candidates between two runs of the defaults.
constexpr size_t kGroup = 4;
/// The part of the budget that the search may use; the rest is for the final.
constexpr double kSearchPart = 0.6;
constexpr int kLeastFinalRounds = 5;  // one may go the other way
constexpr int kMostFinalRounds = 15;
/// The defaults must have time for as many runs, or nothing is tried.
constexpr int kLeastRuns = 12;
/// What isn't faster by this is not worth a file.
constexpr double kLeastGain = 1.03;

double median(const std::vector<double>& values) {
  return spread(values).median;
}

class Race {
 public:
  Race(const Track& track, const std::vector<Hints>& candidates) : track_(track) {
    for (const Hints& hints : candidates) {
      verdict_.runners.push_back({hints, {}});
    }
  }

  Verdict run() {
    track_.run({});  // makes the storage warm
    const double once = default_run();
    if (once * kLeastRuns > track_.budget_s) {
      verdict_.runners.clear();
      verdict_.reason = fmt::format("a run takes {:.2f} s: too long for a budget of {:.0f} s", once, track_.budget_s);
      return verdict_;
    }
    search();
    if (!verdict_.runners.empty()) {
      decide();
    }
    verdict_.default_s = median(defaults_);
    return verdict_;
  }

 private:
  double default_run() {
    defaults_.push_back(track_.run({}));
    return defaults_.back();
  }

  // The first `standing_` runners are still in the race.
  void search() {
    standing_ = verdict_.runners.size();
    const double end = kSearchPart * track_.budget_s;
    for (int rounds = 1; standing_ > 1 && track_.now() < end; rounds *= 2) {
      track_.progress(fmt::format("{} candidates, {} rounds each", standing_, rounds));
      for (int round = 0; round < rounds && track_.now() < end; ++round) {
        run_round(end);
      }
      drop_untried();
      sort_standing();
      standing_ = std::max<size_t>((standing_ + 1) / 2, std::min<size_t>(standing_, 1));
    }
    drop_untried();
  }

  void run_round(double end) {
    double compared = 0;
    for (size_t i = 0; i < standing_ && track_.now() < end; ++i) {
      if (i % kGroup == 0) {
        compared = default_run();
      }
      Runner& runner = verdict_.runners[i];
      runner.ratios.push_back(compared / track_.run(runner.hints));
    }
  }

  void drop_untried() {
    std::erase_if(verdict_.runners, [](const Runner& runner) { return runner.ratios.empty(); });
    standing_ = std::min(standing_, verdict_.runners.size());
  }

  void sort_standing() {
    std::stable_sort(verdict_.runners.begin(), verdict_.runners.begin() + static_cast<std::ptrdiff_t>(standing_),
                     [](const Runner& a, const Runner& b) { return median(a.ratios) > median(b.ratios); });
  }

  void decide() {
    const Hints& hints = verdict_.runners[0].hints;
    track_.progress(fmt::format("the final: {}", in_words(hints)));
    for (int round = 0; round < kMostFinalRounds; ++round) {
      if (round >= kLeastFinalRounds && track_.now() > track_.budget_s) {
        break;
      }
      const double first = default_run();
      const double candidate = track_.run(hints);
      const double second = default_run();
      verdict_.final_ratios.push_back((first + second) / 2 / candidate);
      verdict_.noise.push_back(std::max(first / second, second / first));
    }
    const double gain = median(verdict_.final_ratios);
    const double needed = std::max(kLeastGain, median(verdict_.noise));
    // Less than a quarter of the rounds may go the other way.
    const size_t behind = static_cast<size_t>(
        std::count_if(verdict_.final_ratios.begin(), verdict_.final_ratios.end(), [](double ratio) { return ratio <= 1; }));
    verdict_.is_better = gain > needed && behind * 4 < verdict_.final_ratios.size();
    verdict_.reason = fmt::format(
        "{:.2f} times as fast as the defaults in {} rounds ({:.2f} to {:.2f}), which differ from "
        "themselves by {:.2f}",
        gain, verdict_.final_ratios.size(), spread(verdict_.final_ratios).minimum, spread(verdict_.final_ratios).maximum,
        median(verdict_.noise));
  }

  const Track& track_;
  std::vector<double> defaults_;
  size_t standing_ = 0;
  Verdict verdict_;
};

}  // namespace

Verdict race(const Track& track, const std::vector<Hints>& candidates) {
  return Race(track, candidates).run();
}

std::string in_words(const Hints& hints) {
  std::vector<std::string> words;
  for (const auto& [name, value] : hints) {
    words.push_back(name + "=" + value);
  }
  return words.empty() ? "defaults" : fmt::format("{}", fmt::join(words, " "));
}

}  // namespace stria::tool
