// Records that are converted on their way: other widths, orders, byte orders, arrays, and records
// within records, by all ranks.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "datatype/convert/half.hpp"
#include "file/tests/file_fixture_test.hpp"

namespace stria {
namespace {

using test::error_of;
using test::FileTest;

struct Point {
  float x = -1, y = -1;
};

struct Particle {
  int32_t id = -1;
  double mass = -1;
  Point position{};
  float velocity[3] = {-1, -1, -1};
  Point corners[2]{};
  uint8_t alive = 9;
  char name[8] = "-------";
};

std::vector<Column> of_point(ElementType number, bool big_endian = false) {
  const int64_t bytes = element_bytes(number);
  return {{.name = "x", .offset_bytes = 0, .number = number, .big_endian = big_endian},
          {.name = "y", .offset_bytes = bytes, .number = number, .big_endian = big_endian}};
}

// Returns the columns of the structs.
std::vector<Column> all_columns() {
  constexpr ElementType kFloat = ElementType::kFloat32;
  return {
      {"id", offsetof(Particle, id), ElementType::kInt32},
      {"mass", offsetof(Particle, mass), ElementType::kFloat64},
      {.name = "position", .offset_bytes = offsetof(Particle, position), .members = of_point(kFloat), .record_bytes = 8},
      {.name = "velocity", .offset_bytes = offsetof(Particle, velocity), .number = kFloat, .dims = {3}},
      {.name = "corners",
       .offset_bytes = offsetof(Particle, corners),
       .dims = {2},
       .members = of_point(kFloat),
       .record_bytes = 8},
      {.name = "alive", .offset_bytes = offsetof(Particle, alive), .number = ElementType::kUint8, .meaning = Meaning::kBoolean},
      {"name", offsetof(Particle, name), ElementType::kByte, 8}};
}

// Returns the columns of another program: in another order, narrower, big-endian, of half
// precision.
std::vector<Column> columns_of_file() {
  constexpr ElementType kDouble = ElementType::kFloat64;
  return {{"name", 0, ElementType::kByte, 5},
          {.name = "velocity", .number = ElementType::kUint16, .meaning = Meaning::kHalf, .dims = {3}, .big_endian = true},
          {.name = "alive", .number = ElementType::kUint8, .meaning = Meaning::kBoolean},
          {.name = "position", .members = of_point(kDouble, true), .record_bytes = 16},
          {.name = "mass", .number = ElementType::kFloat32, .big_endian = true},
          {.name = "corners", .dims = {2}, .members = of_point(ElementType::kInt16, true), .record_bytes = 4},
          {.name = "id", .number = ElementType::kInt64, .big_endian = true}};
}

Particle particle(int64_t number) {
  const auto value = static_cast<float>(number);
  Particle made{.id = static_cast<int32_t>(-number),
                .mass = 0.25 * value,
                .position = {value, -value},
                .velocity = {0.5f, 2 * value, -value},
                .corners = {{value, 1}, {2, -value}},
                .alive = static_cast<uint8_t>(number % 2)};
  std::memcpy(made.name, number % 2 == 0 ? "even\0\0\0\0" : "odd\0\0\0\0\0", sizeof made.name);
  return made;
}

std::vector<Particle> particles(int64_t first, int64_t count) {
  std::vector<Particle> made;
  for (int64_t i = 0; i < count; ++i) {
    made.push_back(particle(first + i));
  }
  return made;
}

void expect_equal(const Particle& found, const Particle& wanted) {
  EXPECT_EQ(found.id, wanted.id);
  EXPECT_EQ(found.mass, wanted.mass);
  EXPECT_EQ(found.position.x, wanted.position.x);
  EXPECT_EQ(found.position.y, wanted.position.y);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found.velocity[i], wanted.velocity[i]);
  }
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(found.corners[i].x, wanted.corners[i].x);
    EXPECT_EQ(found.corners[i].y, wanted.corners[i].y);
  }
  EXPECT_EQ(found.alive, wanted.alive);
  EXPECT_STREQ(found.name, wanted.name);
}

class ConvertedRecordsTest : public FileTest {
 protected:
  static constexpr int64_t kTotal = 500;

  void write(const DatasetOptions& options) {
    const auto [first, mine] = rows(kTotal);
    auto made = particles(first, mine);
    File file = File::create(MPI_COMM_WORLD, path(), {.sync = false});
    Dataset dataset = file.create_records("particles", columns_of_file(), {kTotal}, options);
    EXPECT_EQ(dataset.type_name(), "record[48]");
    dataset.put({{first}, {mine}}, records(made.data(), mine, all_columns()));
    std::fill(made.begin(), made.end(), Particle());  // the put has a copy
    file.commit();
  }

  /// Every rank reads the share of another one.
  void read() {
    File file = File::open(MPI_COMM_WORLD, path(), {.verify = true});
    const int64_t first = (ranks_ - 1 - rank_) * kTotal / ranks_, last = (ranks_ - rank_) * kTotal / ranks_;
    std::vector<Particle> found(static_cast<size_t>(last - first));
    Dataset dataset = file.dataset("particles");
    dataset.get({{first}, {last - first}}, records(found.data(), last - first, all_columns()));
    file.commit();
    for (size_t i = 0; i < found.size(); ++i) {
      expect_equal(found[i], particle(first + static_cast<int64_t>(i)));
    }
    EXPECT_TRUE(file.verify().empty());
  }
};

TEST_F(ConvertedRecordsTest, InOnePieceAndInChunks) {
  write({});
  read();
  write({.chunk = {64}, .filters = Filters::compress()});
  read();
}

