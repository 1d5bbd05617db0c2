// Chunks that simulated ranks of a node share: random gets against what each chunk holds, how often
// a chunk is decoded, chunks that are damaged, and memory that runs out.
#include "file/chunks/node_chunks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

#include "file/session/scarce_case_test.hpp"

namespace stria::file::test {
namespace {

using access::test::content_of;
using access::test::Counting;
using access::test::set_content;
using Random = std::mt19937_64;

DatasetEntry dataset_of(const std::string& path, std::vector<int64_t> dims, std::vector<int64_t> chunk) {
  DatasetEntry dataset;
  dataset.spec.path = path;
  dataset.spec.dims = std::move(dims);
  dataset.spec.element = container::ElementSpec::of_number(ElementType::kFloat64);
  if (!chunk.empty()) {
    dataset.spec.chunking.emplace().dims = std::move(chunk);
  }
  return dataset;
}

Transfer get_of(const Catalog& catalog, int number, const Hyperslab& slab) {
  static double nothing = 0;  // no data are moved here
  int64_t count = 1;
  for (const int64_t length : slab.count) {
    count *= length;
  }
  return make_transfer(number, catalog[number], slab, Memory(&nothing, count)).value();
}

std::byte byte_of(const ChunkOfDataset& chunk, size_t at) {
  return static_cast<std::byte>(static_cast<size_t>(chunk.number * 31 + chunk.dataset * 7) + at * 13);
}

/// Decodes, and lets other ranks run meanwhile.
struct Decoder {
  Comm& comm;
  std::map<std::pair<int, int64_t>, int>& counts;  // the counts of all ranks
  Random random;
  int64_t damaged = -1;  // in every dataset

  Status operator()(const ChunkOfDataset& chunk, std::span<std::byte> out) {
    ++counts[{chunk.dataset, chunk.number}];
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = byte_of(chunk, i);
      if (random() % 300 == 0) {
        comm.pause(0);
      }
    }
    return chunk.number == damaged ? Status(ErrorCode::kCorrupted, "rank " + std::to_string(comm.rank())) : Status();
  }
};

/// Takes each chunk that the gets touch, in their order.
void take_all(NodeChunks& shared, const ChunkNumbers& numbers, const std::vector<Transfer>& gets, Decoder& decoder) {
  for (const Transfer& get : gets) {
    for (ByteRange range : numbers.touched(std::span(&get, 1))) {
      for (int64_t id = range.begin; id < range.end; ++id) {
        const ChunkOfDataset chunk = numbers.chunk(id);
        std::vector<std::byte> out(static_cast<size_t>(numbers.grid(chunk.dataset).chunk_bytes()));
        const Status status = shared.take(chunk, out, std::ref(decoder));
        if (chunk.number == decoder.damaged) {
          ASSERT_EQ(status.message(), "rank " + std::to_string(decoder.comm.rank()));
          continue;
        }
        ASSERT_TRUE(status.ok()) << status.message();
        for (size_t i = 0; i < out.size(); ++i) {
          ASSERT_EQ(out[i], byte_of(chunk, i)) << "chunk " << chunk.number << " byte " << i;
        }
      }
    }
  }
}

TEST(NodeChunks, RandomGetsTakeTheChunksThatTheyTouch) {
  int shared_cases = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto up_to = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(most)); };
    Catalog catalog;
    for (int64_t number = up_to(3); number > 0; --number) {
      std::vector<int64_t> dims, chunk;
      for (int64_t dim = up_to(3); dim > 0; --dim) {
        dims.push_back(up_to(12));
        chunk.push_back(up_to(dims.back()));
      }
      catalog.add(dataset_of("d" + std::to_string(number), dims, random() % 8 == 0 ? std::vector<int64_t>() : chunk));
    }
    Setting setting;
    setting.ranks = static_cast<int>(up_to(7));
    setting.ranks_per_node = static_cast<int>(up_to(setting.ranks));
    setting.seed = seed;
    std::vector<std::vector<Transfer>> gets(static_cast<size_t>(setting.ranks));
    for (auto& of_rank : gets) {
      for (auto count = random() % 4; count > 0; --count) {
        const auto number = static_cast<int>(random() % static_cast<uint64_t>(catalog.size()));
        Hyperslab slab;
        for (const int64_t length : catalog[number].spec.dims) {
          slab.start.push_back(up_to(length) - 1);
          slab.count.push_back(up_to(length - slab.start.back()));
        }
        of_rank.push_back(get_of(catalog, number, slab));
      }
    }
    std::map<std::pair<int, int64_t>, int> counts;
    on_ranks(setting, [&](Comm& comm) {
      const auto& mine = gets[static_cast<size_t>(comm.rank())];
      const auto shared = NodeChunks::create(comm, catalog, mine);
      Decoder decoder{comm, counts, Random(seed), seed % 3 == 0 ? 1 : -1};
      if (shared != nullptr) {
        shared_cases += comm.rank() == 0 ? 1 : 0;
        take_all(*shared, ChunkNumbers(catalog), mine, decoder);
      }
    });
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(shared_cases, 50);
}

