// Tests what becomes of memory that a program uses again between put() and commit(), on real ranks:
// the file has what the memory held at the put, or every rank hears of it and no file is made.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "file/tests/file_fixture_test.hpp"

namespace stria {
namespace {

using test::error_of;
using test::FileTest;

constexpr int64_t kSmall = 1000;    // numbers of a put that is copied
constexpr int64_t kLarge = 50'000;  // the elements of one that isn't

std::vector<double> numbers_from(double first, int64_t count) {
  std::vector<double> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

class PutMemoryTest : public FileTest {
 protected:
  File create(const CreateOptions& options = {}) { return File::create(MPI_COMM_WORLD, path(), options); }
  /// Returns row `row` of this rank, among `rows` of each.
  int64_t own(int64_t row, int64_t rows) const { return rank_ * rows + row; }
  double first_of(int64_t row, int64_t rows, int64_t count) const { return static_cast<double>(own(row, rows) * count); }

  /// Expects a dataset "x" of `rows` rows for each rank, all counted from 0 on.
  void expect_counted(int64_t rows, int64_t count) {
    File file = File::open(MPI_COMM_WORLD, path(), {.hints = {}, .verify = true});
    EXPECT_EQ(file.read<double>("x"), numbers_from(0, ranks_ * rows * count));
    std::vector<std::string> remarks;
    EXPECT_TRUE(file.verify(&remarks).empty());
    EXPECT_TRUE(remarks.empty()) << remarks.front();
  }

  /// Puts every row from one scratch array.
  void put_rows_from_scratch(Dataset dataset, int64_t rows, int64_t count, const std::function<Memory(const Memory&)>& how) {
    std::vector<double> scratch(static_cast<size_t>(count));
    for (int64_t row = 0; row < rows; ++row) {
      std::iota(scratch.begin(), scratch.end(), first_of(row, rows, count));
      dataset.put({{own(row, rows), 0}, {1, count}}, how(Memory(scratch)));
    }
    std::fill(scratch.begin(), scratch.end(), -1);
  }
};

DatasetOptions compressed(const std::vector<int64_t>& chunk) {
  DatasetOptions options;
  options.chunk = chunk;
  options.filters = Filters::compress();
  return options;
}

Memory as_it_is(const Memory& memory) {
  return memory;
}
Memory copied(const Memory& memory) {
  return memory.copied();
}

TEST_F(PutMemoryTest, SmallPutsFromOneScratchArrayHaveTheirOwnValues) {
  for (const char* method : {"automatic", "list_io", "two_phase", "data_sieving"}) {
    File file = create({.hints = {{"stria_method", method}}});
    put_rows_from_scratch(file.create_dataset<double>("x", {ranks_ * 7, kSmall}), 7, kSmall, as_it_is);
    file.commit();
    expect_counted(7, kSmall);
  }
}

TEST_F(PutMemoryTest, ThousandsOfScalarsFromOneVariable) {
  constexpr int64_t kCount = 5000;
  File file = create();
  Dataset dataset = file.create_dataset<double>("x", {ranks_ * kCount});
  for (int64_t i = 0; i < kCount; ++i) {
    const auto number = static_cast<double>(own(i, kCount));
    dataset.put({{own(i, kCount)}, {1}}, {&number, 1});
  }
  file.commit();
  expect_counted(kCount, 1);
  EXPECT_GE(file.report().copied_bytes, kCount * 8);
}

TEST_F(PutMemoryTest, LargePutsThatCopyHaveTheirOwnValues) {
  for (const DatasetOptions& options : {DatasetOptions{}, compressed({1, 999})}) {
    File file = create();
    put_rows_from_scratch(file.create_dataset<double>("x", {ranks_ * 3, kLarge}, options), 3, kLarge, copied);
    file.commit();
    EXPECT_GE(file.report().copied_bytes, 3 * kLarge * 8);
    EXPECT_LT(file.report().copied_bytes, 4 * kLarge * 8);
    expect_counted(3, kLarge);
  }
}

TEST_F(PutMemoryTest, AFlushGivesTheCopiesBack) {
  for (const DatasetOptions& options : {DatasetOptions{}, compressed({3, 999})}) {
    File file = create();
    Dataset dataset = file.create_dataset<double>("x", {ranks_ * 3, kLarge}, options);
    std::vector<double> scratch;
    for (int64_t row = 0; row < 3; ++row) {
      scratch = numbers_from(first_of(row, 3, kLarge), kLarge);
      dataset.put_copy({{own(row, 3), 0}, {1, kLarge}}, scratch);
      scratch.assign(scratch.size(), -1);
      file.flush();
    }
    file.commit();
    EXPECT_LT(file.report().copied_bytes, 2 * kLarge * 8);
    expect_counted(3, kLarge);
  }
}

TEST_F(PutMemoryTest, EveryWayOfPuttingCanCopy) {
  constexpr int64_t kCount = kLarge;
  File file = create();
  std::vector<int64_t> places(kCount);
  for (int64_t i = 0; i < kCount; ++i) {
    places[static_cast<size_t>(i)] = own(kCount - 1 - i, kCount);
  }
  std::vector<double> scratch = numbers_from(static_cast<double>(own(0, kCount)), kCount);
  file.create_dataset<double>("rows", {ranks_ * kCount}).put_rows(file.place_rows(kCount), Memory(scratch).copied());
  file.create_dataset<double>("grown", {kUnlimited});
  file.append_rows("grown", kCount, Memory(scratch).copied());
  file.create_dataset<double>("box", {ranks_ * kCount})
      .put({{own(0, kCount)}, {kCount}}, Memory::box(scratch.data(), {kCount}, {0}, {kCount}).copied());
  std::reverse(scratch.begin(), scratch.end());
  file.create_dataset<double>("map", {ranks_ * kCount}).put_elements(Elements(places), Memory(scratch).copied());
  std::fill(scratch.begin(), scratch.end(), -1);
  file.commit();
  File written = File::open(MPI_COMM_WORLD, path());
  for (const char* name : {"rows", "grown", "box", "map"}) {
    EXPECT_EQ(written.read<double>(name), numbers_from(0, ranks_ * kCount)) << name;
  }
}

void end_by(File& file, const std::string& call) {
  if (call == "flush") {
    file.flush();
  } else if (call == "commit") {
    file.commit();
  } else {
    file.commit_async().wait();
  }
}

TEST_F(PutMemoryTest, AChangeOnOneRankIsToldOnAllAndTheOldFileStays) {
  {
    File file = create();
    Dataset dataset = file.create_dataset<double>("x", {ranks_, kLarge});
    const std::vector<double> row = numbers_from(static_cast<double>(rank_ * kLarge), kLarge);
    dataset.put({{rank_, 0}, {1, kLarge}}, row);
    file.commit();
  }
  const auto files = names();
  MPI_Barrier(MPI_COMM_WORLD);
  for (const char* call : {"flush", "commit", "commit_async"}) {
    SCOPED_TRACE(call);
    for (const DatasetOptions& options : {DatasetOptions{}, compressed({1, 999})}) {
      std::vector<double> row(kLarge, 5.0);
      File file = create();
      file.create_dataset<double>("fields/x", {ranks_, kLarge}, options).put({{rank_, 0}, {1, kLarge}}, row);
      if (rank_ == ranks_ - 1) {
        std::fill(row.begin(), row.end(), 6.0);
      }
      const std::string text = error_of([&] { end_by(file, call); }, ErrorCode::kInvalidArgument);
      EXPECT_NE(text.find("'fields/x'"), std::string::npos) << text;
      EXPECT_NE(text.find("put 1 of 1"), std::string::npos) << text;
      if (ranks_ > 1) {
        EXPECT_NE(text.find("rank " + std::to_string(ranks_ - 1)), std::string::npos) << text;
      }
    }
  }
  EXPECT_EQ(names(), files);
  expect_counted(1, kLarge);
}

TEST_F(PutMemoryTest, WithoutCopiesSmallPutsAreCompared) {
  File file = create({.hints = {{"stria_put_copies", "0"}}});
  std::vector<double> scratch(1, 1.0);
  Dataset dataset = file.create_dataset<double>("x", {ranks_, 2});
  for (int64_t i = 0; i < 2; ++i) {
    scratch[0] = static_cast<double>(i);
    dataset.put({{rank_, i}, {1, 1}}, scratch);
  }
  const std::string text = error_of([&] { file.commit(); }, ErrorCode::kInvalidArgument);
  EXPECT_NE(text.find("put 1 of 2"), std::string::npos) << text;
  EXPECT_TRUE(names().empty());
}

TEST_F(PutMemoryTest, HintsTurnItAllOff) {
  File file = create({.hints = {{"stria_put_copies", "0"}, {"stria_put_check", "disable"}}});
  EXPECT_EQ(file.hints().at("stria_put_copies"), "0");
  EXPECT_EQ(file.hints().at("stria_put_check"), "disable");
  std::vector<double> large = numbers_from(0, kLarge);
  double small = 0;
  file.create_dataset<double>("x", {ranks_, kLarge}).put({{rank_, 0}, {1, kLarge}}, large);
  file.create_dataset<double>("y", {ranks_}).put({{rank_}, {1}}, {&small, 1});
  std::iota(large.begin(), large.end(), static_cast<double>(rank_ * kLarge));
  small = 1;
  file.commit();
  EXPECT_EQ(file.report().copied_bytes, 0);
  expect_counted(1, kLarge);
  EXPECT_EQ(File::open(MPI_COMM_WORLD, path()).read<double>("y"), std::vector<double>(static_cast<size_t>(ranks_), 1.0));
}

// A large array that is freed is given back to the system.
TEST_F(PutMemoryTest, MemoryThatIsGoneIsToldOnAllRanks) {
  constexpr size_t kBytes = kLarge * sizeof(double);
  File file = create();
  Dataset dataset = file.create_dataset<double>("x", {ranks_, kLarge});
  void* array = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(array, MAP_FAILED);
  dataset.put({{rank_, 0}, {1, kLarge}}, std::span<const double>(static_cast<double*>(array), kLarge));
  if (rank_ == ranks_ - 1) {
    munmap(array, kBytes);
  }
  const std::string text = error_of([&] { file.commit(); }, ErrorCode::kInvalidArgument);
  EXPECT_NE(text.find("was freed after the call"), std::string::npos) << text;
  if (rank_ != ranks_ - 1) {
    munmap(array, kBytes);
  }
}

struct Particle {
  double x = 0;
  char spare[24] = {};
  float mass = 0;
  int32_t padding = 0;
};

TEST_F(PutMemoryTest, WhatLiesBetweenTheColumnsMayChange) {
  const std::vector<Column> columns = {{"x", offsetof(Particle, x), ElementType::kFloat64},
                                       {"mass", offsetof(Particle, mass), ElementType::kFloat32}};
  File file = create({.hints = {{"stria_put_copies", "0"}}});
  std::vector<Particle> particles(10'000);
  Dataset dataset = file.create_records("particles", columns, {ranks_ * 10'000});
  dataset.put({{rank_ * 10'000}, {10'000}}, records(particles.data(), 10'000, columns));
  std::vector<double> ghosts(100 * 1000, 1.0);
  file.create_dataset<double>("x", {ranks_ * 98, 998})
      .put({{rank_ * 98, 0}, {98, 998}}, Memory::interior(ghosts.data(), {100, 1000}, {1, 1}, {1, 1}));
  for (Particle& one : particles) {
    one.padding = 7;
    std::fill(std::begin(one.spare), std::end(one.spare), 'x');
  }
  for (size_t i = 0; i < 1000; ++i) {
    ghosts[i] = ghosts[99'000 + i] = ghosts[i % 100 * 1000] = ghosts[i % 100 * 1000 + 999] = -1;
  }
  file.flush();
  particles.assign(particles.size(), Particle{});
  file.commit();
  EXPECT_EQ(File::open(MPI_COMM_WORLD, path()).read<double>("x"),
            std::vector<double>(static_cast<size_t>(ranks_ * 98 * 998), 1.0));
}

TEST_F(PutMemoryTest, PutsFromMemoryThatTheyShareAreEachCopied) {
  File file = create({.hints = {{"stria_put_overlaps", "enable"}}});
  std::vector<double> shared = numbers_from(static_cast<double>(rank_ * 1500), 1500);
  Dataset dataset = file.create_dataset<double>("x", {ranks_ * 1500});
  dataset.put({{rank_ * 1500}, {1000}}, {shared.data(), 1000});
  std::fill_n(shared.begin(), 400, -1.0);
  dataset.put({{rank_ * 1500 + 500}, {1000}}, {shared.data() + 500, 1000});
  shared.assign(shared.size(), -1);
  file.commit();
  EXPECT_EQ(File::open(MPI_COMM_WORLD, path()).read<double>("x"), numbers_from(0, ranks_ * 1500));
}

TEST_F(PutMemoryTest, FilesOfEveryKindKeepWhatWasPut) {
  const std::pair<const char*, CreateOptions> kinds[] = {
      {"netCDF", {.hints = {}, .format = Format::kCdf5}},
      {"parts", {.hints = {{"stria_subfiles", "2"}}}},
      {"no checksums", {.hints = {}, .checksums = false}},
  };
  for (const auto& [kind, options] : kinds) {
    SCOPED_TRACE(kind);
    File file = create(options);
    Dataset small = file.create_dataset<double>("x", {ranks_ * 7, kSmall});
    put_rows_from_scratch(small, 7, kSmall, as_it_is);
    file.flush();
    Dataset large = file.create_dataset<double>("large", {ranks_ * 2, kLarge});
    put_rows_from_scratch(large, 2, kLarge, copied);
    file.commit();
    File written = File::open(MPI_COMM_WORLD, path());
    EXPECT_EQ(written.read<double>("x"), numbers_from(0, ranks_ * 7 * kSmall));
    EXPECT_EQ(written.read<double>("large"), numbers_from(0, ranks_ * 2 * kLarge));
  }
}

TEST_F(PutMemoryTest, AnUpdateOfChangedMemoryIsNotBegun) {
  for (const std::vector<int64_t>& chunk : {std::vector<int64_t>{}, std::vector<int64_t>{1, 1000}}) {
    {
      DatasetOptions options;
      options.chunk = chunk;
      File file = create();
      const std::vector<double> row = numbers_from(static_cast<double>(rank_ * kLarge), kLarge);
      file.create_dataset<double>("x", {ranks_, kLarge}, options).put({{rank_, 0}, {1, kLarge}}, row);
      file.commit();
    }
    std::vector<double> row(kLarge, 5.0);
    File file = File::append(MPI_COMM_WORLD, path());
    file.update("x").put({{rank_, 0}, {1, kLarge}}, row);
    row.assign(row.size(), 6.0);
    error_of([&] { file.commit(); }, ErrorCode::kInvalidArgument);
    expect_counted(1, kLarge);
    File again = File::append(MPI_COMM_WORLD, path());
    put_rows_from_scratch(again.update("x"), 1, kLarge, copied);
    again.commit();
    expect_counted(1, kLarge);
  }
}

TEST_F(PutMemoryTest, ArraysMayChangeAsSoonAsCommitAsyncReturns) {
  for (const char* limit : {"0", "100000", "1000000000"}) {
    for (const char* method : {"automatic", "two_phase"}) {
      SCOPED_TRACE(std::string(limit) + " " + method);
      File file = create({.hints = {{"stria_staging_limit", limit}, {"stria_method", method}}});
      const double first = static_cast<double>(rank_ * kLarge);
      std::vector<double> arrays[5];
      int number = 0;
      for (const char* name : {"x", "float32", "chunks", "deflate", "small"}) {
        DatasetOptions options;
        options.chunk = number == 2 || number == 3 ? std::vector<int64_t>{1, 10'000} : std::vector<int64_t>{};
        options.filters.deflate = number == 3;
        const int64_t count = number == 4 ? 100 : kLarge;
        arrays[number] = numbers_from(first, count);
        file.create_dataset(name, number == 1 ? ElementType::kFloat32 : ElementType::kFloat64, {ranks_, count}, options)
            .put({{rank_, 0}, {1, count}}, arrays[number]);
        ++number;
      }
      const Commit commit = file.commit_async();
      for (std::vector<double>& array : arrays) {
        std::fill(array.begin(), array.end(), -1.0);
      }
      commit.wait();
      File written = File::open(MPI_COMM_WORLD, path());
      for (const char* name : {"x", "float32", "chunks", "deflate"}) {
        EXPECT_EQ(written.read<double>(name), numbers_from(0, ranks_ * kLarge)) << name;
      }
      EXPECT_EQ(written.read<double>("small")[static_cast<size_t>(100 * rank_)], first);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

}  // namespace
}  // namespace stria
