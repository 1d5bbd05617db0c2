// Datasets in chunks against a vector of their elements: random shapes, chunks and puts on
// simulated ranks; libhdf5 as a second reader; damage anywhere in a chunk.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "access/random_case_test.hpp"
#include "comm/self/self_comm.hpp"
#include "container/formats/formats.hpp"
#include "file/session/session_case_test.hpp"
#include "support/rounds.hpp"

namespace stria::file::test {
namespace {

using access::test::content_of;
using access::test::set_content;

/// A box of a dataset that one rank puts at one time; of the first dimension every `stride`-th
/// index.
struct Part {
  std::vector<int64_t> start, count;
  int64_t stride = 1;
  int rank = 0;
  int step = 0;
};

struct Case {
  Setting setting;
  std::vector<int64_t> dims;
  DatasetOptions options;
  ElementType stored = ElementType::kFloat64;
  bool noise = false;  // values that don't shrink
  double fill_value = 0;
  std::vector<Part> parts;

  int64_t count() const { return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()); }
  double value(int64_t element) const {
    const auto n = static_cast<uint64_t>(element + 1);
    return static_cast<double>(noise ? n * 0x9e3779b97f4a7c15 >> 40 : n % 100);
  }
};

using Random = std::mt19937_64;

int64_t pick(Random& random, int64_t least, int64_t most) {
  return std::uniform_int_distribution<int64_t>(least, most)(random);
}

// Cuts a box into parts; some of it stays without.
void cut(Random& random, const Part& box, int depth, Case& made) {
  const auto dim = static_cast<size_t>(pick(random, 0, static_cast<int64_t>(box.start.size()) - 1));
  if (depth == 0 || box.count[dim] < 2) {
    Part part = box;
    part.rank = static_cast<int>(pick(random, 0, made.setting.ranks - 1));
    part.step = static_cast<int>(pick(random, 0, made.setting.flushes));
    if (pick(random, 0, 5) == 0) {
      return;
    }
    if (pick(random, 0, 3) == 0 && part.count[0] > 2) {  // two that interleave
      Part other = part;
      part.stride = other.stride = 2;
      other.start[0] += 1;
      other.count[0] = part.count[0] / 2;
      part.count[0] -= other.count[0];
      other.rank = static_cast<int>(pick(random, 0, made.setting.ranks - 1));
      made.parts.push_back(other);
    }
    made.parts.push_back(part);
    return;
  }
  const int64_t at = pick(random, 1, box.count[dim] - 1);
  Part first = box;
  Part second = box;
  first.count[dim] = at;
  second.start[dim] += at;
  second.count[dim] -= at;
  cut(random, first, depth - 1, made);
  cut(random, second, depth - 1, made);
}

Case random_case(uint64_t seed) {
  Random random(seed);
  Case made;
  const int ranks[] = {1, 2, 3, 4, 7};
  made.setting.ranks = ranks[pick(random, 0, 4)];
  made.setting.ranks_per_node = static_cast<int>(pick(random, 1, made.setting.ranks));
  made.setting.seed = seed;
  made.setting.flushes = static_cast<int>(pick(random, 0, 1));
  made.setting.hints.compress_threads = pick(random, 1, 3);
  const auto dimensions = static_cast<size_t>(pick(random, 1, 4));
  const int64_t longest[] = {5000, 90, 24, 11};
  for (size_t dim = 0; dim < dimensions; ++dim) {
    made.dims.push_back(pick(random, 1, longest[dimensions - 1]));
    made.options.chunk.push_back(pick(random, 0, 2) == 0 ? made.dims[dim] : pick(random, 1, made.dims[dim]));
  }
  if (pick(random, 0, 4) == 0) {
    made.options.chunk.clear();
  }
  const ElementType types[] = {ElementType::kFloat64, ElementType::kFloat32, ElementType::kInt16, ElementType::kInt64};
  made.stored = types[pick(random, 0, 3)];
  made.noise = made.stored != ElementType::kInt16 && pick(random, 0, 3) == 0;
  made.options.filters = {
      .shuffle = pick(random, 0, 3) > 0, .deflate = pick(random, 0, 3) > 0, .fletcher32 = pick(random, 0, 2) == 0};
  made.options.filters.deflate |= made.options.chunk.empty();
  if (made.options.filters.deflate && pick(random, 0, 2) == 0) {
    made.options.filters.deflate = false;
    made.options.filters.zstd = true;
  }
  const bool is_integer = made.stored == ElementType::kInt16 || made.stored == ElementType::kInt64;
  if (is_integer && pick(random, 0, 1) == 0) {
    made.options.filters.shuffle = false;
    made.options.filters.scale_offset = true;
  }
  if (pick(random, 0, 1) == 0) {
    made.fill_value = made.stored == ElementType::kFloat64 ? -3.125 : 77;
    made.options.fill_value = made.fill_value;
  }
  made.options.big_endian = pick(random, 0, 4) == 0;
  made.options.value_range = pick(random, 0, 1) == 0;
  cut(random, {.start = std::vector<int64_t>(dimensions, 0), .count = made.dims}, static_cast<int>(pick(random, 0, 5)), made);
  return made;
}

// Returns the elements of a part, in order.
std::vector<int64_t> elements_of(const Case& made, const Part& part) {
  std::vector<int64_t> elements = {0};
  for (size_t dim = 0; dim < made.dims.size(); ++dim) {
    std::vector<int64_t> next;
    for (const int64_t outer : elements) {
      for (int64_t i = 0; i < part.count[dim]; ++i) {
        next.push_back(outer * made.dims[dim] + part.start[dim] + i * (dim == 0 ? part.stride : 1));
      }
    }
    elements = std::move(next);
  }
  return elements;
}

Hyperslab slab_of(const Part& part) {
  Hyperslab slab{part.start, part.count};
  if (part.stride > 1) {
    slab.stride.assign(part.start.size(), 1);
    slab.stride[0] = part.stride;
  }
  return slab;
}

std::vector<double> oracle(const Case& made) {
  std::vector<double> all(static_cast<size_t>(made.count()), made.fill_value);
  for (const Part& part : made.parts) {
    for (const int64_t element : elements_of(made, part)) {
      all[static_cast<size_t>(element)] = made.value(element);
    }
  }
  return all;
}

Status write_case(const Case& made, Comm& comm, storage::MemoryDriver& memory) {
  STRIA_ASSIGN_OR_RETURN(auto session,
                         WriteSession::create(environment_of(comm, borrow(memory), made.setting.hints), made.setting.path, {}));
  DatasetOptions in_one_piece = made.options;
  in_one_piece.chunk.clear();
  in_one_piece.filters = {};
  for (const char* path : {"data", "twin", "plain"}) {  // two that are packed together
    container::DatasetSpec spec;
    spec.path = path;
    spec.element = container::ElementSpec::of_number(made.stored);
    spec.dims = made.dims;
    STRIA_RETURN_IF_ERROR(create_dataset(*session, spec, spec.path == "plain" ? in_one_piece : made.options).status());
  }
  for (int step = 0; step <= made.setting.flushes; ++step) {
    std::vector<std::vector<double>> kept;
    for (const Part& part : made.parts) {
      if (part.rank == comm.rank() && part.step == step) {
        std::vector<double>& values = kept.emplace_back();
        for (const int64_t element : elements_of(made, part)) {
          values.push_back(made.value(element));
        }
        const Memory of_values(values.data(), static_cast<int64_t>(values.size()));
        for (const int number : {0, 1, 2}) {
          STRIA_RETURN_IF_ERROR(session->record(number, slab_of(part), of_values));
        }
      }
    }
    STRIA_RETURN_IF_ERROR(step < made.setting.flushes ? session->flush() : session->commit());
    for (auto& values : kept) {
      std::fill(values.begin(), values.end(), -1);  // the file must not see it any more
    }
  }
  return Status();
}

// Returns what is wrong with `part` of a dataset as this rank gets it; empty when nothing is.
std::string compare_part(ReadSession& session, const char* path, const Case& made, const Part& part,
                         const std::vector<double>& all) {
  const std::vector<int64_t> elements = elements_of(made, part);
  std::vector<double> values(elements.size(), -7);
  Status status =
      session.record(*session.find(path), slab_of(part), Memory(values.data(), static_cast<int64_t>(values.size())));
  status.update(session.commit());
  if (!status.ok()) {
    return status.message();
  }
  for (size_t i = 0; i < elements.size(); ++i) {
    if (values[i] != all[static_cast<size_t>(elements[i])]) {
      return "element " + std::to_string(elements[i]) + " is " + std::to_string(values[i]);
    }
  }
  return "";
}

// Returns a random box, with strides now and then.
Part random_part(Random& random, const Case& made) {
  Part part;
  for (const int64_t size : made.dims) {
    part.start.push_back(pick(random, 0, size - 1));
    part.count.push_back(pick(random, 1, size - part.start.back()));
  }
  part.stride = pick(random, 1, 3);
  part.count[0] = (part.count[0] + part.stride - 1) / part.stride;
  return part;
}

void read_case(const Case& made, Comm& comm, storage::MemoryDriver& memory, bool verify) {
  const std::vector<double> all = oracle(made);
  auto session = ReadSession::open(environment_of(comm, borrow(memory), {}), made.setting.path, {.verify = verify});
  ASSERT_TRUE(session.ok()) << session.status().message();
  Random random(made.setting.seed + static_cast<uint64_t>(comm.rank()));
  for (const char* path : {"twin", "plain"}) {
    EXPECT_EQ(compare_part(**session, path, made, {std::vector<int64_t>(made.dims.size(), 0), made.dims}, all), "");
    EXPECT_EQ(compare_part(**session, path, made, random_part(random, made), all), "");
  }
  const auto damages = (*session)->verify();
  ASSERT_TRUE(damages.ok()) << damages.status().message();
  EXPECT_TRUE(damages->empty());
}

// Does the same by libhdf5, which has no zstd.
void read_by_library(const Case& made, storage::MemoryDriver& memory) {
  auto file = memory.open(made.setting.path, {}).value();
  auto reader = container::open_file(*file).value();
  for (const std::string path : {"data", "plain"}) {
    const auto info = reader->dataset(path).value();
    using Layout = container::DatasetInfo::Layout;
    EXPECT_EQ(info.layout, path == "data" ? Layout::kChunked : Layout::kContiguous);
    EXPECT_EQ(info.spec.fill_value.empty(), made.fill_value == 0);
    if (path == "data" && made.options.filters.zstd) {
      continue;
    }
    std::vector<std::byte> bytes(static_cast<size_t>(made.count() * info.spec.element.bytes));
    const Status status = reader->read_hyperslab(path, std::vector<int64_t>(made.dims.size(), 0), made.dims, bytes);
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<double> values(static_cast<size_t>(made.count()));
    convert_elements(made.stored, bytes.data(), ElementType::kFloat64, reinterpret_cast<std::byte*>(values.data()),
                     made.count());
    EXPECT_EQ(values, oracle(made)) << path;
  }
}

TEST(ChunkedFile, RandomPutsComeBack) {
  for (uint64_t seed = 1; seed <= static_cast<uint64_t>(access::test::case_count(30)); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Case made = random_case(seed);
    storage::MemoryDriver memory;
    on_ranks(made.setting, [&](Comm& comm) {
      const Status status = write_case(made, comm, memory);
      ASSERT_TRUE(status.ok()) << status.message();
    });
    Setting readers = made.setting;
    readers.ranks = static_cast<int>(seed % 4) + 1;
    readers.ranks_per_node = 1;
    on_ranks(readers, [&](Comm& comm) { read_case(made, comm, memory, seed % 2 == 0); });
    read_by_library(made, memory);
    if (HasFailure()) {
      return;
    }
  }
}

// Every bit of a stored chunk is covered: verify() names dataset and rows.
// Cells of several variables, and a rank's blocks of them.
constexpr int64_t kVariables = 5;
constexpr int64_t kCells = 24;

double cell(int64_t variable, int64_t block, int64_t number) {
  return static_cast<double>((variable * 1000 + block) * 100 + number);
}

/// Room for all variables of the blocks in `range`.
std::vector<double> interleaved(ByteRange range) {
  return std::vector<double>(static_cast<size_t>(range.size() * kCells * kVariables));
}

/// Records all variables of the blocks in `range`, which lie interleaved in `cells`.
template <typename EitherSession>
void record_interleaved(EitherSession& session, ByteRange range, std::vector<double>& cells) {
  const auto every = Datatype::hvector(range.size() * kCells, 1, 8 * kVariables, Datatype::bytes(8)).value();
  for (int64_t variable = 0; variable < kVariables; ++variable) {
    const int number = session.find("v" + std::to_string(variable)).value();
    const Memory memory(cells.data() + variable, every, ElementType::kFloat64);
    ASSERT_EQ(session.record(number, {{range.begin, 0}, {range.size(), kCells}}, memory).message(), "");
  }
}

TEST(ChunkedFile, VariablesThatLieInterleavedComeBackTogether) {
  constexpr int64_t kBlocks = 22;
  storage::MemoryDriver memory;
  Setting setting;
  setting.ranks = 3;
  const ByteRange written[] = {{0, 9}, {9, 10}, {10, kBlocks}};
  on_ranks(setting, [&](Comm& comm) {
    access::ResolvedHints from_where_they_lie;
    from_where_they_lie.put_copies_bytes = 0;
    auto session = WriteSession::create(environment_of(comm, borrow(memory), from_where_they_lie), "run.h5", {}).value();
    for (int64_t variable = 0; variable < kVariables; ++variable) {
      container::DatasetSpec spec;
      spec.path = "v" + std::to_string(variable);
      spec.element = container::ElementSpec::of_number(ElementType::kFloat64);
      spec.dims = {kBlocks, kCells};
      ASSERT_TRUE(create_dataset(*session, spec, {.chunk = {4, kCells}, .filters = Filters::compress()}).ok());
    }
    const ByteRange range = written[comm.rank()];
    std::vector<double> cells = interleaved(range);
    for (size_t i = 0; i < cells.size(); ++i) {
      const auto at = static_cast<int64_t>(i) / kVariables;
      cells[i] = cell(static_cast<int64_t>(i) % kVariables, range.begin + at / kCells, at % kCells);
    }
    record_interleaved(*session, range, cells);
    ASSERT_EQ(session->commit().message(), "");
  });
  for (const bool verify : {false, true}) {
    setting.ranks = 2;
    const ByteRange read[] = {{0, 15}, {7, 8}};
    on_ranks(setting, [&](Comm& comm) {
      auto session = ReadSession::open(environment_of(comm, borrow(memory), {}), "run.h5", {.verify = verify}).value();
      const ByteRange range = read[comm.rank()];
      std::vector<double> cells = interleaved(range);
      record_interleaved(*session, range, cells);
      ASSERT_EQ(session->commit().message(), "");
      for (size_t i = 0; i < cells.size(); ++i) {
        const auto at = static_cast<int64_t>(i) / kVariables;
        ASSERT_EQ(cells[i], cell(static_cast<int64_t>(i) % kVariables, range.begin + at / kCells, at % kCells)) << i;
      }
    });
  }
}

// Blocks in turn of noise and of smooth numbers, as long as a sample needs.
struct Turns {
  static constexpr int64_t kBlocks = 96;
  static constexpr int64_t kCellsOfBlock = 2048;
  static constexpr int64_t kBlocksOfChunk = 4;
  static constexpr int64_t kNoiseUntil = 32;  // It begins again at twice that.

