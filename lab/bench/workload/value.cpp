#include "workload/value.hpp"

#include <algorithm>
#include <cstring>

namespace stria::bench {

namespace {

constexpr int64_t kWord = 8;

uint64_t seed_of(const ValueKey& key) {
  const uint64_t mixed = static_cast<uint64_t>(key.file) * 0x9e3779b97f4a7c15u + key.array * 0xc2b2ae3d27d4eb4fu;
  return (mixed + static_cast<uint64_t>(key.round) + 1) * 0x165667b19e3779f9u;
}

// Any bytes will do, even for doubles: nothing is converted, so NaN and zero are no special cases.
uint64_t word_at(uint64_t seed, int64_t index) {
  const uint64_t mixed = (static_cast<uint64_t>(index) + seed) * 0xff51afd7ed558ccdu;
  return mixed ^ (mixed >> 32);
}

/// Calls `take(word, first byte in it, bytes, done)` for the words that hold [offset,
/// offset + bytes).
template <typename Take>
void for_each_word(const ValueKey& key, int64_t offset, int64_t bytes, Take take) {
  const uint64_t seed = seed_of(key);
  for (int64_t done = 0; done < bytes;) {
    const int64_t first = (offset + done) % kWord;
    const int64_t now = std::min(kWord - first, bytes - done);
    const uint64_t word = word_at(seed, (offset + done) / kWord);
    take(reinterpret_cast<const std::byte*>(&word) + first, now, done);
    done += now;
  }
}

}  // namespace

std::byte value_at(const ValueKey& key, int64_t offset) {
  std::byte value{};
  fill_values(key, offset, 1, &value);
  return value;
}

void fill_values(const ValueKey& key, int64_t offset, int64_t bytes, std::byte* target) {
  for_each_word(key, offset, bytes, [&](const std::byte* word, int64_t now, int64_t done) {
    std::memcpy(target + done, word, static_cast<size_t>(now));
  });
}

int64_t first_difference(const ValueKey& key, int64_t offset, int64_t bytes, const std::byte* found) {
  int64_t place = -1;
  for_each_word(key, offset, bytes, [&](const std::byte* word, int64_t now, int64_t done) {
    if (place < 0 && std::memcmp(word, found + done, static_cast<size_t>(now)) != 0) {
      place = offset + done + (std::mismatch(word, word + now, found + done).first - word);
    }
  });
  return place;
}

}  // namespace stria::bench
