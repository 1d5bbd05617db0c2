// Finds the hints with which a workload runs fastest, by successive halving.
//
// Problem: storage is noisy, and the best of many candidates by one look each is often only the
// luckiest. On slow storage there is no time for more than one look at all of them.
// Method: candidates run once, with the defaults between them, so that each is compared with its
// neighbour in time. The better half by the median ratio goes on to twice as many rounds, until one
// is left. Where there is no time for all at once, one question is settled after the other: each
// stage's candidates add to what won the stage before, which stays in the race. The winner and the
// defaults then run in turn, the defaults twice, in new rounds. It wins only if it is ahead by more
// than the defaults differ from themselves.
// Cost: what the budget allows. Candidates that it leaves no time for are not tried.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stria/hints.hpp"

namespace stria::tool {

/// Holds what a race needs from outside. Every rank gives the same answers.
struct Track {
  std::function<double(const Hints&)> run;  ///< seconds of the workload; infinity where it fails
  std::function<double()> now;              ///< seconds since the race began
  std::function<void(const std::string&)> progress;
  double budget_s = 60;
};

/// Says what a candidate achieved: how many times as fast as the defaults it was, by round.
struct Runner {
  Hints hints;
  std::vector<double> ratios;
};

struct Verdict {
  double default_s = 0;              ///< median of the defaults
  std::vector<Runner> runners;       ///< those that were tried, best first
  std::vector<double> final_ratios;  ///< the ratios of runners[0], in rounds of their own
  std::vector<double> noise;         ///< the defaults by themselves in these rounds, 1 or more
  bool is_better = false;            ///< runners[0] beats the defaults
  std::string reason;                ///< in a sentence
};

/// The candidates of a stage, given the hints that won before.
using Stage = std::function<std::vector<Hints>(const Hints& best)>;

/// What isn't faster by this is not worth a file, or a hint more.
inline constexpr double kLeastGain = 1.03;

/// Races all `candidates` at once where the budget has time for it, else by `stages`.
Verdict race(const Track& track, const std::vector<Hints>& candidates, const std::vector<Stage>& stages);

/// Returns "cb_nodes=2 stria_method=two_phase"; "defaults" where there are none.
std::string in_words(const Hints& hints);

}  // namespace stria::tool
