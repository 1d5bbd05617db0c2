#include "access/together/domains/description.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "access/random_case_test.hpp"

namespace stria::access {
namespace {

std::vector<int> lanes_with_streams(const std::vector<Lane>& lanes) {
  std::vector<int> chosen;
  for (size_t i = 0; i < lanes.size(); ++i) {
    if (!lanes[i].streams.empty()) {
      chosen.push_back(static_cast<int>(i));
    }
  }
  return chosen;
}

TEST(Description, RoundTrips) {
  uint64_t first = test::first_seed();
  for (int i = 0; i < test::case_count(200); ++i) {
    test::Case c = test::make_case(first + static_cast<uint64_t>(i));
    SCOPED_TRACE("STRIA_TEST_SEED=" + std::to_string(c.seed));
    for (const test::RankCase& rank : c.ranks) {
      std::vector<int> chosen = lanes_with_streams(rank.lanes);
      std::vector<std::byte> message;
      encode_description(rank.lanes, chosen, message);
      auto decoded = decode_description(message, static_cast<int>(rank.lanes.size()));
      ASSERT_TRUE(decoded.ok()) << decoded.status().message();
      ASSERT_EQ(decoded->size(), chosen.size());
      for (size_t k = 0; k < chosen.size(); ++k) {
        const auto& streams = rank.lanes[static_cast<size_t>(chosen[k])].streams;
        ASSERT_EQ((*decoded)[k].lane, chosen[k]);
        ASSERT_EQ((*decoded)[k].streams.size(), streams.size());
        for (size_t s = 0; s < streams.size(); ++s) {
          ASSERT_EQ((*decoded)[k].streams[s].displacement, streams[s].displacement);
          ASSERT_EQ((*decoded)[k].streams[s].skip_bytes, streams[s].skip_bytes);
          ASSERT_EQ((*decoded)[k].streams[s].bytes, streams[s].size());
          ASSERT_TRUE((*decoded)[k].streams[s].file_type == streams[s].file_type);
        }
      }
    }
  }
}

TEST(Description, VariablesThatShareAFileTypeSendItOnce) {
  std::vector<Lane> lanes;
  std::vector<int> chosen;
  auto type = Datatype::hvector(100, 1, 4096, Datatype::bytes(512)).value();
  for (int i = 0; i < 24; ++i) {
    lanes.push_back({{0, 1 << 20}, 0, {{i, type, i * int64_t{1 << 20}, 8}}});
    chosen.push_back(i);
  }
  std::vector<std::byte> message;
  encode_description(lanes, chosen, message);
  std::vector<std::byte> alone;
  type.serialize(alone);
  EXPECT_EQ(message.size(), 8 + 24 * 6 * 8 + alone.size());
}

/// Returns the message of one lane with one stream of 8 bytes, with its number `index` replaced.
std::vector<std::byte> message_with(size_t index, int64_t value) {
  std::vector<Lane> lanes = {{{0, 100}, 0, {{0, Datatype::bytes(8), 40, 8}}}};
  const int chosen[] = {0};
  std::vector<std::byte> message;
  encode_description(lanes, chosen, message);
  std::memcpy(message.data() + index * sizeof value, &value, sizeof value);
  return message;
}

TEST(Description, RefusesWhatMakesNoSense) {
  EXPECT_TRUE(decode_description(message_with(0, 1), 1).ok());
  struct Wrong {
    size_t index;
    int64_t value;
  };
  for (Wrong wrong : {Wrong{0, -1}, Wrong{0, 2}, Wrong{0, 0}, Wrong{1, 1}, Wrong{1, -1}, Wrong{2, INT64_MAX}, Wrong{2, 2},
                      Wrong{2, 0}, Wrong{3, INT64_MAX}, Wrong{3, INT64_MIN}, Wrong{3, -1}, Wrong{4, 1}, Wrong{4, 2}}) {
    auto decoded = decode_description(message_with(wrong.index, wrong.value), 1);
    EXPECT_EQ(decoded.status().code(), ErrorCode::kFormat) << wrong.index << " " << wrong.value;
  }
}

TEST(Description, RefusesTypesThatAreNotInFileOrder) {
  const int64_t lengths[] = {4, 4}, backwards[] = {8, 0};
  std::vector<Lane> lanes = {{{0, 100}, 0, {{0, Datatype::hindexed(lengths, backwards, Datatype::bytes(1)).value(), 0, 8}}}};
  const int chosen[] = {0};
  std::vector<std::byte> message;
  encode_description(lanes, chosen, message);
  EXPECT_EQ(decode_description(message, 1).status().code(), ErrorCode::kFormat);
}

TEST(Description, SurvivesDamage) {
  std::mt19937_64 random(test::first_seed());
  int accepted = 0;
  for (int i = 0; i < test::case_count(2000); ++i) {
    test::Case c = test::make_case(test::first_seed() + static_cast<uint64_t>(i % 20));
    const auto& lanes = c.ranks[static_cast<size_t>(i) % c.ranks.size()].lanes;
    std::vector<std::byte> message;
    encode_description(lanes, lanes_with_streams(lanes), message);
    message.resize(random() % 4 == 0 ? random() % (message.size() + 1) : message.size());
    for (uint64_t k = random() % 4; k > 0 && !message.empty(); --k) {
      message[random() % message.size()] ^= static_cast<std::byte>(1u << random() % 8);
    }
    auto decoded = decode_description(message, static_cast<int>(lanes.size()));
    accepted += decoded.ok() ? 1 : 0;
    for (size_t k = 0; decoded.ok() && k < decoded->size(); ++k) {
      std::vector<Overlap> found;
      overlaps((*decoded)[k], {100, 5000}, found);
    }
  }
  EXPECT_GT(accepted, 0);
}

TEST(Description, OverlapsAreThoseOfEveryStreamAlone) {
  uint64_t first = test::first_seed();
  for (int i = 0; i < test::case_count(200); ++i) {
    test::Case c = test::make_case(first + static_cast<uint64_t>(i));
    SCOPED_TRACE("STRIA_TEST_SEED=" + std::to_string(c.seed));
    for (const Lane& lane : c.ranks[0].lanes) {
      LaneDescription description(0, lane.streams);
      for (int64_t begin = lane.hull.begin; begin < lane.hull.end; begin += 173) {
        std::vector<Overlap> found;
        overlaps(description, {begin, begin + 211}, found);
        size_t next = 0;
        for (const Stream& stream : description.streams) {
          const auto& offsets = c.ranks[0].offsets[static_cast<size_t>(stream.stream_id)];
          auto low = std::lower_bound(offsets.begin(), offsets.end(), begin) - offsets.begin();
          auto high = std::lower_bound(offsets.begin(), offsets.end(), begin + 211) - offsets.begin();
          if (low < high) {
            ASSERT_LT(next, found.size());
            ASSERT_EQ(found[next].stream, &stream);
            ASSERT_EQ(found[next].begin, low);
            ASSERT_EQ(found[next].end, high);
            ++next;
          }
        }
        ASSERT_EQ(next, found.size());
      }
    }
  }
}

}  // namespace
}  // namespace stria::access
