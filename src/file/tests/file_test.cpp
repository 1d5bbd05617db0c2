// The public API on real files and real ranks. Serial libhdf5 on rank 0 also reads
// what was written.
#include "stria/file.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <mpi.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "file/tests/file_fixture_test.hpp"
#include "storage/registry/registry.hpp"

namespace stria {
namespace {

using test::error_of;
using test::FileTest;

template <typename T>
std::vector<T> read_with_hdf5(const std::string& path, const std::string& dataset, hid_t type) {
  hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t set = H5Dopen2(file, dataset.c_str(), H5P_DEFAULT);
  hid_t space = H5Dget_space(set);
  std::vector<T> values(static_cast<size_t>(H5Sget_simple_extent_npoints(space)));
  EXPECT_GE(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(file);
  return values;
}

double value_of(int64_t element) {
  return static_cast<double>(element % 251) - 100;
}

/// Blocks of 4x4 cells with one layer of guard cells, all variables interleaved, as in mesh codes.
struct Mesh {
  static constexpr int64_t kSide = 6, kCells = 4, kVariables = 3;
  std::vector<double> unk;

  Mesh(int64_t first_block, int64_t blocks) : unk(static_cast<size_t>(blocks * kSide * kSide * kVariables), -1) {
    for (int64_t b = 0; b < blocks; ++b) {
      for (int64_t j = 0; j < kCells; ++j) {
        for (int64_t i = 0; i < kCells; ++i) {
          for (int64_t v = 0; v < kVariables; ++v) {
            at(b, j, i, v) = value_of(((first_block + b) * kCells + j) * kCells + i + 1000 * v);
          }
        }
      }
    }
  }
  double& at(int64_t b, int64_t j, int64_t i, int64_t v) {
    return unk[static_cast<size_t>(((b * kSide + j + 1) * kSide + i + 1) * kVariables + v)];
  }
  Memory variable(int64_t v, int64_t blocks) const {
    auto cell = Datatype::resized(Datatype::bytes(8), 0, 8 * kVariables).value();
    const int64_t sizes[] = {blocks, kSide, kSide}, inner[] = {blocks, kCells, kCells}, start[] = {0, 1, 1};
    Datatype interior = blocks == 0 ? Datatype() : Datatype::subarray(sizes, inner, start, Order::kC, cell).value();
    return Memory(unk.empty() ? nullptr : unk.data() + v, interior, ElementType::kFloat64);
  }
};

TEST_F(FileTest, AMeshIsWrittenAsAnybodyReadsIt) {
  auto [first, count] = rows(53);
  Mesh mesh(first, count);
  for (const char* method : {"automatic", "list_io", "two_phase"}) {
    // Packed from where the numbers lie.
    const Hints hints = {{"stria_method", method}, {"cb_buffer_size", "65536"}, {"stria_put_copies", "0"}};
    File file = File::create(MPI_COMM_WORLD, path(), {.hints = hints});
    EXPECT_TRUE(file.hint_warnings().empty());
    for (int v = 0; v < 3; ++v) {
      ElementType stored = v == 1 ? ElementType::kFloat32 : v == 2 ? ElementType::kInt32 : ElementType::kFloat64;
      Dataset dataset =
          file.create_dataset("mesh/v" + std::to_string(v), stored, {53, 4, 4}, {.value_range = true, .big_endian = v == 2});
      dataset.put({{first, 0, 0}, {count, 4, 4}}, mesh.variable(v, count));
    }
    file.commit();
    EXPECT_EQ(file.report().useful_bytes, 53 * 16 * (8 + 4 + 4));
    for (int v = 0; v < 3 && rank_ == 0; ++v) {
      std::vector<double> values = read_with_hdf5<double>(path(), "mesh/v" + std::to_string(v), H5T_NATIVE_DOUBLE);
      ASSERT_EQ(values.size(), 53u * 16);
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(values[i], value_of(static_cast<int64_t>(i) + 1000 * v)) << method << " " << v << " " << i;
      }
    }
    File reading = File::open(MPI_COMM_WORLD, path(), {.hints = {{"stria_method", method}}, .verify = true});
    std::vector<float> back(static_cast<size_t>(53 * 16));
    Mesh again(0, 53);
    again.unk.assign(again.unk.size(), -1);
    reading.dataset("mesh/v2").get({{0, 0, 0}, {53, 4, 4}}, Memory(back.data(), 53 * 16));
    reading.dataset("/mesh/v1").get({{0, 0, 0}, {53, 4, 4}}, again.variable(1, 53));
    reading.commit();
    EXPECT_EQ(again.at(52, 3, 3, 1), value_of(52 * 16 + 15 + 1000));
    EXPECT_EQ(again.at(52, 3, 3, 0), -1);
    EXPECT_EQ(back[500], static_cast<float>(value_of(2500)));
    EXPECT_EQ(reading.attribute("mesh/v1", "maximum"), 150);
    EXPECT_EQ(reading.dataset("mesh/v2").type_name(), "int32 big-endian");
    EXPECT_TRUE(reading.verify().empty());
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// Large enough for the ranks to take turns, between which rank 0 makes the metadata. However far it
// gets meanwhile, the file is the same.
TEST_F(FileTest, TheFileIsTheSameWhetherRanksTakeTurnsOrNot) {
  constexpr int64_t kRows = 301, kRowElements = 600;
  auto [first, count] = rows(kRows);
  std::vector<double> numbers(static_cast<size_t>(count * kRowElements));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = value_of(first * kRowElements + static_cast<int64_t>(i));
  }
  std::vector<std::string> contents;
  for (const char* staging : {"65536", "4194304", "one rank"}) {
    bool alone = std::string(staging) == "one rank";
    Hints hints;
    hints["stria_staging_size"] = alone ? "4194304" : staging;
    File file = File::create(MPI_COMM_WORLD, path(staging), {.hints = hints});
    for (int v = 0; v < 7; ++v) {
      std::string name = "v" + std::to_string(v);
      Dataset dataset = file.create_dataset(name, ElementType::kFloat32, {kRows, kRowElements}, {.value_range = v != 3});
      file.set_attribute(name, "number", int64_t{v});
      if (alone && rank_ == 0) {
        std::vector<double> all(static_cast<size_t>(kRows * kRowElements));
        for (size_t i = 0; i < all.size(); ++i) {
          all[i] = value_of(static_cast<int64_t>(i));
        }
        dataset.put({{0, 0}, {kRows, kRowElements}}, Memory(all.data(), kRows * kRowElements));
        file.flush();
      } else if (alone) {
        file.flush();
      } else {
        dataset.put({{first, 0}, {count, kRowElements}}, Memory(numbers.data(), count * kRowElements));
      }
    }
    file.create_strings("names", {"one", "two"}, 8, false);
    file.commit();
    MPI_Barrier(MPI_COMM_WORLD);
    std::ifstream in(path(staging), std::ios::binary);
    contents.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    File reading = File::open(MPI_COMM_WORLD, path(staging), {.verify = true});
    EXPECT_TRUE(reading.verify().empty()) << staging;
    EXPECT_EQ(reading.attribute("v6", "minimum"), -100);
    EXPECT_EQ(reading.attribute("v6", "maximum"), 150);
    EXPECT_EQ(reading.attribute("v5", "number"), 5);
  }
  EXPECT_GT(contents[0].size(), size_t{4} * 7 * kRows * kRowElements);
  EXPECT_TRUE(contents[1] == contents[0]);
  EXPECT_TRUE(contents[2] == contents[0]);
}

TEST_F(FileTest, TheUringDriverWritesTheSame) {
  if (!storage::make_driver("uring").ok()) {
    GTEST_SKIP() << "no io_uring here";
  }
  auto [first, count] = rows(400);
  std::vector<double> numbers(static_cast<size_t>(count * 512));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = value_of(first * 512 + static_cast<int64_t>(i));
  }
  for (const char* driver : {"posix", "uring"}) {
    for (const char* method : {"list_io", "two_phase"}) {
      File file = File::create(MPI_COMM_WORLD, path(std::string(driver) + method),
                               {.hints = {{"stria_driver", driver}, {"stria_method", method}, {"stria_direct", "enable"}}});
      file.create_dataset("dens", ElementType::kFloat64, {400, 512}, {.value_range = true})
          .put({{first, 0}, {count, 512}}, Memory(numbers.data(), count * 512));
      file.commit();
      File reading = File::open(MPI_COMM_WORLD, path(std::string(driver) + method));
      EXPECT_EQ(reading.attribute("dens", "minimum"), -100) << driver << " " << method;
      EXPECT_EQ(reading.attribute("dens", "maximum"), 150) << driver << " " << method;
    }
  }
  auto bytes = [&](const std::string& name) {
    std::ifstream in(path(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  std::string expected = bytes("posixlist_io");
  EXPECT_GT(expected.size(), 400u * 512 * 8);
  EXPECT_TRUE(bytes("posixtwo_phase") == expected);
  EXPECT_TRUE(bytes("uringlist_io") == expected);
  EXPECT_TRUE(bytes("uringtwo_phase") == expected);
}

TEST_F(FileTest, ManyDatasetsTablesStringsAndAttributes) {
  struct Record {
    int32_t number;
    double value;
    char name[8];
  };
  std::vector<Record> records(5);
  for (int i = 0; i < 5; ++i) {
    std::memset(&records[static_cast<size_t>(i)], rank_ + 1, sizeof(Record));  // padding, too
    records[static_cast<size_t>(i)].number = i;
    records[static_cast<size_t>(i)].value = i * 1.5;
    std::memcpy(records[static_cast<size_t>(i)].name, "abc     ", 8);
  }
  File file = File::create(MPI_COMM_WORLD, path());
  std::vector<double> numbers(300);
  std::iota(numbers.begin(), numbers.end(), rank_ * 1000);
  for (int i = 0; i < 300; ++i) {
    Dataset dataset =
        file.create_dataset("g" + std::to_string(i % 7) + "/d" + std::to_string(i), ElementType::kFloat64, {ranks_});
    dataset.put({{rank_}, {1}}, Memory(&numbers[static_cast<size_t>(i)], 1));
  }
  std::vector<Column> columns = {{"number", offsetof(Record, number), ElementType::kInt32},
                                 {"value", offsetof(Record, value), ElementType::kFloat64},
                                 {"name", offsetof(Record, name), ElementType::kByte, 8}};
  file.create_table("lists/records", columns, sizeof(Record), 5, records.data());
  file.create_strings("names", {"dens", "a", "too"}, 4, true);
  file.set_attribute("/", "time", 0.25);
  file.set_attribute("g0", "step", int64_t{7});
  file.set_attribute("g0/d0", "unit", std::string("g/cm3"));
  file.create_dataset("nothing", ElementType::kFloat32, {0, 8});
  double one = 42;
  Dataset scalar = file.create_dataset("scalar", ElementType::kFloat64, {});
  if (rank_ == 0) {
    scalar.put({{}, {}}, Memory(&one, 1));
  }
  file.commit();

  File reading = File::open(MPI_COMM_WORLD, path(), {.verify = true});
  EXPECT_EQ(reading.datasets().size(), 304u);
  EXPECT_TRUE(reading.has_dataset("g3/d299") == false && reading.has_dataset("g5/d299"));
  std::vector<Column> found;
  int64_t row_bytes = 0;
  std::vector<std::byte> content = reading.read_table("lists/records", &found, &row_bytes);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1].name, "value");
  EXPECT_EQ(found[2].string_bytes, 8);
  ASSERT_EQ(content.size(), static_cast<size_t>(5 * row_bytes));
  int32_t number = -1;
  std::memcpy(&number, content.data() + 4 * row_bytes + found[0].offset_bytes, sizeof number);
  EXPECT_EQ(number, 4);
  EXPECT_EQ(std::count(content.begin() + 4, content.begin() + 8, std::byte{0}), 4);
  EXPECT_EQ(reading.read_strings("names"), (std::vector<std::string>{"dens", "a", "too"}));
  EXPECT_EQ(reading.attribute("/", "time"), 0.25);
  EXPECT_EQ(reading.attribute("g0", "step"), 7);
  EXPECT_EQ(reading.dataset("nothing").bytes(), 0);
  std::vector<float> values(static_cast<size_t>(ranks_));
  reading.dataset("g5/d299").get({{0}, {ranks_}}, Memory(values.data(), ranks_));
  double back = 0;
  reading.dataset("scalar").get({{}, {}}, Memory(&back, 1));
  reading.dataset("nothing").get({{0, 0}, {0, 8}}, Memory(&back, 0));
  reading.commit();
  EXPECT_EQ(values[static_cast<size_t>(ranks_ - 1)], static_cast<float>((ranks_ - 1) * 1000 + 299));
  EXPECT_EQ(back, 42);
  EXPECT_TRUE(reading.verify().empty());
}

TEST_F(FileTest, ListsOfStringsHaveAnyShape) {
  const std::vector<std::string> words = {"dens", "", "ρρ", "a"};
  File file = File::create(MPI_COMM_WORLD, path(), {.sync = false});
  file.create_string_array("square", {2, 2}, words);
  file.create_string_array("wide", {4, 1, 1}, words, 9);
  file.create_string_array("one", {}, {"Sedov"});
  file.create_string_array("none", {0, 3}, {});
  file.commit();
  File reading = File::open(MPI_COMM_WORLD, path());
  EXPECT_EQ(reading.read_strings("square"), words);
  EXPECT_EQ(reading.dataset("square").dims(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(reading.dataset("square").type_name(), "string[4]");
  EXPECT_EQ(reading.read_strings("wide"), words);
  EXPECT_EQ(reading.dataset("wide").type_name(), "string[9]");
  EXPECT_EQ(reading.read_strings("one"), std::vector<std::string>{"Sedov"});
  EXPECT_TRUE(reading.dataset("one").dims().empty());
  EXPECT_TRUE(reading.read_strings("none").empty());
}

TEST_F(FileTest, GivingUpTellsTheOthersWhy) {
  File file = File::create(MPI_COMM_WORLD, path());
  file.create_dataset("x", ElementType::kFloat64, {4});
  if (rank_ == ranks_ - 1) {
    file.give_up("the solver diverged");
    file.give_up("once more");
  }
  try {
    file.commit();
    ADD_FAILURE() << "it was given up";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kAborted);
    EXPECT_NE(std::string(error.what()).find("gave the file up: the solver diverged"), std::string::npos) << error.what();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_TRUE(names().empty());
}

TEST_F(FileTest, SeveralFlushesColumnsAndStrides) {
  File file = File::create(MPI_COMM_WORLD, path(), {.sync = false});
  Dataset columns = file.create_dataset("columns", ElementType::kInt64, {30, 4 * ranks_});
  std::vector<int64_t> mine(30 * 4);
  for (int64_t i = 0; i < 120; ++i) {
    mine[static_cast<size_t>(i)] = i / 4 * 4 * ranks_ + 4 * rank_ + i % 4;
  }
  columns.put({{0, 4 * rank_}, {30, 4}}, Memory(mine.data(), 120));
  file.flush();
  mine.assign(mine.size(), -5);  // the flush has moved the data
  Dataset strided = file.create_dataset("strided", ElementType::kInt16, {20 * ranks_});
  std::vector<int16_t> every(20, static_cast<int16_t>(rank_));
  strided.put({{rank_}, {20}, {ranks_}}, Memory(every.data(), 20));
  file.flush();
  file.flush();
  file.commit();
  if (rank_ == 0) {
    std::vector<int64_t> all = read_with_hdf5<int64_t>(path(), "columns", H5T_NATIVE_INT64);
    for (size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(all[i], static_cast<int64_t>(i));
    }
    std::vector<int> numbers = read_with_hdf5<int>(path(), "strided", H5T_NATIVE_INT);
    for (size_t i = 0; i < numbers.size(); ++i) {
      ASSERT_EQ(numbers[i], static_cast<int>(i) % ranks_);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  File reading = File::open(MPI_COMM_WORLD, path());
  std::vector<double> some(10 * 2);
  reading.dataset("columns").get({{1, 0}, {10, 2}, {2, 2}, {1, 1}}, Memory(some.data(), 20));
  reading.commit();
  for (int64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(some[static_cast<size_t>(i)], static_cast<double>((1 + i / 2 * 2) * 4 * ranks_ + i % 2 * 2));
  }
}

TEST_F(FileTest, AnOldFileStaysUntilTheCommitAndAfterAnAbandon) {
  for (int generation = 0; generation < 4; ++generation) {
    int32_t value = generation;
    File file = File::create(MPI_COMM_WORLD, path());
    Dataset dataset = file.create_dataset("generation", ElementType::kInt32, {ranks_});
    dataset.put({{rank_}, {1}}, Memory(&value, 1));
    file.flush();
    if (generation > 0 && rank_ == 0) {
      EXPECT_EQ(read_with_hdf5<int>(path(), "generation", H5T_NATIVE_INT)[0], generation == 1 ? 0 : 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (generation == 2) {
      file.abandon();
    } else if (generation < 2) {
      file.commit();
    }
  }  // the last one is dropped
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(names(), std::vector<std::string>{"run.h5"});
  EXPECT_EQ(read_with_hdf5<int>(path(), "generation", H5T_NATIVE_INT).back(), 1);
}

TEST_F(FileTest, ErrorsAreTheSameOnEveryRank) {
  double number = 1;
  File file = File::create(MPI_COMM_WORLD, path());
  Dataset dataset = file.create_dataset("dens", ElementType::kFloat64, {4});
  if (rank_ == ranks_ - 1) {
    EXPECT_THROW(dataset.put({{4}, {1}}, Memory(&number, 1)), Error);
  }
  EXPECT_NE(error_of([&] { file.commit(); }, ErrorCode::kInvalidArgument).find("passes the end at 4"), std::string::npos);
  EXPECT_NE(error_of([&] { file.flush(); }, ErrorCode::kInvalidArgument), "");
  EXPECT_NE(error_of([&] { File::open(MPI_COMM_WORLD, path("none.h5")); }, ErrorCode::kNotFound), "");
  EXPECT_NE(error_of([&] { File::create(MPI_COMM_WORLD, directory_ + "/no/such/directory.h5"); }, ErrorCode::kNotFound), "");
  EXPECT_NE(error_of([&] { File::create(MPI_COMM_WORLD, directory_ + "/"); }, ErrorCode::kInvalidArgument), "");
  if (rank_ == 0) {
    std::ofstream(path("text.h5")) << "not what it says";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_NE(error_of([&] { File::open(MPI_COMM_WORLD, path("text.h5")); }, ErrorCode::kFormat), "");
  File again = File::create(MPI_COMM_WORLD, path());
  again.create_dataset("dens", ElementType::kFloat64, {4});
  EXPECT_NE(error_of([&] { again.create_dataset("/dens/", ElementType::kFloat64, {4}); }, ErrorCode::kAlreadyExists), "");
  File third = File::create(MPI_COMM_WORLD, path("third.h5"));
  third.create_dataset("a/b", ElementType::kFloat64, {4});
  // There is a group of this name. Only rank 0 notices.
  third.create_dataset("a", ElementType::kFloat64, {4});
  EXPECT_NE(error_of([&] { third.commit(); }, ErrorCode::kAlreadyExists), "");
  EXPECT_THROW(third.verify(), Error);
}

TEST_F(FileTest, WhatCannotBeIsRefusedWhereItIsSaid) {
  const auto refuse = [&](const std::function<void(File&)>& call, const std::string& reason) {
    File file = File::create(MPI_COMM_WORLD, path());
    const std::string text = error_of([&] { call(file); }, ErrorCode::kInvalidArgument);
    EXPECT_NE(text.find(reason), std::string::npos) << text;
    EXPECT_NE(error_of([&] { file.commit(); }, ErrorCode::kInvalidArgument).find(reason), std::string::npos);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_TRUE(names().empty());
    MPI_Barrier(MPI_COMM_WORLD);
  };
  refuse([](File& file) { file.create_strings("names", {"dens", "density"}, 4, false); }, "'density' has 7 bytes");
  refuse([](File& file) { file.create_string_array("names", {2}, {"dens", "density"}, 4); }, "'density' has 7 bytes");
  refuse(
      [](File& file) {
        file.create_string_array("names", {2, 2}, {"dens"});
      },
      "1 strings are not as many as the shape {2, 2}");
  refuse([](File& file) { file.create_dataset("a/../b", ElementType::kFloat64, {4}); }, "meaning of its own");
  refuse([](File& file) { file.create_dataset("\xff\xfe", ElementType::kFloat64, {4}); }, "not UTF-8");
  refuse([](File& file) { file.create_table(".stria/x", {}, 8, 1, nullptr); }, "checksums");
  refuse([](File& file) { file.create_table("x", {}, 8, -1, nullptr); }, "negative");
  refuse([](File& file) { file.set_attribute("/", std::string(70000, 'x'), 1); }, "70000 bytes");
  std::filesystem::create_directories(path("taken"));
  EXPECT_NE(error_of([&] { File::create(MPI_COMM_WORLD, path("taken")); }, ErrorCode::kInvalidArgument).find("is a directory"),
            std::string::npos);
}

TEST_F(FileTest, WhatIsOverIsSaidToBe) {
  double number = 1;
  File file = File::create(MPI_COMM_WORLD, path());
  Dataset dataset = file.create_dataset("dens", ElementType::kFloat64, {4});
  file.commit();
  EXPECT_NE(error_of([&] { dataset.put({{0}, {1}}, Memory(&number, 1)); }, ErrorCode::kInvalidArgument), "");
  EXPECT_NE(error_of([&] { file.create_dataset("pres", ElementType::kFloat64, {4}); }, ErrorCode::kInvalidArgument), "");
  EXPECT_NE(error_of([&] { file.set_attribute("/", "time", 1.0); }, ErrorCode::kInvalidArgument), "");
  File moved = std::move(file);
  const std::string text = error_of([&] { file.commit(); }, ErrorCode::kInvalidArgument);  // NOLINT: that is the test
  EXPECT_NE(text.find("was moved from"), std::string::npos) << text;
  EXPECT_NE(error_of([&] { static_cast<void>(file.path()); }, ErrorCode::kInvalidArgument), "");
  Dataset other = std::move(dataset);
  EXPECT_NE(error_of([&] { static_cast<void>(dataset.path()); }, ErrorCode::kInvalidArgument), "");  // NOLINT
  EXPECT_EQ(moved.path(), path());
}

TEST_F(FileTest, AnErrorNamesARankWhereThereAreSeveral) {
  const std::string text = error_of([&] { File::create(MPI_COMM_WORLD, directory_ + "/no/such/x.h5"); }, ErrorCode::kNotFound);
  EXPECT_EQ(text.find("rank 0") == std::string::npos, ranks_ == 1) << text;
}

// Standard error of rank 0, as gtest captures it.
TEST_F(FileTest, AForgottenCommitIsSaidOnceAndNothingElse) {
  const auto said = [&](const std::function<void(File)>& end) {
    testing::internal::CaptureStderr();
    try {
      end(File::create(MPI_COMM_WORLD, path()));
    } catch (const std::runtime_error&) {
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return testing::internal::GetCapturedStderr();
  };
  const std::string text = said([](File) {});
  EXPECT_EQ(text.find("run.h5' was not written: it ended without a commit") != std::string::npos, rank_ == 0) << text;
  EXPECT_EQ(said([](File file) { file.commit(); }), "");
  EXPECT_EQ(said([](File file) { file.abandon(); }), "");
  EXPECT_EQ(said([](const File&) { throw std::runtime_error("passing"); }), "");
  EXPECT_EQ(said([](File file) { file.give_up("diverged"); }), "");
  setenv("STRIA_VERBOSE", "0", 1);
  EXPECT_EQ(said([](File) {}), "");
  unsetenv("STRIA_VERBOSE");
}

TEST_F(FileTest, AttributesOfEveryKindComeBack) {
  const std::vector<double> three = {1.5, -2, 3};
  const std::vector<std::string> words = {"a", "", "ρ and more"};
  File file = File::create(MPI_COMM_WORLD, path());
  file.create_dataset("g/dens", ElementType::kFloat64, {4});
  file.set_attribute("/", "int", 42);
  file.set_attribute("/", "bool", true);
  file.set_attribute("/", "float", 0.5f);
  file.set_attribute("/", "long long", -7ll);
  file.set_attribute("/", "unsigned", 4000000000u);
  file.set_attribute("/", "literal", "g/cm3");
  file.set_attribute("/", "string", std::string("two words "));
  file.set_attribute("g", "three", three);
  file.set_attribute("g/dens", "words", words);
  file.set_attribute("g/dens", "none", std::vector<int>());
  file.set_attribute("g/dens", "matrix", {3, 1}, three);
  file.set_attribute("g/dens", "nothing", {2, 0}, std::vector<int>());
  file.commit();
  File reading = File::open(MPI_COMM_WORLD, path());
  EXPECT_EQ(reading.attribute<int>("/", "int"), 42);
  EXPECT_EQ(reading.attribute("/", "int"), 42);
  EXPECT_EQ(reading.attribute<bool>("/", "bool"), true);
  EXPECT_EQ(reading.attribute<float>("/", "float"), 0.5f);
  EXPECT_EQ(reading.attribute<int64_t>("/", "long long"), -7);
  EXPECT_EQ(reading.attribute<uint32_t>("/", "unsigned"), 4000000000u);
  EXPECT_EQ(reading.attribute<std::string>("/", "literal"), "g/cm3");
  EXPECT_EQ(reading.attribute<std::string>("/", "string"), "two words ");
  EXPECT_EQ(reading.attribute<std::vector<double>>("g", "three"), three);
  EXPECT_EQ(reading.attribute<std::vector<int>>("g", "three"), (std::vector<int>{1, -2, 3}));
  EXPECT_EQ(reading.attribute<std::vector<std::string>>("g/dens", "words"), words);
  EXPECT_TRUE(reading.attribute<std::vector<int>>("g/dens", "none").empty());
  EXPECT_EQ(reading.attribute<std::vector<double>>("g/dens", "matrix"), three);
  EXPECT_EQ(reading.attributes("g/dens")[0].dims, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(reading.attributes("g/dens")[2].dims, (std::vector<int64_t>{2, 0}));
  EXPECT_NE(error_of([&] { reading.attribute<int>("g", "three"); }, ErrorCode::kInvalidArgument), "");
  EXPECT_NE(error_of([&] { reading.attribute<int>("/", "string"); }, ErrorCode::kInvalidArgument), "");
  EXPECT_NE(error_of([&] { reading.attribute<std::string>("/", "int"); }, ErrorCode::kInvalidArgument), "");
  EXPECT_NE(error_of([&] { reading.attribute<int>("/", "nothing"); }, ErrorCode::kNotFound), "");
  EXPECT_NE(error_of([&] { reading.attributes("nowhere"); }, ErrorCode::kNotFound), "");
  const std::vector<AttributeInfo> root = reading.attributes("/");
  ASSERT_EQ(root.size(), 7u);
  EXPECT_EQ(root[0].name, "bool");
  EXPECT_EQ(root[0].type_name, "bool");
  const std::vector<AttributeInfo> list = reading.attributes("g");
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].type_name, "float64");
  EXPECT_EQ(list[0].dims, std::vector<int64_t>{3});
  File refusing = File::create(MPI_COMM_WORLD, path());
  const std::string why = error_of([&] { refusing.set_attribute("/", "matrix", {2, 2}, three); }, ErrorCode::kInvalidArgument);
  EXPECT_NE(why.find("3 values don't have the shape {2, 2}"), std::string::npos) << why;
  error_of([&] { refusing.commit(); }, ErrorCode::kInvalidArgument);
  File classic = File::create(MPI_COMM_WORLD, path("a.nc"));
  error_of([&] { classic.set_attribute("/", "matrix", {3, 1}, three); }, ErrorCode::kUnsupported);
}

TEST_F(FileTest, EnumerationsComeBack) {
  const std::vector<NamedNumber> phases = {{"SOLID", -1}, {"LIQUID", 0}, {"GAS", 300}};
  File file = File::create(MPI_COMM_WORLD, path());
  const std::vector<int> mine = {300, -1};
  file.create_dataset("big", ElementType::kInt16, {ranks_, 2}, {.big_endian = true, .enumeration = phases})
      .put({{rank_, 0}, {1, 2}}, mine);
  file.create_dataset("chunked", ElementType::kInt64, {kUnlimited}, {.filters = Filters::compress(), .enumeration = phases});
  file.create_dataset("plain", ElementType::kInt16, {2});
  EXPECT_EQ(file.dataset("big").enumeration(), phases);
  file.commit();
  File reading = File::open(MPI_COMM_WORLD, path());
  EXPECT_EQ(reading.dataset("big").enumeration(), phases);
  EXPECT_EQ(reading.dataset("big").type_name(), "int16 big-endian");
  EXPECT_EQ(reading.dataset("chunked").enumeration(), phases);
  EXPECT_TRUE(reading.dataset("plain").enumeration().empty());
  EXPECT_EQ(reading.dataset("big").read<int>({{ranks_ - 1, 0}, {1, 2}}), mine);
  const auto refuse = [this](ErrorCode code, ElementType element, const DatasetOptions& options, const std::string& why) {
    File refusing = File::create(MPI_COMM_WORLD, path());
    const std::string text = error_of([&] { refusing.create_dataset("x", element, {4}, options); }, code);
    EXPECT_NE(text.find(why), std::string::npos) << text;
    error_of([&] { refusing.commit(); }, code);
  };
  refuse(ErrorCode::kInvalidArgument, ElementType::kFloat32, {.enumeration = {{"A", 1}}}, "only integers");
  refuse(ErrorCode::kInvalidArgument, ElementType::kUint8, {.meaning = Meaning::kBoolean, .enumeration = {{"A", 1}}},
         "only integers");
  refuse(ErrorCode::kInvalidArgument, ElementType::kUint8, {.enumeration = {{"A", 256}}}, "'A' is 256");
  refuse(ErrorCode::kInvalidArgument, ElementType::kUint8, {.enumeration = {{"A", -1}}}, "'A' is -1");
  refuse(ErrorCode::kInvalidArgument, ElementType::kInt8, {.enumeration = {{"A", 1}, {"B", 1}}}, "comes twice");
  refuse(ErrorCode::kInvalidArgument, ElementType::kInt8, {.enumeration = {{"A", 1}, {"A", 2}}}, "comes twice");
  File classic = File::create(MPI_COMM_WORLD, path("a.nc"));
  error_of([&] { classic.create_dataset("x", ElementType::kInt8, {4}, {.enumeration = phases}); }, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace stria
