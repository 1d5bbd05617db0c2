#include "file/chunks/put_into_chunks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "container/chunks/chunk_grid.hpp"
#include "datatype/cursor.hpp"

namespace stria::file::test {
namespace {

using container::ChunkGrid;
using container::StoredChunk;

constexpr int64_t kFileBytes = 1 << 20;

DatasetEntry dataset_of(std::vector<int64_t> dims, std::vector<int64_t> chunk) {
  DatasetEntry dataset;
  dataset.spec.path = "d";
  dataset.spec.dims = std::move(dims);
  dataset.spec.element = container::ElementSpec::of_number(ElementType::kInt32);
  dataset.spec.chunking.emplace().dims = std::move(chunk);
  dataset.is_updated = true;
  dataset.data_offset = 0;
  dataset.stored_bytes = kFileBytes;
  return dataset;
}

// Returns chunks in no order, with gaps between them.
std::vector<StoredChunk> scattered(const ChunkGrid& grid, std::mt19937& random) {
  std::vector<StoredChunk> index(static_cast<size_t>(grid.chunk_count()));
  std::vector<int64_t> places(index.size());
  for (size_t i = 0; i < index.size(); ++i) {
    places[i] = static_cast<int64_t>(i) * (grid.chunk_bytes() + 5);
  }
  std::shuffle(places.begin(), places.end(), random);
  for (size_t i = 0; i < index.size(); ++i) {
    index[i] = {.number = static_cast<int64_t>(i), .offset = places[i], .bytes = grid.chunk_bytes()};
  }
  return index;
}

// Each byte goes where the grid says; the values are those of the oracle, element by element.
TEST(PutIntoChunks, EveryElementReachesItsChunk) {
  std::mt19937 random(5);
  const auto up_to = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(most)); };
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    std::vector<int64_t> dims, chunk, start, count, stride;
    int64_t elements = 1, all = 1;
    for (int64_t dim = up_to(3); dim > 0; --dim) {
      dims.push_back(up_to(9));
      chunk.push_back(up_to(dims.back() + 1));
      start.push_back(up_to(dims.back()) - 1);
      stride.push_back(up_to(3));
      count.push_back(up_to((dims.back() - start.back() + stride.back() - 1) / stride.back()));
      elements *= count.back();
      all *= dims.back();
    }
    const DatasetEntry dataset = dataset_of(dims, chunk);
    const ChunkGrid grid(dataset.spec);
    const std::vector<StoredChunk> index = scattered(grid, random);
    // Memory of another type, every second element of it.
    std::vector<int16_t> memory(static_cast<size_t>(2 * elements));
    for (size_t i = 0; i < memory.size(); ++i) {
      memory[i] = static_cast<int16_t>(i + 1);
    }
    const Datatype every_second = Datatype::vector(elements, 1, 2, Datatype::bytes(2)).value();
    Transfer put =
        make_transfer(0, dataset, {start, count, stride, {}}, {memory.data(), every_second, ElementType::kInt16}).value();
    std::vector<int> wanted(static_cast<size_t>(all), 0);
    int value = -1;
    for (Cursor at(put.region, put.displacement); !at.done(); at.advance(4)) {
      wanted[static_cast<size_t>(at.piece().begin / 4)] = value += 2;
    }

    std::vector<ByteRange> touched;
    ASSERT_TRUE(put_into_chunks(dataset, index, put, touched).ok());
    EXPECT_TRUE(put.region.is_sorted());
    std::vector<int> file(kFileBytes, 0);  // by the byte at which an element begins
    const auto* packed = reinterpret_cast<const int16_t*>(put.memory.data);
    for (Cursor at(put.region, put.displacement); !at.done(); at.advance(4)) {
      file[static_cast<size_t>(at.piece().begin)] = *packed++;
    }
    for (int64_t element = 0; element < all; ++element) {
      const ChunkGrid::Run run = grid.run_at(4 * element);
      const int found = file[static_cast<size_t>(index[static_cast<size_t>(run.chunk)].offset + run.offset)];
      ASSERT_EQ(found, wanted[static_cast<size_t>(element)]) << element;
      const bool is_touched =
          std::any_of(touched.begin(), touched.end(), [&](const ByteRange& range) { return range.begin == run.chunk; });
      ASSERT_TRUE(found == 0 || is_touched) << element;
    }
  }
}

TEST(PutIntoChunks, AnIndexThatCannotBeIsRefused) {
  const DatasetEntry dataset = dataset_of({6, 8}, {4, 8});
  const std::vector<int> memory(8, 1);
  const auto put_row = [&](int64_t row, std::vector<StoredChunk> index) {
    Transfer put = make_transfer(0, dataset, {{row, 0}, {1, 8}}, Memory(memory.data(), 8)).value();
    std::vector<ByteRange> touched;
    return put_into_chunks(dataset, index, put, touched);
  };
  const StoredChunk whole{.number = 0, .offset = 100, .bytes = 128};
  EXPECT_TRUE(put_row(3, {whole}).ok());
  const Status missing = put_row(4, {whole});
  EXPECT_EQ(missing.code(), ErrorCode::kUnsupported);
  EXPECT_NE(missing.message().find("'d', rows 4 to 5"), std::string::npos) << missing.message();
  EXPECT_EQ(put_row(0, {{.number = 0, .offset = 100, .bytes = 127}}).code(), ErrorCode::kCorrupted);
  EXPECT_EQ(put_row(0, {{.number = 0, .offset = kFileBytes - 127, .bytes = 128}}).code(), ErrorCode::kCorrupted);
  Transfer both = make_transfer(0, dataset, {{3, 0}, {2, 4}}, Memory(memory.data(), 8)).value();
  std::vector<ByteRange> touched;
  const std::vector<StoredChunk> overlapping = {whole, {.number = 1, .offset = 196, .bytes = 128}};
  EXPECT_EQ(put_into_chunks(dataset, overlapping, both, touched).code(), ErrorCode::kCorrupted);
}

}  // namespace
}  // namespace stria::file::test
