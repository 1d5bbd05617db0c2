#include "server/objects/blocks/block_sum.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cstring>

#include "base/byte_range.hpp"
#include "base/check.hpp"

namespace stria::server {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr int64_t kWords = kBlockBytes / kSumWordBytes;
constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;
constexpr int64_t kLoopBytes = 64;
constexpr int kKeyBits = 55;  // 64 and 55 bits for a product, 9 for the number of words: 128

// Makes SplitMix64 (Steele, Lea and Flood 2014) of the words' numbers; odd, so that none is zero.
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

Wide product_by_words(const std::byte* from, const uint64_t* keys, int64_t words) {
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
  return even + odd;
}

#if defined(__x86_64__)
// Four words at a time, for parts that are long enough. The halves of a word times the parts of a
// key, of 28 and 27 bits, are below 2^60, so that 16 of them add up in 64 bits.
constexpr int64_t kLeastVectorWords = 128;
constexpr int64_t kAdditions = 16;
constexpr int kKeyPartBits = 28;

__attribute__((target("avx2"))) Wide sum_of_lanes(__m256i low, __m256i high) {
  alignas(32) std::array<uint64_t, 4> lows;
  alignas(32) std::array<uint64_t, 4> highs;
  _mm256_store_si256(reinterpret_cast<__m256i*>(lows.data()), low);
  _mm256_store_si256(reinterpret_cast<__m256i*>(highs.data()), high);
  Wide sum = 0;
  for (size_t i = 0; i < lows.size(); ++i) {
    sum += lows[i] + (Wide{highs[i]} << 32);
  }
  return sum;
}

__attribute__((target("avx2"))) Wide product_by_vectors(const std::byte* from, const uint64_t* keys, int64_t words) {
  const __m256i half = _mm256_set1_epi64x(0xffffffff);
  const __m256i key_part = _mm256_set1_epi64x((int64_t{1} << kKeyPartBits) - 1);
  __m256i low[4] = {};  // the low halves of the four products' sums
  __m256i high[4] = {};
  const int64_t whole = words / 4 * 4;
  for (int64_t i = 0; i < whole;) {
    __m256i sum[4] = {};
    for (const int64_t end = std::min(whole, i + 4 * kAdditions); i < end; i += 4) {
      const __m256i word = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i * kSumWordBytes));
      const __m256i key = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(keys + i));
      const __m256i word_high = _mm256_srli_epi64(word, 32);
      const __m256i key_low = _mm256_and_si256(key, key_part);
      const __m256i key_high = _mm256_srli_epi64(key, kKeyPartBits);
      sum[0] = _mm256_add_epi64(sum[0], _mm256_mul_epu32(word, key_low));
      sum[1] = _mm256_add_epi64(sum[1], _mm256_mul_epu32(word, key_high));
      sum[2] = _mm256_add_epi64(sum[2], _mm256_mul_epu32(word_high, key_low));
      sum[3] = _mm256_add_epi64(sum[3], _mm256_mul_epu32(word_high, key_high));
    }
    for (int j = 0; j < 4; ++j) {
      low[j] = _mm256_add_epi64(low[j], _mm256_and_si256(sum[j], half));
      high[j] = _mm256_add_epi64(high[j], _mm256_srli_epi64(sum[j], 32));
    }
  }
  return sum_of_lanes(low[0], high[0]) + (sum_of_lanes(low[1], high[1]) << kKeyPartBits) +
         (sum_of_lanes(low[2], high[2]) << 32) + (sum_of_lanes(low[3], high[3]) << (32 + kKeyPartBits)) +
         product_by_words(from + whole * kSumWordBytes, keys + whole, words - whole);
}

bool has_vectors() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
#endif

Wide product(const std::byte* from, const uint64_t* keys, int64_t words) {
#if defined(__x86_64__)
  if (words >= kLeastVectorWords && has_vectors()) {
    return product_by_vectors(from, keys, words);
  }
#endif
  return product_by_words(from, keys, words);
}

