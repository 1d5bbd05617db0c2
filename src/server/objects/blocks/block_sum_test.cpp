// The sum of a block against its definition. No flipped bit is missed, and a change of a part gives
// the sum of the whole.
#include "server/objects/blocks/block_sum.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

namespace stria::server {
namespace {

using Content = std::array<std::byte, kBlockBytes>;

constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

/// Returns a b modulo the prime, by doubling: nothing exceeds 64 bits.
uint64_t times(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  for (a %= kPrime; b > 0; b >>= 1) {
    result = (b & 1) != 0 ? (result + a) % kPrime : result;
    a = a * 2 % kPrime;
  }
  return result;
}

uint64_t slow_sum(const Content& content) {
  uint64_t sum = 0;
  uint64_t state = 0;
  for (size_t at = 0; at < content.size(); at += 8) {
    state += 0x9e3779b97f4a7c15;
    uint64_t key = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
    key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
    key = ((key ^ (key >> 31)) >> 9) | 1;
    uint64_t word = 0;
    std::memcpy(&word, content.data() + at, sizeof word);
    sum = (sum + times(word, key)) % kPrime;
  }
  return sum;
}

Content random_content(std::mt19937_64& random) {
  Content content;
  for (std::byte& byte : content) {
    byte = static_cast<std::byte>(random() >> 11);
  }
  return content;
}

TEST(BlockSum, IsWhatItsDefinitionSays) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    const Content content = random_content(random);
    EXPECT_EQ(sum_of_block(content.data()), slow_sum(content));
  }
  Content all_ones;
  all_ones.fill(std::byte{0xff});
  EXPECT_EQ(sum_of_block(all_ones.data()), slow_sum(all_ones)) << "the largest products";
  const Content zeros{};
  EXPECT_EQ(sum_of_block(zeros.data()), 0u);
}

TEST(BlockSum, ShowsEveryFlippedBit) {
  std::mt19937_64 random(2);
  Content content = random_content(random);
  const uint64_t sum = sum_of_block(content.data());
  for (size_t bit = 0; bit < 8 * content.size(); ++bit) {
    content[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    ASSERT_NE(sum_of_block(content.data()), sum) << "bit " << bit;
    content[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
}

TEST(BlockSum, FollowsChangesOfParts) {
  std::mt19937_64 random(3);
  Content content = random_content(random);
  uint64_t sum = sum_of_block(content.data());
  for (int round = 0; round < 500; ++round) {
    const auto begin = static_cast<int64_t>(random() % 512) * 8;
    const auto bytes = 8 * (1 + random() % static_cast<uint64_t>((kBlockBytes - begin) / 8));
    const std::span part(content.data() + begin, bytes);
    const uint64_t before = sum_of_part(part, begin);
    const Content other = random_content(random);
    std::memcpy(part.data(), other.data(), round % 3 == 0 ? 1 + random() % 8 : bytes);
    sum = changed_sum(sum, before, sum_of_part(part, begin));
    ASSERT_EQ(sum, sum_of_block(content.data())) << "round " << round;
    ASSERT_LT(sum, kPrime);
  }
}

// Pieces that ascend, also several in a word, and long ones.
TEST(BlockSum, FollowsPiecesOfAnySizeAndStride) {
  std::mt19937_64 random(4);
  const auto up_to = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(most)); };
  Content content = random_content(random);
  for (int round = 0; round < 2000; ++round) {
    const Content other = random_content(random);
    SumChange change(content.data());
    Content changed = content;
    const std::byte* data = other.data();
    const int64_t unit = round % 2 == 0 ? 8 : up_to(3);
    const int64_t longest = round % 3 == 0 ? 2000 / unit : 4;
    int64_t at = unit * (up_to(20) - 1);
    while (true) {
      const int64_t bytes = unit * up_to(longest);
      const PieceRow row{at, bytes, bytes + unit * (up_to(10) - 1), up_to(20)};
      if (row.end() > kBlockBytes) {
        break;
      }
      change.add(at, row, data);
      for (int64_t i = 0; i < row.count; ++i, data += bytes) {
        std::memcpy(changed.data() + at + i * row.stride, data, static_cast<size_t>(bytes));
      }
      at = row.end() + unit * (up_to(4) - 1);
    }
    const uint64_t sum = change.apply_to(sum_of_block(content.data()));
    ASSERT_EQ(sum, sum_of_block(changed.data())) << "round " << round;
    content = changed;
  }
}

}  // namespace
}  // namespace stria::server
