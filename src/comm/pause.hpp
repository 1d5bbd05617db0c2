// How a thread waits for others without burning the processor that they need.
#pragma once

namespace stria {

/// How often a wait yields before it sleeps. A yield and a test cost about a microsecond when nobody else wants the core: some
/// 100 µs of them cover the usual latency of a small collective. Where waiting ranks outnumber the cores, every yield of theirs
/// is time that the ranks they wait for don't get.
inline constexpr int kYields = 400;
inline constexpr int kYieldsWhereCrowded = 20;

/// Gives up the processor for a moment: yields at first, because an answer is often a context switch away, then sleeps for
/// longer and longer, up to kLongestPauseMicroseconds. `attempt` counts the pauses of one wait from 0.
void polite_pause(int attempt, int yields = kYields);

inline constexpr int kLongestPauseMicroseconds = 600;

}  // namespace stria
