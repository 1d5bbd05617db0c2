#include <gtest/gtest.h>

#include <string>

#include "datatype/cursor.hpp"
#include "support/naive_datatype.hpp"

namespace stria {
namespace {

using test::seed_of;
using test::TypeGenerator;

std::vector<std::byte> bytes_of(const std::vector<int>& values) {
  std::vector<std::byte> bytes;
  for (int value : values) {
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

ErrorCode code_of(const std::vector<std::byte>& bytes) {
  size_t consumed = 0;
  return Datatype::deserialize(bytes, &consumed).status().code();
}

TEST(Serialize, ReadsBackWhatItWrote) {
  for (int i = 0; i < 3000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed_of(i)));
    TypeGenerator generator(seed_of(i));
    const Datatype type = generator.any(static_cast<int>(generator.pick(0, 5))).type;
    std::vector<std::byte> bytes = bytes_of({1, 2, 3});
    type.serialize(bytes);
    const size_t written = bytes.size() - 3;
    bytes.push_back(std::byte{0x55});
    size_t consumed = 0;
    Result<Datatype> back = Datatype::deserialize(std::span(bytes).subspan(3), &consumed);
    ASSERT_TRUE(back.ok()) << back.status().message();
    ASSERT_EQ(consumed, written);
    ASSERT_TRUE(*back == type);
    ASSERT_EQ(back->fingerprint(), type.fingerprint());
    ASSERT_EQ(back->is_sorted(), type.is_sorted());
    // Equal sub-trees are shared after reading, so that the second form may be shorter; from then
    // on it stays the same.
    std::vector<std::byte> again;
    back->serialize(again);
    ASSERT_LE(again.size(), written);
    std::vector<std::byte> third;
    Datatype::deserialize(again, &consumed).value().serialize(third);
    ASSERT_EQ(third, again);
  }
}

TEST(Serialize, RejectsEveryTruncation) {
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed_of(i)));
    TypeGenerator generator(seed_of(i));
    std::vector<std::byte> bytes;
    generator.any(3).type.serialize(bytes);
    for (size_t size = 0; size < bytes.size(); ++size) {
      size_t consumed = 0;
      ASSERT_EQ(Datatype::deserialize(std::span(bytes).first(size), &consumed).status().code(), ErrorCode::kFormat);
    }
  }
}

TEST(Serialize, SurvivesFlippedBytes) {
  for (int i = 0; i < 3000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed_of(i)));
    TypeGenerator generator(seed_of(i));
    std::vector<std::byte> bytes;
    generator.any(4).type.serialize(bytes);
    for (int flips = 0; flips < 3; ++flips) {
      bytes[static_cast<size_t>(generator.pick(0, static_cast<int64_t>(bytes.size()) - 1))] =
          static_cast<std::byte>(generator.pick(0, 255));
    }
    size_t consumed = 0;
    Result<Datatype> type = Datatype::deserialize(bytes, &consumed);
    if (!type.ok()) {
      ASSERT_EQ(type.status().code(), ErrorCode::kFormat);
      continue;
    }
    Cursor cursor(*type);
    for (int step = 0; step < 100 && !cursor.done(); ++step) {
      ASSERT_GE(cursor.piece().begin, type->true_lower_bound());
      ASSERT_LE(cursor.piece().end, type->true_upper_bound());
      cursor.advance(cursor.piece().size());
    }
  }
}

// The worked example of docs/formats/datatype.md.
TEST(Serialize, WritesTheDocumentedExample) {
  const std::vector<int64_t> sizes{4, 6};
  const std::vector<int64_t> subsizes{2, 3};
  const std::vector<int64_t> starts{1, 2};
  const Datatype type = Datatype::subarray(sizes, subsizes, starts, Order::kC, Datatype::bytes(8)).value();
  std::vector<std::byte> bytes;
  type.serialize(bytes);
  EXPECT_EQ(bytes, bytes_of({0x01, 0x80, 0x01, 0x00, 0x80, 0x03, 0x02, 0x02, 0x60, 0x01, 0x18}));
}

TEST(Serialize, RejectsHostileInput) {
  EXPECT_EQ(code_of({}), ErrorCode::kFormat);
  EXPECT_EQ(code_of(bytes_of({2, 0, 0, 0, 0})), ErrorCode::kFormat);  // version
  EXPECT_EQ(code_of(bytes_of({1, 0, 0, 0, 9})), ErrorCode::kFormat);  // kind
  // The type refers to nothing.
  EXPECT_EQ(code_of(bytes_of({1, 0, 0, 0, 6, 0})), ErrorCode::kFormat);
  // 127 blocks in no bytes.
  EXPECT_EQ(code_of(bytes_of({1, 0, 0, 0, 3, 0x7f})), ErrorCode::kFormat);
  const std::vector<std::byte> many_blocks = bytes_of({1, 0, 0, 0, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f, 1});
  EXPECT_EQ(code_of(many_blocks), ErrorCode::kFormat);
  const std::vector<std::byte> too_long = bytes_of({1, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f});
  EXPECT_EQ(code_of(too_long), ErrorCode::kFormat);
  const std::vector<std::byte> run_of_2_62 = bytes_of({1, 0, 0, 0, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40});
  EXPECT_EQ(code_of(run_of_2_62), ErrorCode::kFormat);
  std::vector<std::byte> deep = bytes_of({1, 0, 0, 0});
  for (int i = 0; i < 100000; ++i) {
    for (int value : {2, 1, 2}) {  // one copy of …
      deep.push_back(static_cast<std::byte>(value));
    }
  }
  EXPECT_EQ(code_of(deep), ErrorCode::kFormat);
}

}  // namespace
}  // namespace stria
