#include "tune/model_search.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stria::tool {

Verdict search_model(const Track& track, const std::vector<Stage>& stages) {
  Verdict verdict;
  verdict.default_s = track.run({});
  Hints best;
  double best_s = verdict.default_s;
  size_t left_out = 0;
  for (const Stage& stage : stages) {
    const Hints before = best;
    for (const Hints& hints : stage(before)) {
      if (track.now() > track.budget_s) {
        ++left_out;
        continue;
      }
      const double seconds = track.run(hints);
      verdict.runners.push_back({hints, {verdict.default_s / seconds}});
      track.progress(fmt::format("{:.4f} s simulated: {}", seconds, in_words(hints)));
      if (seconds * kLeastGain < best_s) {
        best = hints;
        best_s = seconds;
      }
    }
  }
  std::stable_sort(verdict.runners.begin(), verdict.runners.end(),
                   [&](const Runner& a, const Runner& b) { return a.ratios[0] > b.ratios[0]; });
  const auto winner =
      std::find_if(verdict.runners.begin(), verdict.runners.end(), [&](const Runner& runner) { return runner.hints == best; });
  verdict.is_better = winner != verdict.runners.end();
  if (verdict.is_better) {  // Where two are as fast, the one with fewer hints is better.
    std::rotate(verdict.runners.begin(), winner, winner + 1);
  }
  verdict.reason = fmt::format("{:.2f} times as fast as the defaults on the model", verdict.default_s / best_s);
  if (left_out > 0) {
    verdict.reason += fmt::format(", with {} candidates that the budget left no time for", left_out);
  }
  return verdict;
}

}  // namespace stria::tool
