// Whole arrays in one call: any division, ghosts, order and element type against a loop over
// elements; and errors of one rank.
#include "stria/distributed_array.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>

#include "file/tests/file_fixture_test.hpp"

namespace stria {
namespace {

using test::error_of;
using test::FileTest;

constexpr double kGhost = -7;

/// Returns the value of an element by its indices, whatever the order in memory.
double value_of(const std::vector<int64_t>& index) {
  double value = 0;
  for (const int64_t i : index) {
    value = value * 31 + static_cast<double>(i);
  }
  return value;
}

/// Memory for a box with its ghosts.
template <typename T>
class Box {
 public:
  explicit Box(ArrayPart part) : part_(std::move(part)) {
    int64_t elements = 1;
    for (size_t d = 0; d < part_.count.size(); ++d) {
      wide_.push_back(part_.count[d] + part_.ghosts_before[d] + part_.ghosts_after[d]);
      elements *= wide_.back();
    }
    numbers_.assign(static_cast<size_t>(elements), static_cast<T>(kGhost));
  }

  /// Calls `take(number, is_ghost, global indices)` for everything in memory.
  template <typename Take>
  void for_each(Take take) {
    std::vector<int64_t> place(wide_.size(), 0);
    for (T& number : numbers_) {
      bool ghost = false;
      std::vector<int64_t> index;
      for (size_t d = 0; d < place.size(); ++d) {
        const int64_t inside = place[d] - part_.ghosts_before[d];
        ghost = ghost || inside < 0 || inside >= part_.count[d];
        index.push_back(part_.start[d] + inside);
      }
      take(number, ghost, index);
      advance(place);
    }
  }
  void fill() {
    for_each([](T& number, bool ghost, const auto& index) { number = ghost ? number : static_cast<T>(value_of(index)); });
  }
  void expect_filled() {
    for_each([](const T& number, bool ghost, const auto& index) {
      ASSERT_EQ(number, static_cast<T>(ghost ? kGhost : value_of(index)));
    });
  }
  DistributedArray array() const { return {numbers_.data(), part_}; }

 private:
  void advance(std::vector<int64_t>& place) const {
    for (size_t step = 0; step < place.size(); ++step) {
      const size_t d = part_.order == Order::kC ? place.size() - 1 - step : step;
      if (++place[d] < wide_[d]) {
        return;
      }
      place[d] = 0;
    }
  }

  ArrayPart part_;
  std::vector<int64_t> wide_;
  std::vector<T> numbers_;
};

class DistributedArrayTest : public FileTest {
 protected:
  /// Blocks along two of three dimensions. `turn` chooses which, so that divisions differ.
  ArrayPart part(size_t turn, Order order = Order::kC) const {
    int64_t rows = static_cast<int64_t>(std::sqrt(ranks_));
    while (ranks_ % rows != 0) {
      --rows;
    }
    const int64_t grid[2] = {rows, ranks_ / rows};
    const int64_t place[2] = {rank_ / grid[1], rank_ % grid[1]};
    ArrayPart part{.shape = kShape, .start = {0, 0, 0}, .count = kShape, .order = order};
    for (size_t i = 0; i < 2; ++i) {
      const size_t d = (turn + i) % 3;
      part.start[d] = kShape[d] * place[i] / grid[i];
      part.count[d] = kShape[d] * (place[i] + 1) / grid[i] - part.start[d];
    }
    part.ghosts_before = {static_cast<int64_t>(turn), 2, 0};
    part.ghosts_after = {1, 0, 3};
    return part;
  }

