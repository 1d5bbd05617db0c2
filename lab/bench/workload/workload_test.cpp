// Compares workloads with naive loops: runs and pieces of selections, values, and that the ranks'
// parts make up the arrays.
#include "workload/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "workload/catalog.hpp"
#include "workload/grid.hpp"
#include "workload/value.hpp"

namespace stria::bench {
namespace {

/// Returns the indices of the elements of a selection, one by one.
std::vector<int64_t> naive_elements(const Selection& s) {
  if (!s.places.empty()) {
    return s.places;
  }
  std::vector<int64_t> elements{0};
  for (size_t d = 0; d < s.dims.size(); ++d) {
    std::vector<int64_t> next;
    for (const int64_t outer : elements) {
      for (int64_t c = 0; c < s.count[d]; ++c) {
        for (int64_t b = 0; b < s.block[d]; ++b) {
          next.push_back(outer * s.dims[d] + s.start[d] + c * s.stride[d] + b);
        }
      }
    }
    elements = next;
  }
  return elements;
}

Selection random_selection(std::mt19937& random, size_t rank) {
  Selection s;
  for (size_t d = 0; d < rank; ++d) {
    const auto pick = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint64_t>(most)) + 1; };
    s.block.push_back(pick(3));
    s.stride.push_back(s.block[d] + pick(3) - 1);
    s.count.push_back(pick(4));
    s.start.push_back(pick(3) - 1);
    s.dims.push_back(s.start[d] + (s.count[d] - 1) * s.stride[d] + s.block[d] + pick(3) - 1);
  }
  return s;
}

TEST(Selection, RunsAreThoseOfALoopOverElements) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const Selection s = random_selection(random, 1 + seed % 4);
    std::vector<int64_t> elements;
    for (Runs runs(s); !runs.done(); runs.next()) {
      for (int64_t i = 0; i < runs.elements(); ++i) {
        elements.push_back(runs.offset() + i);
      }
    }
    EXPECT_EQ(elements, naive_elements(s)) << "seed " << seed;
    EXPECT_EQ(s.elements(), static_cast<int64_t>(elements.size())) << "seed " << seed;
  }
}

// Pieces cover the elements in order, and no two of them touch on both sides.
TEST(Workload, PiecesAreThoseOfALoopOverElements) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    Workload workload;
    const Selection file = random_selection(random, 1 + seed % 3);
    workload.arrays = {{"a", file.dims, 1 + static_cast<int64_t>(seed % 9)}};
    Selection memory = Selection::whole({file.elements()});
    if (seed % 2 == 0) {
      memory = Selection::strided(3 * file.elements(), 1, file.elements(), 2, 1);
    }
    const int64_t element_bytes = workload.arrays[0].element_bytes;
    const std::vector<int64_t> in_file = naive_elements(file);
    const std::vector<int64_t> in_memory = naive_elements(memory);
    size_t next = 0;
    Piece before{-1, -1, 0};
    for_each_piece(workload, {0, file, memory, 40}, [&](const Piece& piece) {
      EXPECT_FALSE(before.memory_bytes + before.bytes == piece.memory_bytes &&
                   before.file_bytes + before.bytes == piece.file_bytes);
      before = piece;
      for (int64_t i = 0; i < piece.bytes / element_bytes; ++i, ++next) {
        ASSERT_LT(next, in_file.size()) << "seed " << seed;
        EXPECT_EQ(piece.file_bytes + i * element_bytes, in_file[next] * element_bytes) << "seed " << seed;
        EXPECT_EQ(piece.memory_bytes + i * element_bytes, 40 + in_memory[next] * element_bytes) << "seed " << seed;
      }
    });
    EXPECT_EQ(next, in_file.size()) << "seed " << seed;
  }
}

TEST(Value, StretchesAreTheirBytes) {
  const ValueKey key{2, 1, 3};
  std::vector<std::byte> bytes(100);
  for (int64_t begin = 0; begin < 20; ++begin) {
    fill_values(key, begin, 50, bytes.data());
    for (int64_t i = 0; i < 50; ++i) {
      EXPECT_EQ(bytes[static_cast<size_t>(i)], value_at(key, begin + i));
    }
    EXPECT_EQ(first_difference(key, begin, 50, bytes.data()), -1);
    bytes[13] ^= std::byte{1};
    bytes[40] ^= std::byte{1};
    EXPECT_EQ(first_difference(key, begin, 50, bytes.data()), begin + 13);
  }
  int same = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    same += value_at(key, i) == value_at({2, 1, 4}, i) ? 1 : 0;
  }
  EXPECT_LT(same, 20);
}

