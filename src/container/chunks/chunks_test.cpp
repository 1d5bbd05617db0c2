// Grids against a walk over all elements; filters against zlib's own words and a walk over bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "container/chunks/chunk_grid.hpp"
#include "container/chunks/filter_pipeline.hpp"
#include "container/chunks/shuffle.hpp"

namespace stria::container {
namespace {

using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::mt19937_64& random, size_t count, int values) {
  Bytes bytes(count);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random() % static_cast<uint64_t>(values)); });
  return bytes;
}

// Checks each element's chunk and place there, counted one by one.
void check_grid(const DatasetSpec& spec) {
  const ChunkGrid grid(spec);
  const auto width = spec.element.bytes;
  int64_t count = 1;
  for (const int64_t size : spec.dims) {
    count *= size;
  }
  std::vector<std::pair<int64_t, int64_t>> by_runs(static_cast<size_t>(count * width), {-1, -1});
  for (int64_t chunk = 0; chunk < grid.chunk_count(); ++chunk) {
    grid.for_each_run(chunk, [&](const ChunkGrid::Run& run) {
      for (int64_t i = 0; i < run.bytes; ++i) {
        by_runs[static_cast<size_t>(run.begin + i)] = {chunk, run.offset + i};
      }
    });
  }
  for (int64_t element = 0; element < count; ++element) {
    int64_t chunk = 0, offset = 0, rest = element, below = count;
    for (size_t dim = 0; dim < spec.dims.size(); ++dim) {
      below /= spec.dims[dim];
      const int64_t index = rest / below;
      rest %= below;
      chunk = chunk * ((spec.dims[dim] + spec.chunking->dims[dim] - 1) / spec.chunking->dims[dim]) +
              index / spec.chunking->dims[dim];
      offset = offset * spec.chunking->dims[dim] + index % spec.chunking->dims[dim];
    }
    const auto run = grid.run_at(element * width);
    ASSERT_EQ(std::pair(run.chunk, run.offset), std::pair(chunk, offset * width)) << "element " << element;
    ASSERT_EQ(by_runs[static_cast<size_t>(element * width)], std::pair(chunk, offset * width)) << "element " << element;
    const auto last = static_cast<size_t>(run.begin + run.bytes - 1);
    ASSERT_EQ(by_runs[last], std::pair(run.chunk, run.offset + run.bytes - 1));
  }
}

