#include "server/objects/block_sum.hpp"

#include <array>
#include <cstring>

namespace stria::server {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr int64_t kWords = kBlockBytes / kSumWordBytes;
constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;
constexpr int kKeyBits = 55;  // 64 and 55 bits for a product, 9 for the number of words: 128

// SplitMix64 (Steele, Lea and Flood 2014) of the words' numbers; odd, so that none is zero.
constexpr std::array<uint64_t, kWords> make_keys() {
  std::array<uint64_t, kWords> keys{};
  uint64_t state = 0;
  for (uint64_t& key : keys) {
    state += 0x9e3779b97f4a7c15;
    uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    key = ((mixed ^ (mixed >> 31)) >> (64 - kKeyBits)) | 1;
  }
  return keys;
}
constexpr std::array<uint64_t, kWords> kKeys = make_keys();

// 2^61 is 1 modulo the prime: the upper bits are added to the lower ones.
uint64_t reduce(Wide value) {
  value = (value & kPrime) + (value >> 61);
  value = (value & kPrime) + (value >> 61);
  const auto small = static_cast<uint64_t>(value);
  return small >= kPrime ? small - kPrime : small;
}

uint64_t word_at(const std::byte* from) {
  uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

uint64_t product(const std::byte* from, const uint64_t* keys, int64_t words) {
  // Two chains, so that no addition waits for the previous one.
  Wide even = 0;
  Wide odd = 0;
  int64_t i = 0;
  for (; i + 1 < words; i += 2) {
    even += Wide{word_at(from + i * kSumWordBytes)} * keys[i];
    odd += Wide{word_at(from + (i + 1) * kSumWordBytes)} * keys[i + 1];
  }
  if (i < words) {
    even += Wide{word_at(from + i * kSumWordBytes)} * keys[i];
  }
  return reduce(even + odd);
}

}  // namespace

uint64_t sum_of_block(const std::byte* block) {
  return product(block, kKeys.data(), kWords);
}

uint64_t sum_of_part(std::span<const std::byte> bytes, int64_t begin) {
  return product(bytes.data(), kKeys.data() + begin / kSumWordBytes, static_cast<int64_t>(bytes.size()) / kSumWordBytes);
}

uint64_t changed_sum(uint64_t sum, uint64_t before, uint64_t after) {
  return reduce(Wide{sum} + kPrime - before + after);
}

}  // namespace stria::server
