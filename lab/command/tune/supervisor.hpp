// Starts the ranks of `stria tune` and watches them: see past.hpp.
#pragma once

#include <string>
#include <vector>

namespace stria::tool {

struct TimeLimits {
  double candidate_s = 0;  ///< the seconds of one run; 0: by what the defaults took
  double budget_s = 60;    ///< the seconds of the whole race
};

/// Runs the command, with kPastOption behind it, until it ends by itself, and passes on what it
/// says. Returns its exit status. Throws stria::Error where it can't be started, and where even the
/// defaults don't end in time.
int supervise(const std::vector<std::string>& command, const TimeLimits& limits);

}  // namespace stria::tool
