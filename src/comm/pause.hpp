// How a thread waits for others without burning the processor that they need.
#pragma once

namespace stria {

/// Gives up the processor for a moment: yields at first, because an answer is often a context switch away, then sleeps for
/// longer and longer, up to kLongestPauseMicroseconds. `attempt` counts the pauses of one wait from 0.
void polite_pause(int attempt);

inline constexpr int kLongestPauseMicroseconds = 600;

}  // namespace stria
