// Records of all ranks: written as they lie in structs, read by other parts and other columns.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "file/tests/file_fixture_test.hpp"

namespace stria {
namespace {

using test::error_of;
using test::FileTest;

struct WholeParticle {
  double x = -1;
  char name[6] = "-----";
  int32_t id = -1;
  float mass = -1;
};

// The order is another one than in memory; x is left out.
std::vector<Column> some_columns() {
  return {{"mass", offsetof(WholeParticle, mass), ElementType::kFloat32},
          {"id", offsetof(WholeParticle, id), ElementType::kInt32},
          {"name", offsetof(WholeParticle, name), ElementType::kByte, 6}};
}

std::vector<WholeParticle> whole_particles(int64_t first, int64_t count) {
  std::vector<WholeParticle> made(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    WholeParticle& one = made[static_cast<size_t>(i)];
    one.x = 0.5 * static_cast<double>(i);
    one.id = static_cast<int32_t>(first + i);
    one.mass = 0.25f * static_cast<float>(first + i);
    std::memcpy(one.name, (first + i) % 2 == 0 ? "even  " : "odd   ", 6);
  }
  return made;
}

void expect_same(const std::vector<WholeParticle>& found, int64_t first) {
  const auto wanted = whole_particles(first, static_cast<int64_t>(found.size()));
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].x, -1) << "it was not asked for";
    EXPECT_EQ(found[i].id, wanted[i].id);
    EXPECT_EQ(found[i].mass, wanted[i].mass);
    EXPECT_EQ(std::string(found[i].name, 6), std::string(wanted[i].name, 6));
  }
}

class RecordsTest : public FileTest {
 protected:
  /// Every rank puts its share of `total` records, in two parts.
  void write(int64_t total, const DatasetOptions& options, bool grows) {
    const auto [first, mine] = rows(total);
    const auto made = whole_particles(first, mine);
    File file = File::create(MPI_COMM_WORLD, path(), {.sync = false});
    Dataset dataset = file.create_records("run/particles", some_columns(), {grows ? kUnlimited : total}, options);
    if (grows) {
      dataset = file.append_rows("run/particles", total);
    }
    EXPECT_EQ(dataset.type_name(), "record[14]");
    const int64_t half = mine / 2;
    dataset.put({{first}, {half}}, records(made.data(), half, some_columns()));
    dataset.put({{first + half}, {mine - half}}, records(made.data() + half, mine - half, some_columns()));
    file.commit();
  }

  /// Every rank reads the share of another one.
  void read(int64_t total) {
    File file = File::open(MPI_COMM_WORLD, path(), {.verify = true});
    int64_t row_bytes = 0;
    const auto columns = file.columns("run/particles", &row_bytes);
    ASSERT_EQ(columns.size(), 3u);
    EXPECT_EQ(row_bytes, 14);
    EXPECT_EQ(columns[1].name, "id");
    EXPECT_EQ(columns[1].offset_bytes, 4);
    EXPECT_EQ(columns[2].string_bytes, 6);
    Dataset dataset = file.dataset("run/particles");
    ASSERT_EQ(dataset.dims(), std::vector<int64_t>{total});
    const int64_t first = (ranks_ - 1 - rank_) * total / ranks_, last = (ranks_ - rank_) * total / ranks_;
    std::vector<WholeParticle> found(static_cast<size_t>(last - first));
    dataset.get({{first}, {last - first}}, records(found.data(), last - first, some_columns()));
    file.commit();
    expect_same(found, first);
    // The records have the file's form.
    File again = File::open(MPI_COMM_WORLD, path());
    std::vector<std::byte> bytes(static_cast<size_t>((last - first) * row_bytes));
    again.dataset("run/particles")
        .read({{first}, {last - first}}, Memory(bytes.data(), Datatype::bytes((last - first) * row_bytes), ElementType::kByte));
    for (int64_t i = 0; i < last - first; ++i) {
      int32_t id = -1;
      std::memcpy(&id, bytes.data() + i * row_bytes + columns[1].offset_bytes, sizeof id);
      ASSERT_EQ(id, first + i);
    }
    EXPECT_TRUE(again.verify().empty());
    std::vector<Column> table_columns;
    EXPECT_EQ(again.read_table("run/particles", &table_columns, &row_bytes).size(), static_cast<size_t>(14 * total));
  }
};

TEST_F(RecordsTest, AreWrittenByAllRanks) {
  write(1000, {}, false);
  read(1000);
}

TEST_F(RecordsTest, InChunks) {
  write(1000, {.chunk = {70}, .filters = Filters::compress()}, false);
  read(1000);
}

TEST_F(RecordsTest, InADatasetThatGrew) {
  for (const DatasetOptions& options : {DatasetOptions(), DatasetOptions{.chunk = {70}, .filters = Filters::compress()}}) {
    write(1000, options, true);
    read(1000);
    int64_t total = 1000;
    for (const int64_t more : {3, 0, 2000}) {
      const auto [first, mine] = rows(more);
      const auto made = whole_particles(total + first, mine);
      File file = File::append(MPI_COMM_WORLD, path(), {.sync = false});
      int64_t row_bytes = 0;
      EXPECT_EQ(file.columns("run/particles", &row_bytes)[2].name, "name");
      EXPECT_EQ(row_bytes, 14);
      file.append_rows("run/particles", more).put({{total + first}, {mine}}, records(made.data(), mine, some_columns()));
      file.commit();
      read(total += more);
    }
  }
}

