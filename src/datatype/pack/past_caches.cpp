#include "datatype/pack/past_caches.hpp"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace stria::pack {

#if defined(__x86_64__)

namespace {

inline void copy_line(std::byte* to, const std::byte* from) {
  for (int64_t i = 0; i < kCacheLineBytes; i += static_cast<int64_t>(sizeof(__m128i))) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
}

}  // namespace

void copy_past_caches(std::byte* to, const std::byte* from, int64_t bytes) {
  const auto misplaced = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kCacheLineBytes);
  const int64_t head = std::min(bytes, (kCacheLineBytes - misplaced) % kCacheLineBytes);
  std::memcpy(to, from, static_cast<size_t>(head));
  int64_t done = head;
  for (; done + kCacheLineBytes <= bytes; done += kCacheLineBytes) {
    copy_line(to + done, from + done);
  }
  std::memcpy(to + done, from + done, static_cast<size_t>(bytes - done));
}

void end_past_caches() {
  _mm_sfence();
}

#else

void copy_past_caches(std::byte* to, const std::byte* from, int64_t bytes) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
}

void end_past_caches() {}

#endif

}  // namespace stria::pack