TEST(ChunkGrid, RunsAreWhatAWalkOverElementsSays) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 300; ++i) {
    DatasetSpec spec;
    spec.element.bytes = 1 + static_cast<int64_t>(random() % 3);
    spec.chunking.emplace();
    for (size_t dim = 0, dims = 1 + random() % 4; dim < dims; ++dim) {
      spec.dims.push_back(1 + static_cast<int64_t>(random() % 7));
      const bool is_whole = random() % 3 == 0;
      spec.chunking->dims.push_back(is_whole ? spec.dims[dim] : 1 + static_cast<int64_t>(random() % 9));
    }
    check_grid(spec);
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST(Shuffle, BytesOfEqualWeightComeTogether) {
  std::mt19937_64 random(6);
  for (const int64_t width : {1, 2, 3, 4, 8, 16}) {
    for (const size_t size : {0, 1, 7, 8, 64, 128, 1000, 1023, 1024, 4099}) {
      const Bytes in = random_bytes(random, size, 256);
      Bytes out(size), back(size);
      container::shuffle(in, out, width);
      const size_t count = size / static_cast<size_t>(width);
      for (size_t i = 0; i < size; ++i) {
        const size_t element = i / static_cast<size_t>(width);
        const size_t place = element < count ? i % static_cast<size_t>(width) * count + element : i;
        ASSERT_EQ(out[place], in[i]) << width << " " << size << " " << i;
      }
      container::unshuffle(out, back, width);
      ASSERT_EQ(back, in);
    }
  }
}

// The code follows the description of the sum, a word at a time.
uint32_t slow_fletcher32(const Bytes& data) {
  uint64_t low = 0, high = 0;
  for (size_t i = 0; i < data.size(); i += 2) {
    const auto second = i + 1 < data.size() ? static_cast<uint64_t>(data[i + 1]) : 0;
    low = (low + (static_cast<uint64_t>(data[i]) << 8 | second)) % 65535;
    high = (high + low) % 65535;
  }
  return static_cast<uint32_t>(high << 16 | low);
}

// Chunks of bytes in elements of `width`, of which only filters that take numbers see more.
DatasetSpec spec_of(const Filters& filters, int64_t width) {
  DatasetSpec spec;
  spec.element.bytes = width;
  spec.chunking = Chunking{{}, filters};
  return spec;
}

TEST(FilterPipeline, FletchersSumIsThatOfItsDescription) {
  std::mt19937_64 random(7);
  for (size_t size : {1, 2, 3, 719, 720, 721, 100000}) {
    const Bytes data = random_bytes(random, size, 255);
    EXPECT_EQ(fletcher32(data) % 65535, slow_fletcher32(data) % 65535) << size;
    EXPECT_EQ((fletcher32(data) >> 16) % 65535, (slow_fletcher32(data) >> 16) % 65535) << size;
  }
}

/// Each test runs with libdeflate where it is installed, and without.
class EachInflate : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(FilterPipeline, EachInflate, testing::Bool());

TEST_P(EachInflate, WhatGoesInComesOut) {
  std::mt19937_64 random(8);
  FilterPipeline pipeline(GetParam());
  for (unsigned bits = 0; bits < 8; ++bits) {
    const Filters filters{.shuffle = (bits & 1) != 0, .deflate = (bits & 2) != 0, .fletcher32 = (bits & 4) != 0};
    const DatasetSpec spec = spec_of(filters, 8);
    for (const size_t size : {1, 8, 100, 4096, 300000}) {
      for (const int values : {1, 5, 256}) {
        const Bytes chunk = random_bytes(random, size, values);
        Bytes stored = {std::byte{77}};  // behind what is there
        const FilterMask skipped = pipeline.encode(spec, chunk, stored);
        ASSERT_EQ(stored[0], std::byte{77});
        stored.erase(stored.begin());
        ASSERT_LE(static_cast<int64_t>(stored.size()), FilterPipeline::stored_bytes_max(static_cast<int64_t>(size)));
        ASSERT_LE(stored.size(), size + (filters.fletcher32 ? 4 : 0));
        if (size > 1000 && filters.deflate) {
          EXPECT_EQ(skipped != 0, values == 256);
        }
        Bytes back(size);
        const Status status = pipeline.decode(spec, stored, skipped, back);
        ASSERT_TRUE(status.ok()) << status.message();
        ASSERT_EQ(back, chunk);
      }
    }
  }
}

TEST(FilterPipeline, ComplexNumbersAreShuffledWholeUnlessTheFileSaysOtherwise) {
  std::mt19937_64 random(10);
  FilterPipeline pipeline;
  const Bytes chunk = random_bytes(random, 64 * 16, 255);
  for (const int64_t of_file : {0, 8, 16}) {
    DatasetSpec spec = spec_of({.shuffle = true}, 8);
    spec.element.meaning = Meaning::kComplex;
    spec.chunking->shuffled_bytes = of_file;
    Bytes stored, expected(chunk.size()), back(chunk.size());
    const FilterMask skipped = pipeline.encode(spec, chunk, stored);
    container::shuffle(chunk, expected, of_file == 8 ? 8 : 16);
    EXPECT_EQ(stored, expected) << of_file;
    EXPECT_TRUE(pipeline.decode(spec, stored, skipped, back).ok());
    EXPECT_EQ(back, chunk) << of_file;
  }
}

TEST_P(EachInflate, DamagedChunksAreErrorsAndStayWithinTheirMemory) {
  std::mt19937_64 random(9);
  FilterPipeline pipeline(GetParam());
  const DatasetSpec spec = spec_of(Filters::compress(), 4);
  const Bytes chunk = random_bytes(random, 5000, 7);
  Bytes stored;
  const FilterMask skipped = pipeline.encode(spec, chunk, stored);
  for (int i = 0; i < 2000; ++i) {
    Bytes damaged = stored;
    damaged[random() % damaged.size()] ^= static_cast<std::byte>(1 + random() % 255);
    damaged.resize(damaged.size() - random() % 3);
    Bytes back(chunk.size() - random() % 2);
    if (pipeline.decode(spec, damaged, skipped, back).ok()) {
      ASSERT_EQ(back, chunk);  // a bit that nobody uses
    }
  }
}

}  // namespace
}  // namespace stria::container