TEST_F(RecordsTest, OfOtherColumnsAreNeitherPutNorGot) {
  write(10, {}, true);
  const auto other = [](size_t column, const Column& changed) {
    auto columns = some_columns();
    columns[column] = changed;
    return columns;
  };
  const auto refuse_put = [&](const std::vector<Column>& columns, const std::string& why) {
    WholeParticle one;
    File file = File::append(MPI_COMM_WORLD, path(), {.sync = false});
    Dataset dataset = file.append_rows("run/particles", 1);
    const auto put = [&] { dataset.put({{10}, {1}}, records(&one, 1, columns)); };
    EXPECT_NE(error_of(put, ErrorCode::kInvalidArgument).find(why), std::string::npos) << why;
    EXPECT_NE(error_of([&] { file.commit(); }, ErrorCode::kInvalidArgument), "");
  };
  const auto refuse_get = [&](const std::vector<Column>& columns, const std::string& why) {
    WholeParticle one;
    File file = File::open(MPI_COMM_WORLD, path());
    const auto get = [&] { file.dataset("run/particles").get({{0}, {1}}, records(&one, 1, columns)); };
    EXPECT_NE(error_of(get, ErrorCode::kInvalidArgument).find(why), std::string::npos) << why;
  };
  const auto renamed = other(0, {"weight", offsetof(WholeParticle, mass), ElementType::kFloat32});
  refuse_put(renamed, "no column 'weight'");
  refuse_get(renamed, "no column 'weight'");
  const auto text = other(1, {"id", offsetof(WholeParticle, id), ElementType::kByte, 4});
  refuse_put(text, "column 'id' is int32 in the file");
  refuse_get(text, "column 'id' is int32 in the file");
  refuse_get(other(2, {"name", offsetof(WholeParticle, name), ElementType::kByte, 5}), "only room for 5");
  refuse_put({some_columns()[0], some_columns()[1]}, "column 'name' is put by no column");
  refuse_put({some_columns()[0], some_columns()[1], some_columns()[2], some_columns()[1]}, "two columns");
  read(10);
}

TEST_F(RecordsTest, InTwoDimensionsAndWithoutRows) {
  File file = File::create(MPI_COMM_WORLD, path(), {.sync = false});
  const auto made = whole_particles(10 * rank_, 10);
  file.create_records("grid", some_columns(), {ranks_, 10})
      .put({{rank_, 0}, {1, 10}}, records(made.data(), 10, some_columns()));
  file.create_records("none", some_columns(), {0});
  file.commit();
  File reading = File::open(MPI_COMM_WORLD, path());
  std::vector<WholeParticle> column(static_cast<size_t>(ranks_));
  reading.dataset("grid").read({{0, 3}, {ranks_, 1}}, records(column.data(), ranks_, some_columns()));
  for (int64_t i = 0; i < ranks_; ++i) {
    EXPECT_EQ(column[static_cast<size_t>(i)].id, 10 * i + 3);
  }
}

TEST_F(RecordsTest, RefuseWhatIsForNumbers) {
  const auto refuse = [this](ErrorCode code, const auto& call, const std::string& why) {
    File file = File::create(MPI_COMM_WORLD, path(), {.sync = false});
    EXPECT_NE(error_of([&] { call(file); }, code).find(why), std::string::npos) << why;
    EXPECT_NE(error_of([&] { file.commit(); }, code), "");
  };
  const auto unsupported = [&](const DatasetOptions& options, const std::string& which) {
    refuse(
        ErrorCode::kUnsupported, [&](File& file) { file.create_records("x", some_columns(), {4}, options); }, which);
  };
  unsupported({.value_range = true}, "value_range is for numbers");
  unsupported({.big_endian = true}, "big_endian is for numbers");
  unsupported({.meaning = Meaning::kBoolean}, "meaning is for numbers");
  unsupported({.fill_value = 1}, "fill_value is for numbers");
  const auto invalid = [&](const auto& call, const std::string& why) { refuse(ErrorCode::kInvalidArgument, call, why); };
  invalid([](File& file) { file.create_records("x", {}, {4}); }, "need columns");
  invalid([](File& file) { file.create_records("x", {{"", 0, ElementType::kInt32}}, {4}); }, "name");
  invalid(
      [](File& file) {
        file.create_records("x", {{"a", 0, ElementType::kByte, INT64_MAX}, some_columns()[0]}, {4});
      },
      "dataset 'x'");
  const double number = 1;
  invalid(
      [&](File& file) {
        file.create_records("x", some_columns(), {4}).put({{0}, {1}}, Memory(&number, 1));
      },
      "put and get them as memory of records");
  const WholeParticle one;
  invalid(
      [&](File& file) {
        file.create_records("x", some_columns(), {4}).put({{0}, {2}}, records(&one, 1, some_columns()));
      },
      "the memory region has");
  EXPECT_THROW(records(&one, 1, 8, some_columns()), Error);
}

TEST_F(RecordsTest, OfDifferentColumnsAreRefusedOnAllRanks) {
  if (ranks_ == 1) {
    GTEST_SKIP() << "one rank agrees with itself";
  }
  auto columns = some_columns();
  columns[1].name = rank_ == 1 ? "number" : "id";
  File file = File::create(MPI_COMM_WORLD, path(), {.sync = false});
  file.create_records("x", columns, {4});
  const std::string text = error_of([&] { file.commit(); }, ErrorCode::kInvalidArgument);
  EXPECT_NE(text.find("create_records('x')"), std::string::npos) << text;
  EXPECT_NE(text.find("columns"), std::string::npos) << text;
}

}  // namespace
}  // namespace stria
