// File::append on real ranks: rows and datasets from all of them, and the same errors everywhere.
#include <numeric>

#include "file/tests/file_fixture_test.hpp"

namespace stria::test {
namespace {

class AppendTest : public FileTest {
 protected:
  static constexpr int64_t kCells = 6;

  void create() const {
    File file = File::create(MPI_COMM_WORLD, path());
    const auto [first, count] = rows(10);
    const std::vector<float> mine(static_cast<size_t>(count * 200), 1.5F);
    file.create_dataset<float>("mesh", {10, 200}).put({{first, 0}, {count, 200}}, mine);
    file.create_dataset<double>("probe", {kUnlimited, ranks_ * kCells});
    file.set_attribute("/", "step", 0);
    file.commit();
  }
  /// Each rank knows its own cells of each row.
  std::vector<double> cells_of(int64_t row) const {
    std::vector<double> cells(kCells);
    std::iota(cells.begin(), cells.end(), 1000.0 * static_cast<double>(row) + static_cast<double>(rank_ * kCells));
    return cells;
  }
  void append(int64_t row_count) const {
    File file = File::append(MPI_COMM_WORLD, path());
    Dataset probe = file.append_rows("probe", row_count);
    std::vector<std::vector<double>> kept;
    for (int64_t row = probe.dims()[0] - row_count; row < probe.dims()[0]; ++row) {
      probe.put({{row, rank_ * kCells}, {1, kCells}}, kept.emplace_back(cells_of(row)));
    }
    file.set_attribute("/", "step", probe.dims()[0]);
    file.commit();
  }
  void expect(int64_t row_count) const {
    File file = File::open(MPI_COMM_WORLD, path(), {.hints = {}, .verify = true});
    EXPECT_EQ(file.attribute<int64_t>("/", "step"), row_count);
    Dataset probe = file.dataset("probe");
    ASSERT_EQ(probe.dims(), (std::vector<int64_t>{row_count, ranks_ * kCells}));
    for (int64_t row = 0; row < row_count; ++row) {
      EXPECT_EQ(probe.read<double>({{row, rank_ * kCells}, {1, kCells}}), cells_of(row));
    }
    EXPECT_EQ(file.read<float>("mesh"), std::vector<float>(2000, 1.5F));
    EXPECT_TRUE(file.verify().empty());
  }
};

TEST_F(AppendTest, RowsOfAllRanksAddUp) {
  create();
  int64_t rows = 0;
  for (const int64_t more : {1, 5, 0, 40}) {
    append(more);
    expect(rows += more);
  }
}

// Each rank has another number at each step, also none.
TEST_F(AppendTest, RowsOfVaryingNumberFollowEachOther) {
  const auto of_rank = [](int rank, int step) {
    std::vector<double> made(static_cast<size_t>(2 * ((rank + step) % 3)));
    std::iota(made.begin(), made.end(), 1000.0 * step + 10.0 * rank);
    return made;
  };
  std::vector<double> whole;
  for (int step = 0; step < 4; ++step) {
    File file = step == 0 ? File::create(MPI_COMM_WORLD, path()) : File::append(MPI_COMM_WORLD, path());
    if (step == 0) {
      file.create_dataset<double>("p", {kUnlimited, 2});
    }
    std::vector<std::vector<double>> kept;
    for (const int part : {0, 1}) {  // twice in one session
      const auto& mine = kept.emplace_back(of_rank(rank_, 2 * step + part));
      Dataset dataset = file.append_rows("p", static_cast<int64_t>(mine.size() / 2), mine);
      for (int rank = 0; rank < ranks_; ++rank) {
        const auto theirs = of_rank(rank, 2 * step + part);
        whole.insert(whole.end(), theirs.begin(), theirs.end());
      }
      EXPECT_EQ(dataset.dims()[0], static_cast<int64_t>(whole.size() / 2));
    }
    file.commit();
    File reading = File::open(MPI_COMM_WORLD, path());
    EXPECT_EQ(reading.read<double>("p"), whole);
    EXPECT_TRUE(reading.verify().empty());
  }
  const std::vector<double> two(4);
  File file = File::append(MPI_COMM_WORLD, path());
  Dataset dataset = file.append_rows("p", 2);
  const int64_t more = dataset.dims()[0] + 1;
  error_of([&] { dataset.put_rows({.first = 0, .count = 2, .total = more}, two); }, ErrorCode::kInvalidArgument);
  error_of([&] { file.commit(); }, ErrorCode::kInvalidArgument);
}

// The datasets have no rows at first, or some; the format follows from the name.
TEST_F(AppendTest, HDF5AndNetcdfGrowByTheSameCalls) {
  for (const std::string file_name : {"run.h5", "run.nc"}) {
    const std::string name = path(file_name);
    {
      File file = File::create(MPI_COMM_WORLD, name);
      file.create_dataset<double>("empty", {kUnlimited, ranks_}, {.dimensions = {"never", "rank"}});
      file.commit();
    }
    {
      File file = File::create(MPI_COMM_WORLD, name);
      Dataset begun = file.create_dataset<double>("begun", {2, ranks_}, {.dimensions = {"time", "rank"}, .unlimited = true});
      const std::vector<double> mine = {10.0 + rank_, 20.0 + rank_};
      begun.put({{0, rank_}, {2, 1}}, mine);
      file.commit();
    }
    {
      File file = File::append(MPI_COMM_WORLD, name);
      const std::vector<double> mine = {30.0 + rank_};
      file.append_rows("begun", 1).put({{2, rank_}, {1, 1}}, mine);
      file.commit();
    }
    File file = File::open(MPI_COMM_WORLD, name, {.hints = {}, .verify = true});
    EXPECT_EQ(file.dataset("begun").dims(), (std::vector<int64_t>{3, ranks_})) << name;
    const std::vector<double> expected = {10.0 + rank_, 20.0 + rank_, 30.0 + rank_};
    EXPECT_EQ(file.dataset("begun").read<double>({{0, rank_}, {3, 1}}), expected) << name;
    EXPECT_TRUE(file.verify().empty()) << name;
  }
}

TEST_F(AppendTest, EmptyRecordsOfNetcdfGetRowsLater) {
  const std::string name = path("run.nc");
  {
    File file = File::create(MPI_COMM_WORLD, name);
    file.create_dataset<double>("probe", {kUnlimited, ranks_});
    const std::string error = error_of([&] { file.append_rows("probe", 1); }, ErrorCode::kUnsupported);
    EXPECT_NE(error.find("opened to append gets more"), std::string::npos) << error;
    file.abandon();
  }
  {
    File file = File::create(MPI_COMM_WORLD, name);
    file.create_dataset<double>("probe", {kUnlimited, ranks_});
    file.commit();
  }
  for (int64_t row = 0; row < 3; ++row) {
    File file = File::append(MPI_COMM_WORLD, name);
    const std::vector<double> mine = {100.0 * static_cast<double>(row) + rank_};
    file.append_rows("probe", 1).put({{row, rank_}, {1, 1}}, mine);
    file.commit();
  }
  File file = File::open(MPI_COMM_WORLD, name, {.hints = {}, .verify = true});
  const std::vector<double> expected = {0.0 + rank_, 100.0 + rank_, 200.0 + rank_};
  EXPECT_EQ(file.dataset("probe").read<double>({{0, rank_}, {3, 1}}), expected);
}

TEST_F(AppendTest, ASecondWriterIsRefusedOnEveryRank) {
  create();
  File first = File::append(MPI_COMM_WORLD, path());
  const std::string error = error_of([&] { File::append(MPI_COMM_WORLD, path()); }, ErrorCode::kAlreadyExists);
  EXPECT_NE(error.find("in use by another program"), std::string::npos) << error;
  expect(0);  // readers may
  first.abandon();
  append(2);
  expect(2);
}

// This holds on every rank, also on those that read the file's index only now.
TEST_F(AppendTest, AReaderOfAllRanksSeesWhatItOpened) {
  create();
  append(3);
  File reader = File::open(MPI_COMM_WORLD, path(), {.hints = {}, .verify = true});
  append(30);
  Dataset probe = reader.dataset("probe");
  EXPECT_EQ(probe.dims()[0], 3);
  for (int64_t row = 0; row < 3; ++row) {
    EXPECT_EQ(probe.read<double>({{row, rank_ * kCells}, {1, kCells}}), cells_of(row));
  }
  EXPECT_EQ(reader.read<float>("mesh"), std::vector<float>(2000, 1.5F));
  expect(33);
}

TEST_F(AppendTest, WhatRanksSayDifferentlyIsAnError) {
  create();
  if (ranks_ > 1) {
    File file = File::append(MPI_COMM_WORLD, path());
    file.append_rows("probe", rank_ == 1 ? 2 : 3);
    const std::string error = error_of([&] { file.commit(); }, ErrorCode::kInvalidArgument);
    EXPECT_NE(error.find("append_rows('probe')"), std::string::npos) << error;
    EXPECT_NE(error.find("was not changed"), std::string::npos) << error;
  }
  expect(0);
}

TEST_F(AppendTest, ARankThatLeavesCostsNothing) {
  create();
  try {
    File file = File::append(MPI_COMM_WORLD, path());
    file.append_rows("probe", 3);
    if (rank_ == ranks_ - 1) {
      throw std::runtime_error("this rank has enough");
    }
    file.commit();
    EXPECT_EQ(ranks_, 1);
  } catch (const std::runtime_error&) {
  }
  MPI_Barrier(MPI_COMM_WORLD);
  expect(0);
  append(1);
  expect(1);
}

TEST_F(AppendTest, OnlyFilesThatAreThereGrow) {
  error_of([&] { File::append(MPI_COMM_WORLD, path("none.h5")); }, ErrorCode::kNotFound);
  EXPECT_TRUE(names().empty());
}

TEST_F(AppendTest, NothingToAddIsNoChange) {
  create();
  const auto before = std::filesystem::last_write_time(path());
  MPI_Barrier(MPI_COMM_WORLD);
  File::append(MPI_COMM_WORLD, path()).commit();
  EXPECT_EQ(std::filesystem::last_write_time(path()), before);
  expect(0);
}

}  // namespace
}  // namespace stria::test