/// Ranks get columns of a dataset of two, or all of it; returns how often each chunk was decoded.
std::map<std::pair<int, int64_t>, int> decode_counts(const Setting& setting, int64_t chunks, bool columns) {
  Catalog catalog;
  catalog.add(dataset_of("other", {50}, {}));
  catalog.add(dataset_of("a", {chunks * 3, 16}, {3, 16}));
  std::map<std::pair<int, int64_t>, int> counts;
  on_ranks(setting, [&](Comm& comm) {
    const int64_t width = columns ? 16 / setting.ranks : 16;
    const int64_t first = columns ? width * comm.rank() : 0;
    const std::vector<Transfer> gets = {get_of(catalog, 1, {{0, first}, {chunks * 3, width}})};
    const auto shared = NodeChunks::create(comm, catalog, gets);
    ASSERT_NE(shared, nullptr);
    Decoder decoder{comm, counts, Random(setting.seed + static_cast<uint64_t>(comm.rank()))};
    take_all(*shared, ChunkNumbers(catalog), gets, decoder);
  });
  return counts;
}

// All chunks have room at once: however the ranks run, none is decoded twice on a node.
TEST(NodeChunks, EachChunkIsDecodedOncePerNode) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Setting setting;
    setting.ranks = 4;
    setting.ranks_per_node = seed % 2 == 0 ? 4 : 2;
    setting.seed = seed;
    const auto counts = decode_counts(setting, 16, seed % 4 < 2);
    ASSERT_EQ(counts.size(), 16u);
    for (const auto& [chunk, count] : counts) {
      EXPECT_EQ(count, 4 / setting.ranks_per_node) << "chunk " << chunk.second;
    }
    ASSERT_FALSE(HasFailure());
  }
}

// Many more chunks than have room: ranks that go on side by side hardly decode one again.
TEST(NodeChunks, FewChunksAreDecodedAgainWhereRoomIsShort) {
  Setting setting;
  setting.ranks = setting.ranks_per_node = 4;
  for (setting.seed = 1; setting.seed <= 5; ++setting.seed) {
    constexpr int64_t kChunks = 600;
    int decoded = 0;
    for (const auto& [chunk, count] : decode_counts(setting, kChunks, true)) {
      decoded += count;
    }
    EXPECT_LT(decoded, kChunks * 5 / 4);
  }
}

TEST(NodeChunks, NothingIsSharedWhereEachHasItsOwn) {
  Catalog catalog;
  catalog.add(dataset_of("a", {32, 16}, {4, 16}));
  const auto are_shared = [&](int ranks_per_node, int64_t rows_a_rank, int64_t step) {
    Setting setting;
    setting.ranks = 4;
    setting.ranks_per_node = ranks_per_node;
    int shared_count = 0;
    on_ranks(setting, [&](Comm& comm) {
      const std::vector<Transfer> gets = {get_of(catalog, 0, {{step * comm.rank(), 0}, {rows_a_rank, 16}})};
      shared_count += NodeChunks::create(comm, catalog, gets) != nullptr ? 1 : 0;
    });
    EXPECT_TRUE(shared_count == 0 || shared_count == 4);  // the same everywhere
    return shared_count == 4;
  };
  EXPECT_TRUE(are_shared(4, 6, 6));
  EXPECT_TRUE(are_shared(2, 6, 6));
  EXPECT_TRUE(are_shared(4, 32, 0));  // each all of it
  EXPECT_FALSE(are_shared(1, 6, 6));  // a rank per node
  EXPECT_FALSE(are_shared(4, 8, 8));  // chunks of their own
}