TEST(Grid, IsAsMpiDealsIt) {
  EXPECT_EQ(balanced_grid(12, 3), (std::vector<int64_t>{3, 2, 2}));
  EXPECT_EQ(balanced_grid(6, 2), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(balanced_grid(7, 3), (std::vector<int64_t>{7, 1, 1}));
  EXPECT_EQ(balanced_grid(64, 3), (std::vector<int64_t>{4, 4, 4}));
}

/// Returns small sizes of every workload.
Chosen small(const WorkloadKind& kind) {
  Chosen chosen = kind.standards();
  for (auto& [name, value] : chosen.numbers) {
    const std::map<std::string, int64_t> sizes = {
        {"cells", 6},   {"points", 7},    {"accesses", 50}, {"pieces", 60}, {"mib", 1},          {"kib", 2},
        {"blocks", 3},  {"nvar", 2},      {"block-kib", 8}, {"nxb", 2},     {"transfer-kib", 3}, {"width", 30},
        {"height", 20}, {"overlap-x", 4}, {"overlap-y", 3}, {"nx", 12},     {"nz", 7},           {"guard-cells", 1}};
    value = sizes.count(name) != 0 ? sizes.at(name) : value;
  }
  return chosen;
}

/// Returns how often each byte of each array is written by the ranks together.
std::vector<std::vector<int>> coverage(const WorkloadKind& kind, const Chosen& chosen, int rank_count) {
  std::vector<std::vector<int>> times;
  for (int rank = 0; rank < rank_count; ++rank) {
    const Workload workload = kind.make(chosen, {rank, rank_count});
    times.resize(workload.arrays.size());
    std::vector<int> memory(static_cast<size_t>(workload.memory_bytes), 0);
    for (const Call& call : workload.calls) {
      for (const Part& part : call.parts) {
        times[part.array].resize(static_cast<size_t>(workload.arrays[part.array].bytes()), 0);
        for_each_piece(workload, part, [&](const Piece& piece) {
          for (int64_t i = 0; i < piece.bytes; ++i) {
            ++times[part.array].at(static_cast<size_t>(piece.file_bytes + i));
            ++memory.at(static_cast<size_t>(piece.memory_bytes + i));
          }
        });
      }
    }
  }
  return times;
}

// Every byte is written once, except in displays, which overlap, and in files with gaps.
TEST(Catalog, TheRanksPartsMakeUpTheArrays) {
  for (const WorkloadKind& kind : workload_kinds()) {
    for (const int ranks : {1, 4, 9}) {
      const Chosen chosen = small(kind);
      if ((kind.name == "s3d" && ranks == 4) || kind.name == "open") {
        continue;
      }
      const bool whole = kind.name != "pieces";
      for (const std::vector<int>& array : coverage(kind, chosen, ranks)) {
        const auto [least, most] = std::minmax_element(array.begin(), array.end());
        ASSERT_NE(most, array.end());
        EXPECT_LE(*most, kind.name == "display" ? 4 : 1) << kind.name;
        EXPECT_GE(*least, whole ? 1 : 0) << kind.name;
      }
    }
  }
}

TEST(Catalog, EveryChoiceCoversAlike) {
  for (const WorkloadKind& kind : workload_kinds()) {
    for (const Choice& choice : kind.choices) {
      for (const std::string& word : choice.words) {
        Chosen chosen = small(kind);
        chosen.words[choice.name] = word;
        const auto arrays = coverage(kind, chosen, 1);
        for (const std::vector<int>& array : arrays) {
          ASSERT_FALSE(array.empty());
          EXPECT_LE(*std::max_element(array.begin(), array.end()), 1) << kind.name << " " << word;
        }
      }
    }
  }
}

}  // namespace
}  // namespace stria::bench
