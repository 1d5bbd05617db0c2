// Finds hints on a machine that is modelled (docs/simulate.md).
//
// Problem: trying hints on thousands of ranks takes node hours.
// Method: one question is settled after the other, as in a race without time for all combinations.
// A model gives the same time each time, so that each candidate runs once.
#pragma once

#include <vector>

#include "tune/race.hpp"

namespace stria::tool {

/// `track.run` gives simulated seconds, and `track.now` those that pass while it does. What the
/// budget leaves no time for is not tried.
Verdict search_model(const Track& track, const std::vector<Stage>& stages);

}  // namespace stria::tool