// Each rank decodes by itself where memory is scarce, and all go on.
TEST(NodeChunks, ScarceMemoryIsNoError) {
  Catalog catalog;
  catalog.add(dataset_of("a", {64, 16}, {4, 16}));
  Setting setting;
  setting.ranks = setting.ranks_per_node = 3;
  const auto run = [&](int64_t failing) {
    return run_once(setting, failing, [&](Comm& comm) {
      const std::vector<Transfer> gets = {get_of(catalog, 0, {{0, comm.rank() * 5}, {64, 5}})};
      Counting on(true);
      const auto shared = NodeChunks::create(comm, catalog, gets);
      std::array<std::byte, 4 * 16 * 8> out;
      const NodeChunks::Decode decode = [](const ChunkOfDataset& chunk, std::span<std::byte> target) {
        target[0] = byte_of(chunk, 0);
        return Status();
      };
      for (int64_t number = 0; number < 16; ++number) {
        const Status status = shared != nullptr ? shared->take({0, number}, out, decode) : decode({0, number}, out);
        if (!status.ok() || out[0] != byte_of({0, number}, 0)) {
          return Status(ErrorCode::kInternal, "chunk " + std::to_string(number) + ": " + status.message());
        }
      }
      return Status();
    });
  };
  const int64_t allocations = run(-1).allocations;
  ASSERT_GT(allocations, 10);
  for (int64_t failing = 0; failing < allocations; ++failing) {
    for (const Status& status : run(failing).statuses) {
      ASSERT_TRUE(status.ok()) << failing << ": " << status.message();
    }
  }
}

// A file whose ranks get columns: their values, how much is read, and what a damaged chunk does.
class SharedColumns : public testing::Test {
 protected:
  static constexpr int64_t kRows = 512;
  static constexpr int64_t kColumns = 2048;  // 8 MB in all, chunks of 128 kB

  static double value(int64_t row, int64_t column) { return static_cast<double>((row * kColumns + column) % 1000); }

  SharedColumns() {
    setting_.ranks = setting_.ranks_per_node = 4;
    on_ranks(setting_, [&](Comm& comm) {
      auto session = WriteSession::create(environment_of(comm, borrow(memory_), {}), "run.h5", {}).value();
      container::DatasetSpec spec;
      spec.path = "data";
      spec.element = container::ElementSpec::of_number(ElementType::kFloat64);
      spec.dims = {kRows, kColumns};
      const int number = create_dataset(*session, spec, {.chunk = {8, kColumns}, .filters = Filters::compress()}).value();
      const int64_t rows = kRows / comm.size();
      std::vector<double> mine;
      for (int64_t row = rows * comm.rank(); row < rows * (comm.rank() + 1); ++row) {
        for (int64_t column = 0; column < kColumns; ++column) {
          mine.push_back(value(row, column));
        }
      }
      const Memory source(mine.data(), static_cast<int64_t>(mine.size()));
      ASSERT_TRUE(session->record(number, {{rows * comm.rank(), 0}, {rows, kColumns}}, source).ok());
      ASSERT_EQ(session->commit().message(), "");
    });
  }

  /// Returns the outcome on each rank.
  std::vector<Status> read_columns(bool verify) {
    std::vector<Status> statuses(static_cast<size_t>(setting_.ranks));
    on_ranks(setting_, [&](Comm& comm) {
      auto session = ReadSession::open(environment_of(comm, borrow(memory_), {}), "run.h5", {.verify = verify}).value();
      const int64_t columns = kColumns / comm.size();
      std::vector<double> mine(static_cast<size_t>(kRows * columns));
      const Hyperslab slab{{0, columns * comm.rank()}, {kRows, columns}};
      ASSERT_TRUE(session->record(session->find("data").value(), slab, Memory(mine.data(), kRows * columns)).ok());
      const Status status = session->commit();
      statuses[static_cast<size_t>(comm.rank())] = status;
      for (int64_t i = 0; status.ok() && i < kRows * columns; ++i) {
        ASSERT_EQ(mine[static_cast<size_t>(i)], value(i / columns, columns * comm.rank() + i % columns)) << i;
      }
    });
    return statuses;
  }

  Setting setting_;
  storage::MemoryDriver memory_;
};

TEST_F(SharedColumns, ComeBack) {
  for (const bool verify : {false, true}) {
    for (setting_.seed = 1; setting_.seed < 4; ++setting_.seed) {
      for (const Status& status : read_columns(verify)) {
        EXPECT_EQ(status.message(), "");
      }
    }
  }
}

TEST_F(SharedColumns, ADamagedChunkIsNamedOnEveryRank) {
  const auto chunks = container::open_file(*memory_.open("run.h5", {}).value()).value()->chunks("data").value();
  Bytes content = content_of(memory_, "run.h5");
  content[static_cast<size_t>(chunks[20].offset + chunks[20].bytes / 2)] ^= std::byte{16};
  set_content(memory_, "run.h5", content);
  const std::vector<Status> statuses = read_columns(true);
  for (const Status& status : statuses) {
    EXPECT_EQ(status.code(), ErrorCode::kCorrupted);
    EXPECT_EQ(status.message(), statuses[0].message());
    EXPECT_NE(status.message().find("dataset 'data', rows 160 to 167"), std::string::npos) << status.message();
  }
}

}  // namespace
}  // namespace stria::file::test
