// Elements of which libhdf5 makes others in memory: text of any length in records, and numbers of
// which not all bits count, with and without the filter nbit.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "container/hdf5/read/libhdf5/library.hpp"
#include "container/hdf5/read/reader.hpp"
#include "container/hdf5/test_support.hpp"

namespace stria::container {
namespace {

using h5::Id;
using test::BytesFile;
using test::TemporaryFile;
using Kind = ElementSpec::Kind;

test::Bytes made_by(const std::function<void(hid_t)>& fill) {
  const TemporaryFile file("remade.h5");
  const hid_t made = H5Fcreate(file.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(made, 0);
  fill(made);
  EXPECT_GE(H5Fclose(made), 0);
  return file.read();
}

void add(hid_t file, const char* name, hid_t type, hsize_t count, hid_t memory_type, const void* values,
         hid_t creation = H5P_DEFAULT) {
  const Id space(H5Screate_simple(1, &count, nullptr));
  const Id dataset(H5Dcreate2(file, name, type, space.get(), H5P_DEFAULT, creation, H5P_DEFAULT));
  EXPECT_GE(H5Dwrite(dataset.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0) << name;
}

Id text_type() {
  Id type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), H5T_VARIABLE);
  return type;
}

struct Row {
  int32_t number;
  const char* text;
  const char* pair[2];
  hvl_t list;
};

constexpr std::array<Row, 3> kRows = {Row{1, "one", {"", "x"}, {}}, Row{-2, "", {"yy", "zzz"}, {}},
                                      Row{3, "a longer one", {"q", ""}, {}}};

/// Returns the file's type, or the one in memory.
Id record_type(bool in_memory) {
  const Id text = text_type(), list(H5Tvlen_create(H5T_NATIVE_INT));
  const hsize_t two = 2;
  const Id pair(H5Tarray_create2(text.get(), 1, &two));
  Id type(H5Tcreate(H5T_COMPOUND, sizeof(Row)));
  H5Tinsert(type.get(), "number", offsetof(Row, number), in_memory ? H5T_NATIVE_INT32 : H5T_STD_I32BE);
  H5Tinsert(type.get(), "text", offsetof(Row, text), text.get());
  H5Tinsert(type.get(), "pair", offsetof(Row, pair), pair.get());
  H5Tinsert(type.get(), "list", offsetof(Row, list), list.get());
  return type;
}

std::string string_at(const std::vector<std::byte>& bytes, int64_t offset, size_t length) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()) + offset, length);
  return text.substr(0, text.find('\0'));
}

TEST(Hdf5Remade, TextsOfRecordsAreAsLongAsTheLongest) {
  BytesFile file(made_by(
      [](hid_t made) { add(made, "rows", record_type(false).get(), kRows.size(), record_type(true).get(), kRows.data()); }));
  const auto reader = Hdf5Reader::open(file).value();
  const DatasetInfo info = reader->dataset("rows").value();
  ASSERT_EQ(info.spec.element.kind, Kind::kCompound);
  EXPECT_EQ(info.data_offset, -1);
  const auto& members = info.spec.element.members;
  ASSERT_EQ(members.size(), 4u);
  EXPECT_TRUE(members[1].element.varies);
  EXPECT_EQ(members[1].element.bytes, 12);
  EXPECT_EQ(members[2].element.kind, Kind::kArray);
  EXPECT_EQ(members[2].element.bytes, 6);
  EXPECT_EQ(members[3].element.bytes, 0) << "a list of numbers can't be read";
  EXPECT_EQ(info.spec.element.bytes, 4 + 12 + 6);
  std::vector<std::byte> rows(2 * 22);
  const std::vector<int64_t> start = {1}, count = {2};
  ASSERT_TRUE(reader->read_hyperslab("rows", start, count, rows).ok());
  int32_t number = 0;
  std::memcpy(&number, rows.data(), sizeof number);
  EXPECT_EQ(number, -2);
  EXPECT_EQ(string_at(rows, 4, 12), "");
  EXPECT_EQ(string_at(rows, 16, 3), "yy");
  EXPECT_EQ(string_at(rows, 19, 3), "zzz");
  EXPECT_EQ(string_at(rows, 22 + 4, 12), "a longer one");
}

// Returns a type of 11 bits behind 3 others, big-endian.
Id reduced_type() {
  Id type(H5Tcopy(H5T_STD_I16BE));
  H5Tset_precision(type.get(), 11);
  H5Tset_offset(type.get(), 3);
  return type;
}

TEST(Hdf5Remade, NumbersOfFewerBits) {
  const std::array<int16_t, 5> values = {-1024, -1, 0, 511, 1023};
  const std::array<float, 2> halves = {1.5f, -0.25f};
  const int16_t fill = -7;
  BytesFile file(made_by([&](hid_t made) {
    const Id nbit(H5Pcreate(H5P_DATASET_CREATE));
    const hsize_t chunk = 2;
    H5Pset_chunk(nbit.get(), 1, &chunk);
    H5Pset_nbit(nbit.get());
    H5Pset_fill_value(nbit.get(), H5T_NATIVE_INT16, &fill);
    add(made, "nbit", reduced_type().get(), values.size(), H5T_NATIVE_INT16, values.data(), nbit.get());
    add(made, "plain", reduced_type().get(), values.size(), H5T_NATIVE_INT16, values.data());
    const Id brain(H5Tcopy(H5T_IEEE_F32LE));  // 8 bits of exponent and 7 of mantissa
    H5Tset_fields(brain.get(), 15, 7, 8, 0, 7);
    H5Tset_precision(brain.get(), 16);
    add(made, "float", brain.get(), halves.size(), H5T_NATIVE_FLOAT, halves.data());
  }));
  const auto reader = Hdf5Reader::open(file).value();
  const std::vector<int64_t> start = {0}, count = {5}, two = {2};
  for (const char* name : {"nbit", "plain"}) {
    const DatasetInfo info = reader->dataset(name).value();
    EXPECT_EQ(info.spec.element.number, ElementType::kInt16) << name;
    EXPECT_EQ(info.spec.element.is_swapped(), false);
    EXPECT_FALSE(info.spec.chunking.has_value());
    EXPECT_EQ(info.data_offset, -1);
    std::array<int16_t, 5> found{};
    ASSERT_TRUE(reader->read_hyperslab(name, start, count, std::as_writable_bytes(std::span(found))).ok());
    EXPECT_EQ(found, values) << name;
  }
  int16_t found_fill = 0;
  const auto& fill_bytes = reader->dataset("nbit").value().spec.fill_value;
  ASSERT_EQ(fill_bytes.size(), sizeof fill);
  std::memcpy(&found_fill, fill_bytes.data(), sizeof fill);
  EXPECT_EQ(found_fill, fill);
  EXPECT_EQ(reader->dataset("float").value().spec.element.number, ElementType::kFloat32);
  std::array<float, 2> found{};
  ASSERT_TRUE(reader->read_hyperslab("float", start, two, std::as_writable_bytes(std::span(found))).ok());
  EXPECT_EQ(found, halves);
}

}  // namespace
}  // namespace stria::container
