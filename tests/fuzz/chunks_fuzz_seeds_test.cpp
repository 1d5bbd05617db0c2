// Runs the fuzz target over chunks and trees, whole and damaged.
#include <gtest/gtest.h>

#include <random>

#include "chunks_fuzz_kinds.hpp"
#include "container/chunks/filter_pipeline.hpp"
#include "support/rounds.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace stria {
namespace {

TEST(ChunksFuzz, HoldsOnDamagedFiles) {
  std::mt19937_64 random(3);
  for (int i = 0; i < rounds(300); ++i) {
    std::vector<uint8_t> input = {1};
    for (uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
      const auto place = static_cast<uint16_t>(random() % 12000);
      input.push_back(static_cast<uint8_t>(place >> 8));
      input.push_back(static_cast<uint8_t>(place));
      input.push_back(static_cast<uint8_t>(random() % 3 == 0 ? 0xff : random()));
    }
    ASSERT_EQ(LLVMFuzzerTestOneInput(input.data(), input.size()), 0);
  }
}

TEST(ChunksFuzz, HoldsOnDamagedChunks) {
  std::mt19937_64 random(4);
  for (int i = 0; i < rounds(20000); ++i) {
    const auto kind = static_cast<uint8_t>(random() & ~1u);
    const container::DatasetSpec spec = fuzzed_chunks(kind);
    if (spec.chunking->filters.zfp() && !container::ZfpCodec::available().ok()) {
      continue;
    }
    std::vector<std::byte> chunk(8 * static_cast<size_t>(spec.chunking->dims[0]));
    std::vector<std::byte> stored = {std::byte{kind}};
    container::FilterPipeline().encode(spec, chunk, stored);
    for (uint64_t flips = random() % 3; flips > 0; --flips) {
      stored[1 + random() % (stored.size() - 1)] = static_cast<std::byte>(random());
    }
    ASSERT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(stored.data()), stored.size()), 0);
  }
}

}  // namespace
}  // namespace stria
