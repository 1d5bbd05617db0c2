#include "tune/race.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

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

double median(const std::vector<double>& values) {
  return spread(values).median;
}

class Race {
 public:
  explicit Race(const Track& track) : track_(track) {}

  Verdict run(const std::vector<Hints>& candidates, const std::vector<Stage>& stages) {
    track_.run({});  // makes the storage warm
    const double once = default_run();
    if (once * kLeastRuns > track_.budget_s) {
      verdict_.reason = fmt::format("a run takes {:.2f} s: too long for a budget of {:.0f} s", once, track_.budget_s);
      return verdict_;
    }
    const double end = kSearchPart * track_.budget_s;
    if (search_s(candidates.size(), once) < end - track_.now()) {
      search(candidates, end);
    } else {
      for (size_t i = 0; i < stages.size() && track_.now() < end; ++i) {
        search(stages[i](best_), track_.now() + (end - track_.now()) / static_cast<double>(stages.size() - i));
      }
    }
    sort(verdict_.runners);
    const auto best = std::find_if(verdict_.runners.begin(), verdict_.runners.end(),
                                   [&](const Runner& runner) { return runner.hints == best_; });
    if (best != verdict_.runners.end()) {
      std::rotate(verdict_.runners.begin(), best, best + 1);
      decide();
    } else {
      verdict_.reason = "no candidate was ahead of them in the search";
    }
    verdict_.default_s = median(defaults_);
    return verdict_;
  }

 private:
  double default_run() {
    defaults_.push_back(track_.run({}));
    return defaults_.back();
  }

  // Returns what halving so many takes: each stage has half as many and twice as many rounds.
  static double search_s(size_t count, double once) {
    const double a_stage = static_cast<double>(count + count / kGroup + 1);
    return once * a_stage * std::ceil(std::log2(static_cast<double>(count) + 1));
  }

  static void sort(std::vector<Runner>& runners) {
    std::stable_sort(runners.begin(), runners.end(),
                     [](const Runner& a, const Runner& b) { return median(a.ratios) > median(b.ratios); });
  }

  // Halves the candidates until one is left, and takes it if it is ahead of the best so far.
  void search(const std::vector<Hints>& candidates, double end) {
    std::vector<Runner> standing;
    for (const Hints& hints : candidates) {
      standing.push_back({hints, {}});
    }
    Runner kept{best_, {}};  // ratios of the defaults to themselves are 1 and the noise
    for (int rounds = 1; !standing.empty() && track_.now() < end; rounds *= 2) {
      track_.progress(fmt::format("{} candidates, {} rounds each", standing.size(), rounds));
      for (int round = 0; round < rounds && track_.now() < end; ++round) {
        run_round(standing, kept, end);
      }
      std::erase_if(standing, [](const Runner& runner) { return runner.ratios.empty(); });
      sort(standing);
      if (standing.size() <= 1) {
        break;
      }
      const auto half = standing.begin() + static_cast<std::ptrdiff_t>((standing.size() + 1) / 2);
      verdict_.runners.insert(verdict_.runners.end(), half, standing.end());
      standing.erase(half, standing.end());
    }
    if (!standing.empty() && median(standing[0].ratios) > kLeastGain * median(kept.ratios)) {
      best_ = standing[0].hints;
    }
    verdict_.runners.insert(verdict_.runners.end(), standing.begin(), standing.end());
  }

  void run_round(std::vector<Runner>& standing, Runner& kept, double end) {
    double compared = default_run();
    kept.ratios.push_back(kept.hints.empty() ? 1 : compared / track_.run(kept.hints));
    for (size_t i = 0; i < standing.size() && track_.now() < end; ++i) {
      if (i > 0 && i % kGroup == 0) {
        compared = default_run();
      }
      standing[i].ratios.push_back(compared / track_.run(standing[i].hints));
    }
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
  Hints best_;  // so far
  Verdict verdict_;
};

}  // namespace

Verdict race(const Track& track, const std::vector<Hints>& candidates, const std::vector<Stage>& stages) {
  return Race(track).run(candidates, stages);
}

std::string in_words(const Hints& hints) {
  std::vector<std::string> words;
  for (const auto& [name, value] : hints) {
    words.push_back(name + "=" + value);
  }
  return words.empty() ? "defaults" : fmt::format("{}", fmt::join(words, " "));
}

}  // namespace stria::tool
