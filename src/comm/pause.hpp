// Describes how a thread waits for others and leaves them the processor that they need.
#pragma once

#include <atomic>
#include <cstdint>

namespace stria {

/// Gives up the processor for a moment. At first it yields, because an answer is often only a
/// context switch away; then it sleeps for longer and longer, up to kLongestPauseMicroseconds.
/// `attempt` counts the pauses of one wait from 0.
void polite_pause(int attempt);
/// The number of the first pause that sleeps; some 100 microseconds have passed by then.
inline constexpr int kYieldingPauses = 400;

/// Returns the word as the futex call takes it.
inline uint32_t* futex_word(std::atomic<uint32_t>& word) {
  return reinterpret_cast<uint32_t*>(&word);
}

/// Waits while `word`, which processes may share, has the value `seen`: yields a few times, then
/// sleeps on the word. False when the word still has that value after about a millisecond.
bool sleep_while(std::atomic<uint32_t>& word, uint32_t seen);
/// Wakes all threads that sleep on the word.
void wake_sleepers(std::atomic<uint32_t>& word);

inline constexpr int kLongestPauseMicroseconds = 600;

}  // namespace stria
