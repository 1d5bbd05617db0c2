// The layouts of Lustre, as images of the attribute that the kernel gives.
#include "storage/posix/file_system/stripes.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace stria::storage {
namespace {

using Bytes = std::vector<std::byte>;

template <typename T>
void put(Bytes& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out.push_back(static_cast<std::byte>(static_cast<uint64_t>(value) >> (8 * i)));
  }
}

Bytes plain(uint32_t stripe_bytes, uint16_t count, uint32_t magic = 0x0BD10BD0, uint32_t pattern = 1) {
  Bytes out;
  put<uint32_t>(out, magic);
  put<uint32_t>(out, pattern);
  put<uint64_t>(out, 77);  // object id and sequence
  put<uint64_t>(out, 2);
  put<uint32_t>(out, stripe_bytes);
  put<uint16_t>(out, count);
  put<uint16_t>(out, 0);
  if (magic == 0x0BD30BD0) {
    out.resize(out.size() + 16);  // the pool's name
  }
  for (int i = 0; i < count && count != 0xFFFF; ++i) {
    out.resize(out.size() + 24);  // an object
  }
  return out;
}

struct Component {
  uint64_t begin, end;
  uint32_t flags;
  Bytes layout;
};

Bytes composite(const std::vector<Component>& components) {
  Bytes out;
  put<uint32_t>(out, 0x0BD60BD0);
  put<uint32_t>(out, 0);
  put<uint32_t>(out, 1);
  put<uint16_t>(out, 0);
  put<uint16_t>(out, static_cast<uint16_t>(components.size()));
  out.resize(32);
  size_t at = out.size() + 48 * components.size();
  for (const Component& component : components) {
    put<uint32_t>(out, 1);
    put<uint32_t>(out, component.flags);
    put<uint64_t>(out, component.begin);
    put<uint64_t>(out, component.end);
    put<uint32_t>(out, static_cast<uint32_t>(at));
    put<uint32_t>(out, static_cast<uint32_t>(component.layout.size()));
    out.resize(out.size() + 16);
    at += component.layout.size();
  }
  for (const Component& component : components) {
    out.insert(out.end(), component.layout.begin(), component.layout.end());
  }
  return out;
}

constexpr uint32_t kInitialised = 0x10;
constexpr uint32_t kStale = 0x1;

void expect_layout(const Bytes& record, int64_t stripe_bytes, int count) {
  const auto layout = parse_lustre_layout(record);
  ASSERT_TRUE(layout.has_value());
  EXPECT_EQ(layout->stripe_bytes, stripe_bytes);
  EXPECT_EQ(layout->stripe_count, count);
}

TEST(LustreLayout, Plain) {
  expect_layout(plain(1 << 20, 8), 1 << 20, 8);
  expect_layout(plain(4 << 20, 144, 0x0BD30BD0), 4 << 20, 144);
  expect_layout(plain(64 << 10, 1, 0x0BD50BD0), 64 << 10, 1);
  expect_layout(plain(1 << 20, 0), 1 << 20, 1);
  expect_layout(plain(1 << 20, 0xFFFF), 1 << 20, 1);
}

TEST(LustreLayout, TheComponentThatReachesFarthestTells) {
  const uint64_t end = ~uint64_t{0};
  expect_layout(composite({{0, 1 << 20, kInitialised, plain(1 << 20, 1)},
                           {1 << 20, 1 << 30, kInitialised, plain(1 << 20, 4)},
                           {1 << 30, end, kInitialised, plain(4 << 20, 64)}}),
                4 << 20, 64);
  // The first component is on the metadata server. The last isn't instantiated, and doesn't know
  // its servers yet.
  expect_layout(composite({{0, 65536, kInitialised, plain(65536, 0, 0x0BD10BD0, 0x100)},
                           {65536, 1 << 30, kInitialised, plain(1 << 20, 4)},
                           {1 << 30, end, 0, plain(8 << 20, 0xFFFF)}}),
                8 << 20, 4);
  // A stale mirror with other stripes doesn't count.
  expect_layout(composite({{0, end, kInitialised | kStale, plain(2 << 20, 2)}, {0, end, kInitialised, plain(1 << 20, 3)}}),
                1 << 20, 3);
}

TEST(LustreLayout, WhatCannotBeUsedIsNotKnown) {
  EXPECT_FALSE(parse_lustre_layout({}).has_value());
  EXPECT_FALSE(parse_lustre_layout(plain(0, 8)).has_value());
  EXPECT_FALSE(parse_lustre_layout(plain(1 << 20, 4, 0x0BD70BD0)).has_value()) << "a foreign layout";
  EXPECT_FALSE(parse_lustre_layout(plain(1 << 20, 4, 0x0BD10BD0, 0x100)).has_value());
  EXPECT_FALSE(parse_lustre_layout(composite({})).has_value());
  Bytes far = composite({{0, 1, kInitialised, plain(1 << 20, 4)}});
  far[32 + 24] = std::byte{0xFF};  // the component's place lies past the record
  far[32 + 25] = std::byte{0xFF};
  EXPECT_FALSE(parse_lustre_layout(far).has_value());
}

// However the record is cut or damaged, the result never has a count or a size of zero or less.
TEST(LustreLayout, DamagedRecordsAreHarmless) {
  const Bytes whole = composite(
      {{0, 1 << 20, kInitialised, plain(1 << 20, 2, 0x0BD30BD0)}, {1 << 20, ~uint64_t{0}, kInitialised, plain(1 << 20, 8)}});
  const auto check = [](const Bytes& record) {
    const auto layout = parse_lustre_layout(record);
    if (layout) {
      EXPECT_GT(layout->stripe_bytes, 0);
      EXPECT_GE(layout->stripe_count, 1);
    }
  };
  for (size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    check(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)));
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    Bytes record = whole;
    for (uint64_t k = 0; k <= random() % 4; ++k) {
      record[random() % record.size()] = static_cast<std::byte>(random());
    }
    check(record);
  }
}

}  // namespace
}  // namespace stria::storage