TEST_F(ConvertedRecordsTest, SomeColumnsAreGotAndTheRestStays) {
  write({});
  File file = File::open(MPI_COMM_WORLD, path());
  std::vector<Particle> found(3);
  const std::vector<Column> some = {{"velocity[2]", offsetof(Particle, velocity) + 8, ElementType::kFloat32},
                                    {"position.y", offsetof(Particle, position) + 4, ElementType::kFloat32},
                                    {"corners[1].x", offsetof(Particle, corners) + 8, ElementType::kFloat32}};
  file.dataset("particles").read({{7}, {3}}, records(found.data(), 3, some));
  for (int i = 0; i < 3; ++i) {
    const Particle& one = found[static_cast<size_t>(i)];
    EXPECT_EQ(one.velocity[2], static_cast<float>(-7 - i));
    EXPECT_EQ(one.position.y, static_cast<float>(-7 - i));
    EXPECT_EQ(one.corners[1].x, 2);
    EXPECT_EQ(one.velocity[1], -1);
    EXPECT_EQ(one.position.x, -1);
    EXPECT_EQ(one.corners[1].y, -1);
    EXPECT_EQ(one.id, -1);
  }
}

TEST_F(ConvertedRecordsTest, ColumnsDescribeThemAndTheirBytes) {
  write({});
  File file = File::open(MPI_COMM_WORLD, path());
  int64_t row_bytes = 0;
  const std::vector<Column> columns = file.columns("particles", &row_bytes);
  ASSERT_EQ(columns.size(), 7u);
  EXPECT_EQ(row_bytes, 48);
  EXPECT_EQ(columns[1].meaning, Meaning::kHalf);
  EXPECT_EQ(columns[1].dims, std::vector<int64_t>{3});
  EXPECT_TRUE(columns[1].big_endian);
  EXPECT_EQ(columns[3].members[1].name, "y");
  EXPECT_EQ(columns[5].dims, std::vector<int64_t>{2});
  EXPECT_EQ(columns[5].members[0].number, ElementType::kInt16);
  // Bytes, without columns, and those of a table are in the machine's byte order.
  std::vector<std::byte> bytes(static_cast<size_t>(2 * row_bytes));
  file.dataset("particles").read({{5}, {2}}, Memory(bytes.data(), Datatype::bytes(2 * row_bytes), ElementType::kByte));
  std::vector<Column> again;
  const std::vector<std::byte> table = file.read_table("particles", &again, &row_bytes);
  for (const std::byte* row : {static_cast<const std::byte*>(bytes.data()), table.data() + 5 * row_bytes}) {
    int64_t id = 0;
    uint16_t half = 0;
    std::memcpy(&id, row + columns[6].offset_bytes, sizeof id);
    std::memcpy(&half, row + columns[1].offset_bytes + 2, sizeof half);
    EXPECT_EQ(id, -5);
    EXPECT_EQ(widen_half(half), 10);
  }
}

TEST(FlatColumns, HavePaths) {
  const std::vector<Column> columns = {
      {"a.b", 0, ElementType::kInt32},
      {.name = "p.q", .offset_bytes = 4, .dims = {1, 2}, .members = of_point(ElementType::kInt8), .record_bytes = 3},
      {.name = "z", .offset_bytes = 10, .number = ElementType::kFloat32, .meaning = Meaning::kComplex},
      {.name = "v", .offset_bytes = 18, .number = ElementType::kInt16, .dims = {2}}};
  const std::vector<std::pair<std::string, int64_t>> wanted = {{"a.b", 0},           {"p\\.q[0][0].x", 4}, {"p\\.q[0][0].y", 5},
                                                               {"p\\.q[0][1].x", 7}, {"p\\.q[0][1].y", 8}, {"z.r", 10},
                                                               {"z.i", 14},          {"v[0]", 18},         {"v[1]", 20}};
  std::vector<std::pair<std::string, int64_t>> found;
  for (const Column& column : flat_columns(columns, 22)) {
    found.emplace_back(column.name, column.offset_bytes);
  }
  EXPECT_EQ(found, wanted);
  const std::vector<Column> many = {{.name = "v", .number = ElementType::kInt8, .dims = {1 << 21}}};
  EXPECT_THROW(flat_columns(many, 1 << 21), Error);
}

TEST_F(ConvertedRecordsTest, WhatIsNoColumnIsRefused) {
  const auto refuse = [this](const std::vector<Column>& columns, const std::string& why) {
    File file = File::create(MPI_COMM_WORLD, path(), {.sync = false});
    const auto create = [&] { file.create_records("x", columns, {4}); };
    const std::string error = error_of(create, ErrorCode::kInvalidArgument);
    EXPECT_NE(error.find(why), std::string::npos) << error;
    EXPECT_NE(error_of([&] { file.commit(); }, ErrorCode::kInvalidArgument), "");
  };
  refuse({{.name = "v", .number = ElementType::kInt8, .dims = {0}}}, "an array of 0 elements");
  refuse({{.name = "v", .number = ElementType::kInt64, .dims = {INT64_MAX, 2}}}, "an array of");
  refuse({{.name = "h", .number = ElementType::kInt32, .meaning = Meaning::kHalf}}, "half precision");
  refuse({{.name = "p", .members = {{"", 0, ElementType::kInt8}}, .record_bytes = 1}}, "name");
  EXPECT_THROW(
      records(static_cast<Particle*>(nullptr), 0, {{.name = "p", .members = of_point(ElementType::kInt32), .record_bytes = 4}}),
      Error);
}

}  // namespace
}  // namespace stria
