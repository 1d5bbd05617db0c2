// Copies that leave the processor's caches alone.
//
// Problem: the processor fetches a cache line before it changes it. Where more is written than the
// caches hold, half of what memory moves is lines that nobody reads.
// Method: stores that write whole lines to memory without fetching them, where the processor has
// such (SSE2). From pread to the end of unpacking, a restart of 8 MB or more takes 0.7 to 0.9 of
// the time, though whoever uses the data next has to fetch them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stria::pack {

inline constexpr int64_t kCacheLineBytes = 64;

/// Copies bytes that don't overlap. Other threads may see them only after end_past_caches().
void copy_past_caches(std::byte* to, const std::byte* from, int64_t bytes);
void end_past_caches();

}  // namespace stria::pack