  const std::vector<int64_t> kShape{9, 6, 5};  // 6 columns over 7 ranks: one of them has none
};

TEST_F(DistributedArrayTest, AnyDivisionReadsWhatAnyOtherWrote) {
  Box<double> density(part(0));
  Box<int32_t> count(part(1, Order::kFortran));
  density.fill();
  count.fill();
  File file = File::create(MPI_COMM_WORLD, path());
  file.put("density", density.array());
  file.put("small/density", density.array(), ElementType::kFloat32, {.value_range = true});
  file.put("count", count.array());
  file.commit();

  File reading = File::open(MPI_COMM_WORLD, path(), {.verify = true});
  EXPECT_EQ(reading.dataset("density").dims(), kShape);
  EXPECT_EQ(reading.dataset("small/density").element(), ElementType::kFloat32);
  EXPECT_EQ(reading.dataset("count").dims(), (std::vector<int64_t>{5, 6, 9}));
  std::vector<double> whole(static_cast<size_t>(9 * 6 * 5));
  std::vector<int32_t> reversed(whole.size());
  reading.dataset("density").get({{0, 0, 0}, kShape}, Memory(whole.data(), 9 * 6 * 5));
  reading.dataset("count").get({{0, 0, 0}, {5, 6, 9}}, Memory(reversed.data(), 9 * 6 * 5));
  Box<float> other(part(2));
  Box<double> same_order(part(0, Order::kFortran));
  reading.get("small/density", other.array());
  reading.get("count", same_order.array());
  reading.commit();
  other.expect_filled();
  same_order.expect_filled();
  for (int64_t i = 0; i < 9 * 6 * 5; ++i) {
    ASSERT_EQ(whole[static_cast<size_t>(i)], value_of({i / 30, i / 5 % 6, i % 5}));
    ASSERT_EQ(reversed[static_cast<size_t>(i)], value_of({i % 9, i / 9 % 6, i / 54}));
  }
}

TEST_F(DistributedArrayTest, ARankMayHaveNoElementsAndAnArrayNoDimensions) {
  const auto [first, mine] = rows(11);
  std::vector<double> numbers(static_cast<size_t>(mine) + 1);
  std::iota(numbers.begin(), numbers.end(), static_cast<double>(first));
  const double time = 0.5;
  const DistributedArray line(mine == 0 ? nullptr : numbers.data(), {.shape = {11}, .start = {first}, .count = {mine}});
  const int64_t one = rank_ == 0 ? 1 : 0;
  File file = File::create(MPI_COMM_WORLD, path());
  file.put("line", line);
  file.put("time", DistributedArray(&time, {.shape = {1}, .start = {0}, .count = {one}}));
  file.commit();
  File reading = File::open(MPI_COMM_WORLD, path());
  std::vector<double> all(11);
  reading.get("line", {all.data(), {.shape = {11}, .start = {0}, .count = {11}}});
  reading.commit();
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i], static_cast<double>(i));
  }
}

TEST_F(DistributedArrayTest, AnErrorOfOneRankIsToldToAll) {
  const std::vector<double> numbers(64);
  const auto commit_of = [&](const ArrayPart& bad, const void* memory) {
    File file = File::create(MPI_COMM_WORLD, path());
    const bool wrong = rank_ == ranks_ - 1;
    const ArrayPart good{.shape = {4, 8}, .start = {0, 0}, .count = {rank_ == 0 ? 4 : 0, 8}};
    const DistributedArray array(wrong ? memory : numbers.data(), ElementType::kFloat64, wrong ? bad : good);
    if (wrong) {
      EXPECT_THROW(file.put("a", array), Error);
    } else {
      file.put("a", array);
    }
    return error_of([&] { file.commit(); }, ErrorCode::kInvalidArgument);
  };
  const auto expect = [&](const ArrayPart& bad, const char* words) {
    const std::string text = commit_of(bad, numbers.data());
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  expect({.shape = {4, 8}, .start = {2, 0}, .count = {3, 8}}, "passes the array's end at 4");
  expect({.shape = {4, 8}, .start = {0}, .count = {3, 8}}, "`start` has 1 entries");
  expect({.shape = {4, 8}, .start = {0, 0}, .count = {4, 8}, .ghosts_before = {1}}, "`ghosts_before` has 1");
  expect({.shape = {4, 8}, .start = {0, 0}, .count = {4, 8}, .ghosts_after = {0, -1}}, "negative");
  expect({.shape = {4, 8}, .start = {0, 0}, .count = {4, 8}, .ghosts_after = {0, INT64_MAX}}, "2^63");
  EXPECT_NE(commit_of({.shape = {4, 8}, .start = {0, 0}, .count = {4, 8}}, nullptr).find("no memory"), std::string::npos);
}

TEST_F(DistributedArrayTest, AnotherShapeIsRefusedOnEveryRank) {
  std::vector<double> numbers(32);
  const int64_t rows = rank_ == 0 ? 4 : 0;
  File file = File::create(MPI_COMM_WORLD, path());
  file.put("a", {numbers.data(), {.shape = {4, 8}, .start = {0, 0}, .count = {rows, 8}}});
  file.commit();
  File reading = File::open(MPI_COMM_WORLD, path());
  const ArrayPart reversed{.shape = {4, 8}, .start = {0, 0}, .count = {4, 8}, .order = Order::kFortran};
  if (rank_ == ranks_ - 1) {
    EXPECT_THROW(reading.get("a", {numbers.data(), reversed}), Error);
  }
  const std::string text = error_of([&] { reading.commit(); }, ErrorCode::kInvalidArgument);
  EXPECT_NE(text.find("4 x 8, the array in its order 8 x 4"), std::string::npos) << text;
  File again = File::open(MPI_COMM_WORLD, path());
  EXPECT_NE(error_of([&] { again.get("b", {numbers.data(), reversed}); }, ErrorCode::kNotFound), "");
}

}  // namespace
}  // namespace stria
