// Everything that the writer makes is read back from a real file, by plain calls of libhdf5 and by
// HDF5's own tools.
#include "container/hdf5/write/writer.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>

#include "base/byte_range.hpp"
#include "container/hdf5/test_support.hpp"

namespace stria::container {
namespace {

using test::assemble;
using test::Bytes;
using test::bytes_of;
using test::fill_flash;
using test::FlashShape;
using test::TemporaryFile;

const ElementSpec kDouble = ElementSpec::of_number(ElementType::kFloat64);
const ElementSpec kInt = ElementSpec::of_number(ElementType::kInt32);

int64_t bytes_in(const DatasetSpec& spec) {
  int64_t bytes = spec.element.bytes;
  for (const int64_t dim : spec.dims) {
    bytes *= dim;
  }
  return bytes;
}

Bytes random_bytes(std::mt19937_64& random, int64_t count) {
  Bytes bytes(static_cast<size_t>(count));
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    const uint64_t word = random();
    std::memcpy(bytes.data() + at, &word, std::min(sizeof(word), bytes.size() - at));
  }
  return bytes;
}

// Checks the ranges of the image and of raw data: they may touch but not overlap, and the last ends
// with the file.
void expect_disjoint(const SparseImage& image, const std::vector<std::pair<DatasetSpec, int64_t>>& places) {
  std::vector<ByteRange> ranges;
  for (const SparseImage::Extent& extent : image.extents) {
    ranges.push_back({extent.offset, extent.offset + static_cast<int64_t>(extent.bytes.size())});
  }
  EXPECT_TRUE(std::is_sorted(ranges.begin(), ranges.end(), [](ByteRange a, ByteRange b) { return a.begin < b.begin; }));
  for (const auto& [spec, offset] : places) {
    if (offset >= 0) {
      EXPECT_EQ(offset % spec.alignment_bytes, 0) << spec.path;
      ranges.push_back({offset, offset + bytes_in(spec)});
    }
  }
  std::sort(ranges.begin(), ranges.end(), [](ByteRange a, ByteRange b) { return a.begin < b.begin; });
  for (size_t index = 1; index < ranges.size(); ++index) {
    EXPECT_LE(ranges[index - 1].end, ranges[index].begin);
  }
  ASSERT_FALSE(ranges.empty());
  EXPECT_EQ(ranges.back().end, image.file_bytes);
}

Bytes read_plainly(hid_t file, const std::string& path) {
  const hid_t dataset = H5Dopen2(file, path.c_str(), H5P_DEFAULT);
  const hid_t type = H5Dget_type(dataset);
  const hid_t space = H5Dget_space(dataset);
  Bytes bytes(static_cast<size_t>(H5Sget_simple_extent_npoints(space)) * H5Tget_size(type));
  EXPECT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), 0) << path;
  H5Sclose(space);
  H5Tclose(type);
  H5Dclose(dataset);
  return bytes;
}

