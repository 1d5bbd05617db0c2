#include "file/move/transfer.hpp"

#include <gtest/gtest.h>

#include <climits>
#include <random>

#include "datatype/cursor.hpp"

namespace stria::file {
namespace {

DatasetEntry entry_of(std::vector<int64_t> dims, ElementType element = ElementType::kFloat64) {
  DatasetEntry entry;
  entry.spec.path = "dens";
  entry.spec.element = container::ElementSpec::of_number(element);
  entry.spec.dims = std::move(dims);
  return entry;
}

Result<Transfer> transfer(const DatasetEntry& entry, const Hyperslab& slab, int64_t element_count,
                          ElementType element = ElementType::kFloat64) {
  static double number = 0;
  return make_transfer(3, entry, slab, Memory(&number, Datatype::bytes(element_count * element_bytes(element)), element));
}

/// Lists every byte of the region, from the beginning of the raw data.
std::vector<int64_t> bytes_of(const Transfer& transfer) {
  std::vector<int64_t> offsets;
  for (Cursor cursor(transfer.region, transfer.displacement); !cursor.done(); cursor.advance(1)) {
    offsets.push_back(cursor.piece().begin);
  }
  return offsets;
}

/// Returns the same by the definition of a hyperslab: the indices of each dimension, then their
/// product.
std::vector<int64_t> naive_bytes(const DatasetEntry& entry, const Hyperslab& slab) {
  std::vector<int64_t> elements = {0};
  for (size_t dim = 0; dim < entry.spec.dims.size(); ++dim) {
    int64_t block = slab.block.empty() ? 1 : slab.block[dim];
    int64_t stride = slab.stride.empty() ? block : slab.stride[dim];
    std::vector<int64_t> next;
    for (int64_t outer : elements) {
      for (int64_t i = 0; i < slab.count[dim] * block; ++i) {
        next.push_back(outer * entry.spec.dims[dim] + slab.start[dim] + i / block * stride + i % block);
      }
    }
    elements = std::move(next);
  }
  std::vector<int64_t> offsets;
  for (int64_t element : elements) {
    for (int64_t byte = 0; byte < entry.spec.element.bytes; ++byte) {
      offsets.push_back(element * entry.spec.element.bytes + byte);
    }
  }
  return offsets;
}

TEST(Transfer, HyperslabsSelectWhatTheyMean) {
  std::mt19937_64 random(7);
  auto pick = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  for (int run = 0; run < 500; ++run) {
    std::vector<int64_t> dims;
    Hyperslab slab;
    int64_t elements = 1;
    bool plain = true;
    bool whole = true;
    for (int64_t dim = 0, rank = pick(0, 4); dim < rank; ++dim) {
      int64_t block = pick(1, 3);
      int64_t stride = block + (pick(0, 1) == 0 ? 0 : pick(0, 3));
      int64_t count = pick(0, 9) == 0 ? 0 : pick(1, 4);
      int64_t start = pick(0, 2);
      dims.push_back(start + std::max<int64_t>(count - 1, 0) * stride + block + pick(0, 2));
      slab.start.push_back(start);
      slab.count.push_back(count);
      slab.stride.push_back(stride);
      slab.block.push_back(block);
      elements *= count * block;
      plain = plain && (stride == block || count <= 1);
      whole = whole && (dim == 0 || count * block == dims.back());
    }
    DatasetEntry entry = entry_of(dims, pick(0, 1) == 0 ? ElementType::kFloat64 : ElementType::kInt16);
    auto made = transfer(entry, slab, elements);
    ASSERT_TRUE(made.ok()) << "run " << run << ": " << made.status().message();
    EXPECT_EQ(made->dataset, 3);
    ASSERT_EQ(bytes_of(*made), naive_bytes(entry, slab)) << "run " << run;
    ASSERT_TRUE(made->region.is_sorted());
    ASSERT_EQ(made->whole_rows, plain && whole) << "run " << run;
    ASSERT_EQ(made->has_gaps, !plain);
    ASSERT_EQ(made->start.size(), dims.size());
    std::vector<int64_t> offsets = bytes_of(*made);
    if (!offsets.empty()) {
      ASSERT_EQ(made->first_row, offsets.front() / entry.row_bytes());
      ASSERT_EQ(made->first_row + made->row_count, offsets.back() / entry.row_bytes() + 1) << "run " << run;
    }
  }
}

TEST(Transfer, SaysWhatIsWrongWithAHyperslab) {
  DatasetEntry entry = entry_of({10, 20});
  struct Wrong {
    Hyperslab slab;
    int64_t elements;
    const char* words;
  };
  for (const Wrong& wrong : std::vector<Wrong>{
           {{{0}, {1}}, 1, "must have 2 dimensions"},
           {{{0, 0, 0}, {1, 1, 1}}, 1, "must have 2 dimensions"},
           {{{0, 0}, {1}}, 1, "must have 2 dimensions"},
           {{{0, 0}, {1, 1}, {1}}, 1, "must have 2 dimensions"},
           {{{0, 0}, {1, 1}, {}, {1}}, 1, "must have 2 dimensions"},
           {{{-1, 0}, {1, 1}}, 1, "dimension 0 of the hyperslab (start -1, count 1, stride 1, block 1) is not a region"},
           {{{0, 0}, {1, -1}}, 1, "dimension 1"},
           {{{0, 0}, {1, 1}, {0, 1}}, 1, "is not a region"},
           {{{0, 0}, {1, 1}, {}, {1, 0}}, 1, "is not a region"},
           {{{0, 0}, {2, 1}, {2, 3}, {3, 3}}, 18, "is not a region"},
           {{{0, 15}, {10, 6}}, 60, "dimension 1 of the hyperslab (start 15, count 6, stride 1, block 1) passes the end at 20"},
           {{{11, 0}, {0, 1}}, 0, "passes the end at 10"},
           {{{0, 0}, {4, 1}, {3, 1}, {2, 1}}, 8, "passes the end at 10"},
           {{{INT64_MAX, 0}, {1, 1}}, 1, "passes the end"},
           {{{0, 0}, {INT64_MAX, 1}, {INT64_MAX, 1}, {2, 1}}, 1, "passes the end"},
           {{{0, 0}, {1, 1}, {INT64_MAX, 1}, {INT64_MAX, 1}}, 1, "passes the end"},
           {{{0, 0}, {2, 3}}, 5, "the hyperslab has 6 elements, but the memory region has 40 bytes of float64"},
           {{{0, 0}, {0, 3}}, 5, "the hyperslab has 0 elements"},
       }) {
    auto made = transfer(entry, wrong.slab, wrong.elements);
    EXPECT_EQ(made.status().code(), ErrorCode::kInvalidArgument) << wrong.words;
    EXPECT_NE(made.status().message().find(wrong.words), std::string::npos) << made.status().message();
    EXPECT_EQ(made.status().message().find("dataset 'dens': "), 0u) << made.status().message();
  }
}

TEST(Transfer, WhatNoElementDependsOnMayBeOutOfAllBounds) {
  DatasetEntry entry = entry_of({10, 20});
  EXPECT_TRUE(transfer(entry, {{10, 0}, {0, 20}}, 0).ok());
  EXPECT_TRUE(transfer(entry, {{0, 0}, {0, 1}, {INT64_MAX, 1}, {INT64_MAX, 1}}, 0).ok());
  auto one = transfer(entry, {{4, 3}, {1, 1}, {INT64_MAX, INT64_MAX}, {1, 2}}, 2);
  ASSERT_TRUE(one.ok()) << one.status().message();
  EXPECT_EQ(bytes_of(*one).front(), (4 * 20 + 3) * 8);
}

TEST(Transfer, MemoryMustBeThere) {
  DatasetEntry entry = entry_of({10});
  Memory nothing(static_cast<const double*>(nullptr), 10);
  EXPECT_NE(make_transfer(0, entry, {{0}, {10}}, nothing).status().message().find("null"), std::string::npos);
  Memory none(static_cast<const double*>(nullptr), 0);
  EXPECT_TRUE(make_transfer(0, entry, {{0}, {0}}, none).ok());
  entry.spec.element = container::ElementSpec::of_string(8, true);
  EXPECT_EQ(transfer(entry, {{0}, {10}}, 10).status().code(), ErrorCode::kInvalidArgument);
}

TEST(Transfer, SizesAreChecked) {
  EXPECT_EQ(*dataset_bytes(entry_of({3, 4, 5}).spec), 480);
  EXPECT_EQ(*dataset_bytes(entry_of({}).spec), 8);
  EXPECT_EQ(*dataset_bytes(entry_of({0, 5}).spec), 0);
  for (const auto& dims : std::vector<std::vector<int64_t>>{{-1},
                                                            {3, -1},
                                                            {0, -1},
                                                            {INT64_MAX},
                                                            {1 << 30, 1 << 30, 1 << 30},
                                                            {0, 1 << 30, 1 << 30, 1 << 30},
                                                            {1 << 30, 1 << 30, 1 << 30, 0}}) {
    EXPECT_EQ(dataset_bytes(entry_of(dims).spec).status().code(), ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace stria::file
