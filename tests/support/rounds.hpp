// Describes how often a test repeats what it does at random, or at every moment.
//
// A sanitizer's build does a quarter of the rounds. There each takes ten times as long, other
// builds compare all results with the oracle, and what the sanitizer looks for, a wrong access, is
// in the first rounds as often as in the last. STRIA_ALL_ROUNDS, which scripts/check_long.sh sets,
// asks for all of them.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "support/sanitized.hpp"

namespace stria {

inline bool does_all_rounds() {
  return !kSanitized || std::getenv("STRIA_ALL_ROUNDS") != nullptr;
}

/// Returns `usual`, or a quarter of it, but at least one.
template <typename Integer>
Integer rounds(Integer usual) {
  return does_all_rounds() ? usual : std::max<Integer>(usual / 4, 1);
}

/// The step from one operation that fails to the next that does is 1 or 3. Ranks that begin at 1 +
/// rank % step try each third of what they do alike.
inline int failure_step() {
  return does_all_rounds() ? 1 : 3;
}

}  // namespace stria