Bytes read_attribute_plainly(hid_t file, const std::string& path, const std::string& name) {
  const hid_t attribute = H5Aopen_by_name(file, path.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(attribute, 0) << path << " " << name;
  const hid_t type = H5Aget_type(attribute);
  Bytes bytes(static_cast<size_t>(H5Aget_storage_size(attribute)));
  EXPECT_GE(H5Aread(attribute, type, bytes.data()), 0);
  H5Tclose(type);
  H5Aclose(attribute);
  return bytes;
}

int run(const std::string& command) {
  return std::system((command + " > /dev/null 2>&1").c_str());
}

TEST(Hdf5Writer, FlashCheckpointIsAStandardFile) {
  Hdf5Writer writer;
  std::vector<std::pair<DatasetSpec, int64_t>> places;
  const Status status = fill_flash(writer, FlashShape{.blocks = 21}, &places);
  ASSERT_TRUE(status.ok()) << status.message();
  auto image = writer.finish();
  ASSERT_TRUE(image.ok()) << image.status().message();
  EXPECT_EQ(image->extents.size(), 1U);
  expect_disjoint(*image, places);

  std::mt19937_64 random(1);
  std::map<int64_t, Bytes> raw_data;
  for (const auto& [spec, offset] : places) {
    raw_data[offset] = random_bytes(random, bytes_in(spec));
  }
  const TemporaryFile file("flash.h5");
  file.write(assemble(*image, raw_data));
  const hid_t plain = H5Fopen(file.path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(plain, 0);
  for (const auto& [spec, offset] : places) {
    EXPECT_EQ(read_plainly(plain, spec.path), raw_data[offset]) << spec.path;
  }
  EXPECT_EQ(read_attribute_plainly(plain, "v107", "minimum"), bytes_of<double>({-1.5 * 7}));
  EXPECT_EQ(read_attribute_plainly(plain, "v123", "maximum"), bytes_of<double>({2.5 * 23}));
  EXPECT_EQ(read_plainly(plain, "sim info"), Bytes(1764, std::byte{32}));
  H5Fclose(plain);
  EXPECT_EQ(run("h5dump " + file.path()), 0);
  EXPECT_EQ(run("h5ls -rv " + file.path()), 0);
  EXPECT_EQ(run("h5stat " + file.path()), 0);
}

TEST(Hdf5Writer, FileStartsWithASuperblockOfVersion2NotMarkedOpen) {
  Hdf5Writer writer;
  ASSERT_TRUE(writer.create_dataset({"x", kDouble, {4}, 1}).ok());
  auto image = writer.finish();
  ASSERT_TRUE(image.ok());
  const Bytes& head = image->extents.at(0).bytes;
  EXPECT_EQ(image->extents.at(0).offset, 0);
  EXPECT_EQ(std::memcmp(head.data(), "\211HDF\r\n\032\n", 8), 0);
  EXPECT_EQ(head[8], std::byte{2});
  EXPECT_EQ(head[11], std::byte{0});
}

TEST(Hdf5Writer, H5pyReadsEveryDataset) {
  if (run("python3 -c 'import h5py'") != 0) {
    GTEST_SKIP() << "python3 has no h5py";
  }
  Hdf5Writer writer;
  std::vector<std::pair<DatasetSpec, int64_t>> places;
  ASSERT_TRUE(fill_flash(writer, FlashShape{}, &places).ok());
  auto image = writer.finish();
  ASSERT_TRUE(image.ok());
  const TemporaryFile file("h5py.h5");
  file.write(assemble(*image, {}));
  const std::string script =
      "import h5py, sys; f = h5py.File(sys.argv[1]); n = [f[k][...].size for k in f]; "
      "sys.exit(0 if len(n) == 43 and f['v105'].attrs['maximum'][0] == 12.5 else 1)";
  EXPECT_EQ(run("python3 -c \"" + script + "\" " + file.path()), 0);
}

TEST(Hdf5Writer, SameContentGivesTheSameBytes) {
  SparseImage images[2];
  for (SparseImage& image : images) {
    Hdf5Writer writer;
    std::vector<std::pair<DatasetSpec, int64_t>> places;
    ASSERT_TRUE(fill_flash(writer, FlashShape{}, &places).ok());
    ASSERT_TRUE(writer.create_dataset({"a/b/c", kDouble, {4}, 1}).ok());
    auto result = writer.finish();
    ASSERT_TRUE(result.ok());
    image = std::move(*result);
  }
  EXPECT_EQ(assemble(images[0], {}), assemble(images[1], {}));
  // The file doesn't depend on the time either.
  const TemporaryFile file("times.h5");
  file.write(assemble(images[0], {}));
  EXPECT_NE(run("h5ls -rv " + file.path() + " | grep Modified"), 0);
}

TEST(Hdf5Writer, ManyDatasetsStayInFewExtents) {
  Hdf5Writer writer;
  std::vector<std::pair<DatasetSpec, int64_t>> places;
  for (int index = 0; index < 2000; ++index) {
    DatasetSpec spec{"group" + std::to_string(index % 7) + "/d" + std::to_string(index), kDouble, {index % 50}, 512};
    auto offset = writer.create_dataset(spec);
    ASSERT_TRUE(offset.ok()) << offset.status().message();
    EXPECT_EQ(*offset < 0, index % 50 == 0);
    places.emplace_back(spec, *offset);
  }
  auto image = writer.finish();
  ASSERT_TRUE(image.ok());
  EXPECT_LE(image->extents.size(), 6U);
  expect_disjoint(*image, places);
  const TemporaryFile file("many.h5");
  file.write(assemble(*image, {}));
  EXPECT_EQ(run("h5stat " + file.path()), 0);
}

ElementSpec random_element(std::mt19937_64& random) {
  switch (random() % 5) {
    case 0:
      return ElementSpec::of_string(1 + static_cast<int64_t>(random() % 100), random() % 2 == 0);
    case 1:
      return ElementSpec::of_compound(40, {{"a", 0, ElementSpec::of_number(ElementType::kInt16)},
                                           {"b", 7, ElementSpec::of_number(ElementType::kFloat32)},
                                           {"text", 15, ElementSpec::of_string(20, true)}});
    default:
      return ElementSpec::of_number(static_cast<ElementType>(random() % 11));
  }
}

// Groups, datasets, tables and attributes of random sizes, so that they meet the ends of
// blocks in every way.
TEST(Hdf5Writer, RandomContentIsReadBack) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Hdf5Writer writer;
    std::vector<std::pair<DatasetSpec, int64_t>> places;
    std::map<std::string, Bytes> expected;
    std::map<std::pair<std::string, std::string>, Bytes> attributes;
    std::map<int64_t, Bytes> raw_data;
    for (int step = 0; step < 60; ++step) {
      DatasetSpec spec;
      spec.path = (random() % 3 == 0 ? ".stria/" : random() % 3 == 0 ? "a/b.c/" : "") + ("d" + std::to_string(step));
      spec.path += random() % 20 == 0 ? std::string(random() % 3000, 'n') : "";
      spec.element = random_element(random);
      for (uint64_t rank = random() % 4; rank > 0; --rank) {
        spec.dims.push_back(static_cast<int64_t>(random() % (random() % 10 == 0 ? 100 : 9)));
      }
      spec.alignment_bytes = int64_t{1} << (random() % 14);
      Bytes content = random_bytes(random, bytes_in(spec));
      if (random() % 2 == 0) {
        const Status status = writer.create_table(spec, content);
        ASSERT_TRUE(status.ok()) << status.message();
      } else {
        auto offset = writer.create_dataset(spec);
        ASSERT_TRUE(offset.ok()) << offset.status().message();
        EXPECT_EQ(*offset < 0, content.empty());
        places.emplace_back(spec, *offset);
        if (*offset >= 0) {
          raw_data[*offset] = content;
        }
      }
      expected[spec.path] = content;
      for (uint64_t count = random() % 4; count > 0; --count) {
        const auto element = random_element(random);
        const int64_t longest = random() % 8 == 0 ? 59000 : 60;
        const int64_t length = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(longest)) / element.bytes;
        auto earlier = std::next(expected.begin(), static_cast<std::ptrdiff_t>(random() % expected.size()));
        AttributeSpec attribute{earlier->first, "attr" + std::to_string(random() % 3), element, {length}, {}};
        attribute.value = random_bytes(random, length * element.bytes);
        const Status status = writer.write_attribute(attribute);
        ASSERT_TRUE(status.ok()) << status.message();
        attributes[{attribute.object_path, attribute.name}] = attribute.value;
      }
    }
    auto image = writer.finish();
    ASSERT_TRUE(image.ok()) << image.status().message();
    expect_disjoint(*image, places);
    const TemporaryFile file("random.h5");
    file.write(assemble(*image, raw_data));
    const hid_t plain = H5Fopen(file.path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    ASSERT_GE(plain, 0);
    for (const auto& [path, content] : expected) {
      EXPECT_EQ(read_plainly(plain, path), content) << path;
    }
    for (const auto& [key, value] : attributes) {
      EXPECT_EQ(read_attribute_plainly(plain, key.first, key.second), value) << key.first << " " << key.second;
    }
    H5Fclose(plain);
    EXPECT_EQ(run("h5stat " + file.path()), 0);
  }
}