const uint64_t* keys_at(int64_t begin) {
  return kKeys.data() + begin / kSumWordBytes;
}

}  // namespace

uint64_t sum_of_block(const std::byte* block) {
  return reduce(product(block, kKeys.data(), kWords));
}

uint64_t sum_of_part(std::span<const std::byte> bytes, int64_t begin) {
  STRIA_ASSERT(begin % kSumWordBytes == 0 && bytes.size() % kSumWordBytes == 0, begin, bytes.size());
  STRIA_ASSERT(0 <= begin && begin + static_cast<int64_t>(bytes.size()) <= kBlockBytes, begin, bytes.size());
  return reduce(product(bytes.data(), keys_at(begin), static_cast<int64_t>(bytes.size()) / kSumWordBytes));
}

uint64_t changed_sum(uint64_t sum, uint64_t before, uint64_t after) {
  STRIA_ASSERT(before < kPrime && after < kPrime, before, after);
  return reduce(Wide{sum} + kPrime - before + after);
}

// A few numbers to a piece are the common case.
void SumChange::add(int64_t begin, const PieceRow& row, const std::byte* data) {
  STRIA_ASSERT(0 <= begin && begin + row.end() - row.begin <= kBlockBytes, begin, row.begin, row.end());
  const bool whole = (begin | row.stride | row.piece_bytes) % kSumWordBytes == 0;
  if (whole && row.piece_bytes <= kLoopBytes) {
    Wide before = before_;
    Wide after = after_;
    for (int64_t i = 0; i < row.count; ++i) {
      const int64_t end = begin + row.piece_bytes;
      for (int64_t at = begin; at < end; at += kSumWordBytes, data += kSumWordBytes) {
        const Wide key = *keys_at(at);
        before += key * word_at(block_ + at);
        after += key * word_at(data);
      }
      begin += row.stride;
    }
    before_ = before;
    after_ = after;
    return;
  }
  for (int64_t i = 0; i < row.count; ++i) {
    add_piece(begin + i * row.stride, data + i * row.piece_bytes, row.piece_bytes);
  }
}

void SumChange::add_piece(int64_t begin, const std::byte* data, int64_t bytes) {
  const int64_t end = begin + bytes;
  const int64_t first = align_up(begin, kSumWordBytes);
  const int64_t last = align_down(end, kSumWordBytes);
  if (first > begin) {
    add_part_of_word(begin, data, std::min(first, end) - begin);
  }
  if (first < last) {
    before_ += product(block_ + first, keys_at(first), (last - first) / kSumWordBytes);
    after_ += product(data + (first - begin), keys_at(first), (last - first) / kSumWordBytes);
  }
  if (last >= first && last < end) {
    add_part_of_word(last, data + (last - begin), end - last);
  }
}

/// Several pieces may each write a part of a word.
void SumChange::add_part_of_word(int64_t begin, const std::byte* data, int64_t bytes) {
  const int64_t word = begin / kSumWordBytes;
  if (word != open_) {
    STRIA_ASSERT(word > open_, word, open_);  // else one written in parts would be added twice
    add_open_word();
    open_ = word;
    open_after_ = word_at(block_ + word * kSumWordBytes);
  }
  std::memcpy(reinterpret_cast<std::byte*>(&open_after_) + begin % kSumWordBytes, data, static_cast<size_t>(bytes));
}

void SumChange::add_open_word() {
  if (open_ >= 0) {
    const Wide key = kKeys[static_cast<size_t>(open_)];
    before_ += key * word_at(block_ + open_ * kSumWordBytes);
    after_ += key * open_after_;
    open_ = -1;
  }
}

uint64_t SumChange::apply_to(uint64_t sum) {
  add_open_word();
  return changed_sum(sum, reduce(before_), reduce(after_));
}

}  // namespace stria::server
