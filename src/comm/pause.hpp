// How a thread waits for others without burning the processor that they need.
#pragma once

#include <atomic>
#include <cstdint>

namespace stria {

/// Gives up the processor for a moment: yields at first, because an answer is often a context switch away, then sleeps for
/// longer and longer, up to kLongestPauseMicroseconds. `attempt` counts the pauses of one wait from 0.
void polite_pause(int attempt);
/// Which of the pauses of a wait is the first that sleeps: some 100 microseconds are over then.
inline constexpr int kYieldingPauses = 400;

/// Waits while `word`, which processes may share, has the value `seen`: yields a few times, then sleeps on it. False when it
/// still has it after about a millisecond.
bool sleep_while(std::atomic<uint32_t>& word, uint32_t seen);
/// Wakes all who sleep on the word.
void wake_sleepers(std::atomic<uint32_t>& word);

inline constexpr int kLongestPauseMicroseconds = 600;

}  // namespace stria
