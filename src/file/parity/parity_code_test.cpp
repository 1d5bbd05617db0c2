// Every pattern of lost units of small sets is made again, and more than the parity makes up for is
// told.
#include "file/parity/parity_code.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>

namespace stria::file::test {
namespace {

class Units {
 public:
  Units(int count, int64_t bytes, uint64_t seed)
      : memory_(static_cast<size_t>(count), std::vector<std::byte>(static_cast<size_t>(bytes))) {
    std::mt19937_64 random(seed);
    for (auto& unit : memory_) {
      for (std::byte& byte : unit) {
        byte = static_cast<std::byte>(random());
      }
      pointers_.push_back(unit.data());
    }
  }
  std::span<std::byte* const> pointers() const { return pointers_; }
  std::vector<std::vector<std::byte>>& content() { return memory_; }

 private:
  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::byte*> pointers_;
};

void lose_every_pattern(int members, int parities, int64_t bytes) {
  const ParityCode code(members, parities);
  const int count = members + parities;
  Units units(count, bytes, static_cast<uint64_t>(count));
  const auto split = static_cast<size_t>(members);
  code.encode(units.pointers().first(split), units.pointers().subspan(split), bytes);
  const auto whole = units.content();
  for (unsigned pattern = 0; pattern < 1U << count; ++pattern) {
    std::vector<bool> is_lost(static_cast<size_t>(count));
    for (size_t unit = 0; unit < is_lost.size(); ++unit) {
      is_lost[unit] = (pattern >> unit & 1) != 0;
      if (is_lost[unit]) {
        std::fill(units.content()[unit].begin(), units.content()[unit].end(), std::byte{0xa5});
      }
    }
    const bool can = std::popcount(pattern) <= parities;
    ASSERT_EQ(code.restore(units.pointers(), is_lost, bytes), can) << pattern;
    for (size_t unit = 0; unit < is_lost.size(); ++unit) {
      ASSERT_TRUE(!can || units.content()[unit] == whole[unit]) << "unit " << unit << " of pattern " << pattern;
      units.content()[unit] = whole[unit];
    }
  }
}

TEST(ParityCode, EveryPatternOfLostUnitsIsMadeAgain) {
  for (int members = 1; members <= 6; ++members) {
    for (int parities = 1; parities <= 4; ++parities) {
      for (const int64_t bytes : {1, 31, 64, 100, 4096}) {
        SCOPED_TRACE(testing::Message() << members << " + " << parities << ", " << bytes << " bytes");
        lose_every_pattern(members, parities, bytes);
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

TEST(ParityCode, TheLargestSetIsMadeAgain) {
  constexpr int kMembers = 239, kParities = 16, kBytes = 64;
  const ParityCode code(kMembers, kParities);
  Units units(kMembers + kParities, kBytes, 3);
  code.encode(units.pointers().first(kMembers), units.pointers().subspan(kMembers), kBytes);
  const auto whole = units.content();
  std::mt19937_64 random(5);
  for (int round = 0; round < 20; ++round) {
    std::vector<bool> is_lost(kMembers + kParities);
    for (int lost = 0; lost < kParities; ++lost) {
      const size_t unit = random() % is_lost.size();
      is_lost[unit] = true;
      units.content()[unit].assign(kBytes, std::byte{1});
    }
    ASSERT_TRUE(code.restore(units.pointers(), is_lost, kBytes));
    ASSERT_EQ(units.content(), whole);
  }
}

}  // namespace
}  // namespace stria::file::test
