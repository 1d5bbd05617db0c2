// Runs the fuzz target over written types, whole and damaged.
#include <gtest/gtest.h>

#include "support/naive_datatype.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace stria {
namespace {

int run(const std::vector<std::byte>& bytes) {
  return LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

TEST(DatatypeFuzz, HoldsOnWrittenAndDamagedTypes) {
  for (int i = 0; i < 2000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(test::seed_of(i)));
    test::TypeGenerator generator(test::seed_of(i));
    std::vector<std::byte> bytes;
    generator.any(4).type.serialize(bytes);
    ASSERT_EQ(run(bytes), 0);
    for (int damage = 0; damage < 20; ++damage) {
      std::vector<std::byte> damaged = bytes;
      for (int64_t flips = generator.pick(1, 4); flips > 0; --flips) {
        damaged[static_cast<size_t>(generator.pick(0, static_cast<int64_t>(bytes.size()) - 1))] =
            static_cast<std::byte>(generator.pick(0, 255));
      }
      ASSERT_EQ(run(damaged), 0);
    }
  }
}

TEST(DatatypeFuzz, HoldsOnNoise) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> bytes(random() % 64);
    for (std::byte& b : bytes) {
      b = static_cast<std::byte>(random() % 8 == 0 ? random() : random() % 7);
    }
    if (!bytes.empty()) {
      bytes[0] = std::byte{1};
    }
    ASSERT_EQ(run(bytes), 0);
  }
}

}  // namespace
}  // namespace stria