  static bool is_noise(int64_t block) { return block < kNoiseUntil || block >= 2 * kNoiseUntil; }
  static double value(int64_t variable, int64_t block, int64_t at) {
    const auto n = static_cast<uint64_t>((variable * kBlocks + block) * kCellsOfBlock + at + 1);
    const uint64_t mixed = (n * 0x9e3779b97f4a7c15 ^ (n * 0x9e3779b97f4a7c15) >> 29) * 0xbf58476d1ce4e5b9;
    double value;
    const uint64_t bits = (mixed ^ mixed >> 32) & ~(uint64_t{1} << 62);  // finite
    std::memcpy(&value, &bits, sizeof value);
    return is_noise(block) ? value : static_cast<double>(at / 16);
  }
};

void write_turns(Comm& comm, storage::MemoryDriver& memory, const Filters& filters, bool interleaved, int threads) {
  access::ResolvedHints hints;
  hints.compress_threads = threads;
  auto session = WriteSession::create(environment_of(comm, borrow(memory), hints), "run.h5", {}).value();
  constexpr int64_t kNumbers = 2;
  for (int64_t variable = 0; variable < kNumbers; ++variable) {
    container::DatasetSpec spec;
    spec.path = "v" + std::to_string(variable);
    spec.element = container::ElementSpec::of_number(ElementType::kFloat64);
    spec.dims = {Turns::kBlocks, Turns::kCellsOfBlock};
    const DatasetOptions options{
        .value_range = true, .chunk = {Turns::kBlocksOfChunk, Turns::kCellsOfBlock}, .filters = filters};
    ASSERT_TRUE(create_dataset(*session, spec, options).ok());
  }
  const ByteRange blocks{Turns::kBlocks * comm.rank() / comm.size(), Turns::kBlocks * (comm.rank() + 1) / comm.size()};
  const int64_t count = blocks.size() * Turns::kCellsOfBlock;
  std::vector<double> cells(static_cast<size_t>(count * kNumbers));
  const int64_t step = interleaved ? kNumbers : 1;
  for (int64_t variable = 0; variable < kNumbers; ++variable) {
    double* const first = cells.data() + (interleaved ? variable : variable * count);
    for (int64_t i = 0; i < count; ++i) {
      first[i * step] = Turns::value(variable, blocks.begin + i / Turns::kCellsOfBlock, i % Turns::kCellsOfBlock);
    }
    const auto type = Datatype::hvector(count, 1, 8 * step, Datatype::bytes(8)).value();
    const Memory of_cells = interleaved ? Memory(first, type, ElementType::kFloat64) : Memory(first, count);
    const int number = session->find("v" + std::to_string(variable)).value();
    ASSERT_EQ(session->record(number, {{blocks.begin, 0}, {blocks.size(), Turns::kCellsOfBlock}}, of_cells).message(), "");
  }
  ASSERT_EQ(session->commit().message(), "");
}

// Noise has the mask set; smooth chunks are compressed, all of them.
void check_turns(storage::MemoryDriver& memory, const Filters& filters) {
  auto file = memory.open("run.h5", {}).value();
  auto reader = container::open_file(*file).value();
  constexpr int64_t kChunkBytes = Turns::kBlocksOfChunk * Turns::kCellsOfBlock * 8;
  for (int64_t variable = 0; variable < 2; ++variable) {
    const std::string path = "v" + std::to_string(variable);
    const auto chunks = reader->chunks(path).value();
    ASSERT_EQ(static_cast<int64_t>(chunks.size()), Turns::kBlocks / Turns::kBlocksOfChunk);
    for (const container::StoredChunk& chunk : chunks) {
      const bool is_noise = Turns::is_noise(chunk.number * Turns::kBlocksOfChunk);
      EXPECT_EQ(chunk.skipped, is_noise ? 3u : 0u) << chunk.number;
      const int64_t sum_bytes = filters.fletcher32 ? 4 : 0;
      EXPECT_TRUE(is_noise ? chunk.bytes == kChunkBytes + sum_bytes : chunk.bytes < kChunkBytes / 4) << chunk.number;
    }
    std::vector<double> values(static_cast<size_t>(Turns::kBlocks * Turns::kCellsOfBlock));
    ASSERT_EQ(reader
                  ->read_hyperslab(path, std::vector<int64_t>{0, 0}, std::vector<int64_t>{Turns::kBlocks, Turns::kCellsOfBlock},
                                   std::as_writable_bytes(std::span(values)))
                  .message(),
              "");
    for (size_t i = 0; i < values.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      ASSERT_EQ(values[i], Turns::value(variable, at / Turns::kCellsOfBlock, at % Turns::kCellsOfBlock)) << i;
    }
  }
}

TEST(ChunkedFile, NoiseIsStoredAsItIsAndWhatIsSmoothShrinks) {
  for (int turn = 0; turn < 16; ++turn) {
    const bool interleaved = turn % 2 == 0;
    const Filters filters{.shuffle = true, .deflate = true, .fletcher32 = turn / 2 % 2 == 1};
    const int threads = turn / 4 % 2 + 1;
    SCOPED_TRACE("turn " + std::to_string(turn));
    storage::MemoryDriver memory;
    Setting setting;
    setting.ranks = turn / 8 == 0 ? 1 : 3;
    on_ranks(setting, [&](Comm& comm) { write_turns(comm, memory, filters, interleaved, threads); });
    check_turns(memory, filters);
    on_ranks(setting, [&](Comm& comm) {
      auto session = ReadSession::open(environment_of(comm, borrow(memory), {}), "run.h5", {.verify = true}).value();
      const auto damages = session->verify();
      ASSERT_TRUE(damages.ok()) << damages.status().message();
      EXPECT_TRUE(damages->empty());
    });
    if (HasFailure()) {
      return;
    }
  }
}

// A chunk that is stored straight from memory has sums as any other.
TEST(ChunkedFile, AFlippedBitOfNoiseIsFound) {
  auto comm = make_self_comm();
  for (const bool interleaved : {false, true}) {
    storage::MemoryDriver memory;
    write_turns(*comm, memory, Filters::compress(), interleaved, 1);
    auto file = memory.open("run.h5", {}).value();
    const auto chunks = container::open_file(*file).value()->chunks("v1").value();
    Bytes content = content_of(memory, "run.h5");
    content[static_cast<size_t>(chunks[1].offset + 17)] ^= std::byte{4};
    set_content(memory, "run.h5", content);
    auto session = ReadSession::open(environment_of(*comm, borrow(memory), {}), "run.h5", {}).value();
    const auto damages = session->verify().value();
    ASSERT_EQ(damages.size(), 1u);
    EXPECT_EQ(damages[0].dataset, "v1");
    EXPECT_LE(damages[0].first_row, Turns::kBlocksOfChunk);
    EXPECT_GE(damages[0].last_row, 2 * Turns::kBlocksOfChunk);
  }
}

TEST(ChunkedFile, AnyFlippedBitOfAChunkIsFound) {
  auto comm = make_self_comm();
  for (uint64_t seed = 1; seed <= rounds<uint64_t>(60); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Case made = random_case(seed);
    made.setting.ranks = made.setting.ranks_per_node = 1;
    for (Part& part : made.parts) {
      part.rank = 0;
    }
    storage::MemoryDriver memory;
    const Status written = write_case(made, *comm, memory);
    ASSERT_TRUE(written.ok()) << written.message();
    auto file = memory.open(made.setting.path, {}).value();
    const auto reader = container::open_file(*file).value();
    const auto chunks = reader->chunks("twin").value();
    const container::ChunkGrid grid(reader->dataset("twin").value().spec);
    Random random(seed);
    for (int flip = 0; flip < 8 && !chunks.empty(); ++flip) {
      const auto& chunk = chunks[static_cast<size_t>(pick(random, 0, static_cast<int64_t>(chunks.size()) - 1))];
      Bytes content = content_of(memory, made.setting.path);
      const Bytes whole = content;
      content[static_cast<size_t>(chunk.offset + pick(random, 0, chunk.bytes - 1))] ^= std::byte{1} << pick(random, 0, 7);
      set_content(memory, made.setting.path, content);
      auto session = ReadSession::open(environment_of(*comm, borrow(memory), {}), made.setting.path, {}).value();
      const auto damages = session->verify();
      ASSERT_TRUE(damages.ok()) << damages.status().message();
      ASSERT_FALSE(damages->empty());
      const ByteRange rows = grid.rows(chunk.number);
      EXPECT_EQ((*damages)[0].dataset, "twin");
      EXPECT_LE((*damages)[0].first_row, rows.begin);  // puts of parts of rows are damaged whole
      EXPECT_GE((*damages)[0].last_row, rows.end);
      set_content(memory, made.setting.path, whole);
    }
  }
}

TEST(ChunkedFile, WrongChunksAreRefused) {
  auto comm = make_self_comm();
  storage::MemoryDriver memory;
  const auto create = [&](std::vector<int64_t> dims, const DatasetOptions& options) {
    auto session = WriteSession::create(environment_of(*comm, borrow(memory), {}), "run.h5", {}).value();
    container::DatasetSpec spec;
    spec.path = "data";
    spec.dims = std::move(dims);
    return create_dataset(*session, spec, options).status();
  };
  EXPECT_EQ(create({4, 4}, {.chunk = {4}}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(create({4, 4}, {.chunk = {4, 5}}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(create({4, 4}, {.chunk = {0, 4}}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(create({1 << 20, 1 << 20}, {.chunk = {1 << 20, 1 << 20}}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(create({0, 4}, {.chunk = {1, 4}}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(create({}, {.chunk = {1}}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(create({4}, {.filters = {.deflate = true, .zstd = true}}).code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(create({0, 4}, {.filters = Filters::compress()}).ok());
  EXPECT_TRUE(create({}, {.filters = Filters::compress()}).ok());
}

}  // namespace
}  // namespace stria::file::test