TEST(Hdf5Writer, BigEndianTablesAreSwappedInTheFile) {
  Hdf5Writer writer;
  ElementSpec big = kInt;
  big.big_endian = true;
  ASSERT_TRUE(writer.create_table({"big", big, {2}, 1}, bytes_of<int32_t>({1, -2})).ok());
  auto image = writer.finish();
  ASSERT_TRUE(image.ok());
  const TemporaryFile file("big.h5");
  file.write(assemble(*image, {}));
  const hid_t plain = H5Fopen(file.path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const Bytes expected{std::byte{0},    std::byte{0},    std::byte{0},    std::byte{1},
                       std::byte{0xff}, std::byte{0xff}, std::byte{0xff}, std::byte{0xfe}};
  EXPECT_EQ(read_plainly(plain, "big"), expected);
  H5Fclose(plain);
}

TEST(Hdf5Writer, ScalarsHaveOneElement) {
  Hdf5Writer writer;
  ASSERT_TRUE(writer.create_table({"scalar", kInt, {}, 1}, bytes_of<int32_t>({42})).ok());
  ASSERT_TRUE(writer.write_attribute({"/", "answer", kInt, {}, bytes_of<int32_t>({43})}).ok());
  auto image = writer.finish();
  ASSERT_TRUE(image.ok());
  const TemporaryFile file("scalar.h5");
  file.write(assemble(*image, {}));
  const hid_t plain = H5Fopen(file.path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  EXPECT_EQ(read_plainly(plain, "scalar"), bytes_of<int32_t>({42}));
  EXPECT_EQ(read_attribute_plainly(plain, "/", "answer"), bytes_of<int32_t>({43}));
  H5Fclose(plain);
}

TEST(Hdf5Writer, BadInputIsRefusedAndNamed) {
  Hdf5Writer writer;
  ASSERT_TRUE(writer.create_dataset({"dens", kDouble, {4}, 1}).ok());
  const auto refused = [&](const DatasetSpec& spec, ErrorCode code) {
    auto result = writer.create_dataset(spec);
    EXPECT_EQ(result.status().code(), code) << result.status().message();
    EXPECT_NE(result.status().message().find("'" + spec.path + "'"), std::string::npos) << result.status().message();
  };
  refused({"dens", kDouble, {4}, 1}, ErrorCode::kAlreadyExists);
  refused({"dens/below", kDouble, {4}, 1}, ErrorCode::kInvalidArgument);
  refused({"", kDouble, {4}, 1}, ErrorCode::kInvalidArgument);
  refused({"a//b", kDouble, {4}, 1}, ErrorCode::kInvalidArgument);
  refused({"a/./b", kDouble, {4}, 1}, ErrorCode::kInvalidArgument);
  refused({"negative", kDouble, {-1}, 1}, ErrorCode::kInvalidArgument);
  refused({"huge", kDouble, {int64_t{1} << 62, 4}, 1}, ErrorCode::kInvalidArgument);
  refused({"alignment", kDouble, {4}, 0}, ErrorCode::kInvalidArgument);
  refused({"rank", kDouble, std::vector<int64_t>(33, 1), 1}, ErrorCode::kInvalidArgument);
  refused({"text", ElementSpec::of_string(0, true), {4}, 1}, ErrorCode::kInvalidArgument);
  refused({"compound", ElementSpec::of_compound(4, {{"x", 0, kDouble}}), {4}, 1}, ErrorCode::kInvalidArgument);
  EXPECT_EQ(writer.create_table({"short", kInt, {2}, 1}, Bytes(4)).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(writer.write_attribute({"none", "a", kInt, {1}, Bytes(4)}).code(), ErrorCode::kNotFound);
  EXPECT_EQ(writer.write_attribute({"dens", "a", kInt, {2}, Bytes(4)}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(writer.create_group("dens").code(), ErrorCode::kAlreadyExists);
  EXPECT_TRUE(writer.create_group("a/b").ok());
  EXPECT_TRUE(writer.create_group("a/b").ok());
  auto image = writer.finish();
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(writer.finish().status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(writer.create_group("late").code(), ErrorCode::kInvalidArgument);
  const TemporaryFile file("refused.h5");
  file.write(assemble(*image, {}));
  EXPECT_EQ(run("h5dump " + file.path()), 0);
}

TEST(Hdf5Writer, AttributesMayBeManyButNotLarge) {
  Hdf5Writer writer;
  ASSERT_TRUE(writer.create_dataset({"x", kInt, {1}, 1}).ok());
  for (int32_t index = 0; index < 200; ++index) {
    ASSERT_TRUE(writer.write_attribute({"x", "a" + std::to_string(index), kInt, {1}, bytes_of<int32_t>({index})}).ok());
  }
  EXPECT_EQ(writer.write_attribute({"x", "large", kInt, {20000}, Bytes(80000)}).code(), ErrorCode::kUnsupported);
  auto image = writer.finish();
  ASSERT_TRUE(image.ok()) << image.status().message();
  const TemporaryFile file("attributes.h5");
  file.write(assemble(*image, {}));
  const hid_t plain = H5Fopen(file.path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  for (int32_t index = 0; index < 200; ++index) {
    EXPECT_EQ(read_attribute_plainly(plain, "x", "a" + std::to_string(index)), bytes_of<int32_t>({index}));
  }
  H5Fclose(plain);
}

TEST(Hdf5Writer, ReservedAttributesGetTheirValuesLast) {
  Hdf5Writer writer;
  ElementSpec big = ElementSpec::of_number(ElementType::kInt32);
  big.big_endian = true;
  std::vector<int> numbers;
  for (const std::string name : {"x", "y"}) {
    ASSERT_TRUE(writer.create_dataset({name, kInt, {1}, 1}).ok());
    for (const std::string attribute : {"filled", "unfilled", "set", "set and filled"}) {
      auto number = writer.reserve_attribute({name, attribute, big, {1}, bytes_of<int32_t>({-1})});
      ASSERT_TRUE(number.ok()) << number.status().message();
      numbers.push_back(*number);
    }
  }
  EXPECT_EQ(writer.reserve_attribute({"x", "filled", kInt, {1}, Bytes(4)}).status().code(), ErrorCode::kAlreadyExists);
  ASSERT_TRUE(writer.create_dataset({"z", kInt, {1}, 1}).ok());
  ASSERT_TRUE(writer.write_attribute({"x", "set", kDouble, {1}, bytes_of<double>({2.5})}).ok());
  ASSERT_TRUE(writer.write_attribute({"x", "set and filled", kDouble, {1}, bytes_of<double>({2.5})}).ok());
  using Values = std::vector<std::pair<int, Bytes>>;
  ASSERT_TRUE(writer.fill_attributes(Values{{numbers[0], bytes_of<int32_t>({7})}, {numbers[4], bytes_of<int32_t>({8})}}).ok());
  ASSERT_TRUE(writer.fill_attributes(Values{{numbers[3], bytes_of<int32_t>({9})}}).ok());
  // It has a value already.
  EXPECT_EQ(writer.fill_attributes(Values{{numbers[0], Bytes(4)}}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(writer.fill_attributes(Values{{numbers[1], Bytes(5)}}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(writer.fill_attributes(Values{{8, Bytes(4)}}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(writer.fill_attributes(Values{{-1, Bytes(4)}}).code(), ErrorCode::kInvalidArgument);
  auto image = writer.finish();
  ASSERT_TRUE(image.ok()) << image.status().message();
  const TemporaryFile file("reserved.h5");
  file.write(assemble(*image, {}));
  const hid_t plain = H5Fopen(file.path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(plain, 0);
  // big-endian, as it is in the file.
  const Bytes seven{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{7}};
  EXPECT_EQ(read_attribute_plainly(plain, "x", "filled"), seven);
  EXPECT_EQ(read_attribute_plainly(plain, "y", "filled").back(), std::byte{8});
  EXPECT_EQ(read_attribute_plainly(plain, "x", "set and filled").back(), std::byte{9});
  EXPECT_EQ(read_attribute_plainly(plain, "x", "set"), bytes_of<double>({2.5}));
  for (const std::string name : {"x", "y"}) {
    EXPECT_EQ(H5Aexists_by_name(plain, name.c_str(), "unfilled", H5P_DEFAULT), 0);
  }
  EXPECT_EQ(H5Aexists_by_name(plain, "y", "set", H5P_DEFAULT), 0);
  H5Fclose(plain);
}

TEST(Hdf5Writer, NamesAndStringsBeyondAsciiAreDeclaredAsUtf8) {
  Hdf5Writer writer;
  const Bytes padded = bytes_of(std::vector<char>{'D', 'i', 'c', 'h', 't', 'e', ' ', 'd', 'i', 'c', 'h', 't', '\303', '\251'});
  for (const char* name : {"plain", "größe"}) {
    DatasetSpec spec;
    spec.path = name;
    spec.element = ElementSpec::of_string(7, true);
    spec.dims = {*name == 'p' ? 1 : 2};
    ASSERT_TRUE(writer.create_table(spec, std::span(padded).first(*name == 'p' ? 7 : 14)).ok());
  }
  using Member = ElementSpec::Member;
  DatasetSpec table;
  table.path = "table";
  table.element = ElementSpec::of_compound(
      14, {Member{"a", 0, ElementSpec::of_string(7, true)}, Member{"b", 7, ElementSpec::of_string(7, true)}});
  ASSERT_TRUE(writer.create_table({table.path, table.element, {1}}, padded).ok());
  for (const char* name : {"unit", "größe"}) {
    ASSERT_TRUE(writer.write_attribute({"plain", name, kInt, {}, Bytes(4)}).ok());
  }
  TemporaryFile file("utf8.h5");
  file.write(assemble(writer.finish().value(), {}));
  const hid_t opened = H5Fopen(file.path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(opened, 0);
  const auto charset_of_link = [&](const char* name) {
    H5L_info_t info;
    EXPECT_GE(H5Lget_info(opened, name, &info, H5P_DEFAULT), 0) << name;
    return info.cset;
  };
  EXPECT_EQ(charset_of_link("plain"), H5T_CSET_ASCII);
  EXPECT_EQ(charset_of_link("größe"), H5T_CSET_UTF8);
  const auto type_of = [&](const char* name) {
    const hid_t dataset = H5Dopen2(opened, name, H5P_DEFAULT);
    const hid_t type = H5Dget_type(dataset);
    H5Dclose(dataset);
    return type;
  };
  const auto charset_of_type = [](hid_t type) {
    const H5T_cset_t charset = H5Tget_cset(type);
    H5Tclose(type);
    return charset;
  };
  EXPECT_EQ(charset_of_type(type_of("plain")), H5T_CSET_ASCII);
  EXPECT_EQ(charset_of_type(type_of("größe")), H5T_CSET_UTF8);
  const hid_t compound = type_of("table");
  EXPECT_EQ(charset_of_type(H5Tget_member_type(compound, 0)), H5T_CSET_ASCII);
  EXPECT_EQ(charset_of_type(H5Tget_member_type(compound, 1)), H5T_CSET_UTF8);
  H5Tclose(compound);
  for (const char* name : {"unit", "größe"}) {
    H5A_info_t info;
    ASSERT_GE(H5Aget_info_by_name(opened, "plain", name, &info, H5P_DEFAULT), 0);
    EXPECT_EQ(info.cset, *name == 'u' ? H5T_CSET_ASCII : H5T_CSET_UTF8);
  }
  H5Fclose(opened);
}

TEST(Hdf5Writer, NoMessageSpeaksOfAttributesThatNeverGotAValue) {
  Bytes images[2];
  for (const bool reserves : {false, true}) {
    Hdf5Writer writer;
    ASSERT_TRUE(writer.create_dataset({"a", kDouble, {3}}).ok());
    if (reserves) {
      ASSERT_TRUE(writer.reserve_attribute({"a", "minimum", kDouble, {1}, Bytes(8)}).ok());
    }
    images[reserves] = assemble(writer.finish().value(), {});
  }
  EXPECT_EQ(images[0], images[1]);
}

TEST(Hdf5Writer, TheFileMayBeLargerThanAnyDisk) {
  Hdf5Writer writer;
  const int64_t large = int64_t{1} << 58;
  ASSERT_TRUE(writer.create_dataset({"a", kDouble, {large}, 4096}).ok());
  auto second = writer.create_dataset({"b", kDouble, {large}, 4096});
  ASSERT_TRUE(second.ok());
  EXPECT_GE(*second, 8 * large);
  EXPECT_FALSE(writer.create_dataset({"c", kDouble, {3 * large}, 4096}).ok());
  auto image = writer.finish();
  ASSERT_TRUE(image.ok()) << image.status().message();
  EXPECT_EQ(image->file_bytes, *second + 8 * large);
}

TEST(Hdf5Writer, ThreadsMayEachHaveAWriter) {
  std::vector<Bytes> files(4);
  std::vector<std::thread> threads;
  for (Bytes& file : files) {
    threads.emplace_back([&file] {
      for (int round = 0; round < 5; ++round) {
        Hdf5Writer writer;
        std::vector<std::pair<DatasetSpec, int64_t>> places;
        if (fill_flash(writer, FlashShape{}, &places).ok()) {
          auto image = writer.finish();
          file = image.ok() ? assemble(*image, {}) : Bytes();
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_FALSE(files[0].empty());
  for (const Bytes& file : files) {
    EXPECT_EQ(file, files[0]);
  }
}

}  // namespace
}  // namespace stria::container
