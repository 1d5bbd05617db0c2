// Shapes of memory and of a dataset that have calls of their own: boxes, rows, single elements; and
// reading at once.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>
#include <stdexcept>

#include "file/tests/file_fixture_test.hpp"
#include "stria/file.hpp"

namespace stria {
namespace {

using test::error_of;
using test::FileTest;

TEST_F(FileTest, BoxesOfArraysWithGhostCells) {
  constexpr int64_t kWide = 7, kDeep = 5;
  std::vector<int> array(static_cast<size_t>(kWide * kDeep));
  for (int64_t i = 0; i < kWide * kDeep; ++i) {
    array[static_cast<size_t>(i)] = static_cast<int>(1000 * rank_ + i);
  }
  File file = File::create(MPI_COMM_WORLD, path(), {.sync = false});
  Dataset boxes = file.create_dataset<int>("boxes", {3 * ranks_, 4});
  boxes.put_box({3 * rank_, 0}, {3, 4}, array.data(), {kDeep, kWide}, {1, 2});
  Dataset inner = file.create_dataset<int64_t>("inner", {3 * ranks_, 4});
  inner.put({{3 * rank_, 0}, {3, 4}}, Memory::interior(array.data(), {kDeep, kWide}, {1, 2}, {1, 1}));
  file.commit();

  File reading = File::open(MPI_COMM_WORLD, path(), {.verify = true});
  const auto all = reading.read<int>("boxes");
  EXPECT_EQ(all, reading.read<int>("inner"));
  for (int64_t row = 0; row < 3 * ranks_; ++row) {
    for (int64_t column = 0; column < 4; ++column) {
      EXPECT_EQ(all[static_cast<size_t>(row * 4 + column)], 1000 * (row / 3) + (row % 3 + 1) * kWide + column + 2);
    }
  }
  std::vector<int> back(array.size(), -1);
  reading.dataset("boxes").get_box({0, 1}, {3, 2}, back.data(), {kDeep, kWide}, {2, 5});
  reading.commit();
  EXPECT_EQ(back[2 * kWide + 5], 1 * kWide + 3);
  EXPECT_EQ(back[4 * kWide + 6], 3 * kWide + 4);
  EXPECT_EQ(std::count(back.begin(), back.end(), -1), kWide * kDeep - 6);
  EXPECT_THROW(Memory::interior(array.data(), {kDeep, kWide}, {3, 0}, {3, 0}), Error);
  EXPECT_THROW(Memory::interior(array.data(), {kDeep}, {1, 0}, {1, 0}), Error);
}

TEST_F(FileTest, ABoxOutsideItsArrayFailsTheCommitOfAll) {
  const double number = 1;
  File file = File::create(MPI_COMM_WORLD, path());
  Dataset dataset = file.create_dataset<double>("x", {4});
  if (rank_ == ranks_ - 1) {
    EXPECT_THROW(dataset.put_box({0}, {2}, &number, {1}, {0}), Error);
  }
  EXPECT_NE(error_of([&] { file.commit(); }, ErrorCode::kInvalidArgument).find("dataset 'x'"), std::string::npos);
}

struct Particle {
  float mass;
  int64_t number;
  double position[3];
};

// Each rank has another number of them, some none; other ranks read them in other parts.
TEST_F(FileTest, RowsFollowEachOtherInTheOrderOfRanks) {
  const int64_t mine = rank_ % 3 * 4;
  std::vector<Particle> particles(static_cast<size_t>(mine));
  File file = File::create(MPI_COMM_WORLD, path(), {.sync = false});
  const Rows rows = file.place_rows(mine);
  EXPECT_EQ(rows.count, mine);
  for (size_t i = 0; i < particles.size(); ++i) {
    const double number = static_cast<double>(rows.first) + static_cast<double>(i);
    particles[i] = {static_cast<float>(number) / 2, static_cast<int64_t>(number), {number, 0, -number}};
  }
  std::vector<double> positions;
  for (const Particle& particle : particles) {
    positions.insert(positions.end(), particle.position, particle.position + 3);
  }
  file.create_dataset<float>("mass", {rows.total}).put_rows(rows, Memory::member(particles.data(), mine, &Particle::mass));
  file.create_dataset<int>("number", {rows.total}).put_rows(rows, Memory::member(particles.data(), mine, &Particle::number));
  Dataset position = file.create_dataset<double>("position", {rows.total, 3});
  position.put_rows(rows, positions);
  file.commit();

  File reading = File::open(MPI_COMM_WORLD, path(), {.verify = true});
  Dataset number = reading.dataset("number");
  const Rows share = reading.share_rows(number.dims()[0]);
  std::vector<int64_t> numbers(static_cast<size_t>(share.count));
  number.get_rows(share, numbers);
  std::vector<double> found(static_cast<size_t>(3 * share.count));
  reading.dataset("position").get_rows(share, std::span(found));
  reading.commit();
  int64_t counted = share.count, total = 0;
  MPI_Allreduce(&counted, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(total, rows.total);
  for (int64_t i = 0; i < share.count; ++i) {
    EXPECT_EQ(numbers[static_cast<size_t>(i)], share.first + i);
    EXPECT_EQ(found[static_cast<size_t>(3 * i + 2)], -static_cast<double>(share.first + i));
  }
  const auto masses = reading.read<double>("mass");
  for (size_t i = 0; i < masses.size(); ++i) {
    EXPECT_EQ(masses[i], static_cast<double>(i) / 2);
  }
}

TEST_F(FileTest, RowsThatCannotBeAreRefusedOnAllRanks) {
  File file = File::create(MPI_COMM_WORLD, path());
  EXPECT_NE(error_of([&] { file.place_rows(rank_ == ranks_ - 1 ? -1 : 3); }, ErrorCode::kInvalidArgument), "");
  const Rows rows = file.place_rows(1);
  Dataset dataset = file.create_dataset<double>("x", {rows.total + 1});
  const double number = 1;
  EXPECT_NE(error_of(
                [&] {
                  dataset.put_rows(rows, {&number, 1});
                },
                ErrorCode::kInvalidArgument)
                .find("rows"),
            std::string::npos);
  EXPECT_NE(error_of([&] { file.commit(); }, ErrorCode::kInvalidArgument), "");
}

double element_value(int64_t element) {
  return 0.5 * static_cast<double>(element);
}

// Elements are dealt to the ranks at random; one map serves several datasets of other types, with
// and without checksums, by every method.
TEST_F(FileTest, ScatteredElementsGoWhereTheirMapSays) {
  constexpr int64_t kRows = 90, kColumns = 100;
  std::mt19937_64 random(11);
  std::vector<int64_t> all(kRows * kColumns), mine;
  std::iota(all.begin(), all.end(), 0);
  std::shuffle(all.begin(), all.end(), random);
  for (size_t i = static_cast<size_t>(rank_); i < all.size(); i += static_cast<size_t>(ranks_)) {
    mine.push_back(i % 10 == 9 ? Elements::kNone : all[i]);
  }
  const Elements elements(mine);
  std::vector<double> values;
  for (const int64_t element : mine) {
    values.push_back(element == Elements::kNone ? -1 : element_value(element));
  }
  for (const char* method : {"automatic", "list_io", "two_phase"}) {
    const bool checksums = std::string(method) != "list_io";
    File file =
        File::create(MPI_COMM_WORLD, path(), {.hints = {{"stria_method", method}}, .sync = false, .checksums = checksums});
    file.create_dataset<double>("a", {kRows, kColumns}).put_elements(elements, values);
    file.create_dataset<float>("b", {kColumns, kRows}).put_elements(elements, values);
    file.create_dataset<int16_t>("c", {kRows * kColumns}).put_elements(elements, values);
    file.commit();

    File reading = File::open(MPI_COMM_WORLD, path(), {.hints = {{"stria_method", method}}, .verify = checksums});
    const auto a = reading.read<double>("a"), b = reading.read<double>("b");
    const auto c = reading.read<int>("c");
    for (size_t i = 0; i < all.size(); ++i) {
      const double expected = i % 10 == 9 ? 0 : element_value(all[i]);
      const auto at = static_cast<size_t>(all[i]);
      ASSERT_EQ(a[at], expected) << method << " " << all[i];
      ASSERT_EQ(b[at], expected);
      ASSERT_EQ(c[at], static_cast<int>(expected));
    }
    std::vector<float> back(mine.size(), -5);
    reading.dataset("a").get_elements(elements, back);
    reading.commit();
    for (size_t i = 0; i < mine.size(); ++i) {
      ASSERT_EQ(back[i], mine[i] == Elements::kNone ? -5 : static_cast<float>(element_value(mine[i])));
    }
    EXPECT_EQ(reading.has_checksums(), checksums);
    if (checksums) {
      EXPECT_TRUE(reading.verify().empty());
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// A map that means whole rows is as good as a hyperslab.
TEST_F(FileTest, AMapOfWholeRowsIsSummedByRows) {
  constexpr int64_t kColumns = 128;
  std::vector<int64_t> mine(kColumns);
  std::iota(mine.begin(), mine.end(), rank_ * kColumns);
  std::vector<double> values(mine.begin(), mine.end());
  const auto write = [&](const std::string& name, bool by_map) {
    File file = File::create(MPI_COMM_WORLD, path(name), {.sync = false});
    Dataset dataset = file.create_dataset<double>("x", {ranks_, kColumns});
    by_map ? dataset.put_elements(Elements(mine), values) : dataset.put({{rank_, 0}, {1, kColumns}}, values);
    file.commit();
    const auto bytes = static_cast<int64_t>(std::filesystem::file_size(path(name)));
    EXPECT_EQ(file.report().file_bytes, bytes);
    EXPECT_EQ(File::open(MPI_COMM_WORLD, path(name)).report().file_bytes, bytes);
    return bytes;
  };
  EXPECT_EQ(write("map.h5", true), write("slab.h5", false));
}

TEST_F(FileTest, MapsThatDoNotFitFailTheCommitOfAll) {
  const std::vector<double> values = {1, 2, 3};
  const std::vector<int64_t> places = {3, 0, 7};
  const auto refuse = [&](const std::string& reason, int64_t dims, size_t count) {
    File file = File::create(MPI_COMM_WORLD, path());
    Dataset dataset = file.create_dataset<double>("x", {dims});
    if (rank_ == ranks_ - 1) {
      EXPECT_THROW(dataset.put_elements(Elements(places), {values.data(), static_cast<int64_t>(count)}), Error);
    }
    EXPECT_NE(error_of([&] { file.commit(); }, ErrorCode::kInvalidArgument).find(reason), std::string::npos);
    MPI_Barrier(MPI_COMM_WORLD);
  };
  refuse("the map has element 7, but there are only 7", 7, 3);
  refuse("a map of 3 elements needs as many consecutive numbers", 8, 2);
  EXPECT_THROW(Elements(std::vector<int64_t>{1, 2, 1}), Error);
}

TEST_F(FileTest, ReadingAtOnceFailsOnAllRanks) {
  {
    File file = File::create(MPI_COMM_WORLD, path());
    const std::vector<int> values = {1, 2, 3, 4};
    Dataset dataset = file.create_dataset<int>("x", {4});
    if (rank_ == 0) {
      dataset.put({{0}, {4}}, values);
    }
    EXPECT_NE(error_of([&] { dataset.read<int>(); }, ErrorCode::kInvalidArgument), "");
    file.commit();
  }
  File file = File::open(MPI_COMM_WORLD, path());
  Dataset dataset = file.dataset("x");
  EXPECT_EQ(dataset.read<int>({{1}, {2}}), (std::vector<int>{2, 3}));
  EXPECT_EQ(dataset.read<int>({{0}, {rank_ == 0 ? 0 : 1}}).size(), rank_ == 0 ? 0u : 1u);
  // An impossible region of one rank, and every rank hears of it.
  const int64_t wrong = rank_ == ranks_ - 1 ? INT64_MAX : 1;
  EXPECT_NE(error_of([&] { dataset.read<int>({{0}, {wrong}}); }, ErrorCode::kInvalidArgument), "");
  EXPECT_EQ(dataset.read<int>(), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_NE(error_of([&] { file.read<int>("y"); }, ErrorCode::kNotFound), "");
}

TEST_F(FileTest, ProgressIsToldUntilTheEnd) {
  const auto mine = rows(40);
  const int64_t first = mine.first, count = mine.second;
  std::vector<double> values(static_cast<size_t>(count * 1000), 1);
  std::vector<Progress> told;
  const auto note = [&](const Progress& progress) {
    told.push_back(progress);
    throw std::runtime_error("of no consequence");
  };
  const auto expect_told = [&] {
    ASSERT_FALSE(told.empty());
    EXPECT_EQ(told.back().done_bytes, count * 8000);
    for (size_t i = 0; i < told.size(); ++i) {
      EXPECT_EQ(told[i].total_bytes, count * 8000);
      EXPECT_TRUE(i == 0 || told[i].done_bytes > told[i - 1].done_bytes);
    }
    EXPECT_LE(told.size(), 102u);
    told.clear();
  };
  for (const char* method : {"list_io", "two_phase"}) {
    File file = File::create(MPI_COMM_WORLD, path(), {.hints = {{"stria_method", method}, {"cb_buffer_size", "65536"}}});
    file.progress(note);
    file.create_dataset<double>("x", {40, 1000}).put({{first, 0}, {count, 1000}}, values);
    file.commit();
    expect_told();
    File reading = File::open(MPI_COMM_WORLD, path());
    reading.progress(note);
    reading.dataset("x").read({{first, 0}, {count, 1000}}, values);
    expect_told();
    reading.progress({});
    reading.dataset("x").read({{first, 0}, {count, 1000}}, values);
    EXPECT_TRUE(told.empty());
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_F(FileTest, NumbersOfEveryKindAreMemory) {
  const long long one = 1;
  const bool yes = true;
  const std::vector<unsigned> small = {0, 300, 4000000000u};
  File file = File::create(MPI_COMM_WORLD, path());
  Dataset numbers = file.create_dataset<int16_t>("numbers", {3});
  Dataset flag = file.create_dataset<bool>("flag", {}), single = file.create_dataset<long long>("single", {});
  if (rank_ == 0) {
    numbers.put({{0}, {3}}, small);
    flag.put({}, {&yes, 1});
    single.put({}, {&one, 1});
  }
  file.set_attribute("/", "range", std::span(small).first(2));
  file.commit();
  File reading = File::open(MPI_COMM_WORLD, path());
  EXPECT_EQ(reading.read<int>("numbers"), (std::vector<int>{0, 300, 32767})) << "the nearest that fits";
  EXPECT_EQ(reading.read<int8_t>("numbers"), (std::vector<int8_t>{0, 127, 127}));
  EXPECT_EQ(reading.read<uint8_t>("flag"), std::vector<uint8_t>{1});
  EXPECT_EQ(reading.dataset("single").type_name(), "int64");
  EXPECT_EQ(reading.attribute<std::vector<int>>("/", "range"), (std::vector<int>{0, 300}));
}

}  // namespace
}  // namespace stria
