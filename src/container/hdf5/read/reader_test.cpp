// Files of every kind, made by plain calls of libhdf5, are read through the container; and those
// of the writer.
#include "container/hdf5/read/reader.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>

#include "container/hdf5/test_support.hpp"

namespace stria::container {
namespace {

using test::assemble;
using test::Bytes;
using test::bytes_of;
using test::BytesFile;
using test::fill_flash;
using test::FlashShape;
using test::TemporaryFile;
using LayoutKind = DatasetInfo::Layout;
using Kind = ElementSpec::Kind;

// A file that `fill` made with libhdf5, opened by the reader.
class PlainFile {
 public:
  explicit PlainFile(const std::function<void(hid_t)>& fill, hid_t creation = H5P_DEFAULT, hid_t access = H5P_DEFAULT)
      : PlainFile(make(fill, creation, access)) {}
  explicit PlainFile(Bytes bytes) : storage(std::move(bytes)) {
    auto opened = Hdf5Reader::open(storage);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    reader = opened.ok() ? std::move(*opened) : nullptr;
  }

  static Bytes make(const std::function<void(hid_t)>& fill, hid_t creation = H5P_DEFAULT, hid_t access = H5P_DEFAULT) {
    const TemporaryFile file("plain.h5");
    const hid_t made = H5Fcreate(file.path().c_str(), H5F_ACC_TRUNC, creation, access);
    EXPECT_GE(made, 0);
    fill(made);
    EXPECT_GE(H5Fclose(made), 0);
    return file.read();
  }

  BytesFile storage;
  std::unique_ptr<Hdf5Reader> reader;
};

struct Creation {
  hid_t id = H5Pcreate(H5P_DATASET_CREATE);
  Creation() = default;
  Creation(const Creation&) = delete;
  Creation& operator=(const Creation&) = delete;
  ~Creation() { H5Pclose(id); }
};

// Makes a dataset and writes its values, unless `values` is null.
void add(hid_t file, const char* name, hid_t type, const std::vector<hsize_t>& dims, const void* values, hid_t memory_type,
         hid_t creation = H5P_DEFAULT) {
  const hid_t space =
      dims.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
  const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  EXPECT_GE(dataset, 0) << name;
  if (values != nullptr) {
    EXPECT_GE(H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
  }
  H5Dclose(dataset);
  H5Sclose(space);
}

std::vector<double> ramp(size_t count) {
  std::vector<double> values(count);
  for (size_t index = 0; index < count; ++index) {
    values[index] = static_cast<double>(index % 100);
  }
  return values;
}

Bytes read_all(const Hdf5Reader& reader, const std::string& path) {
  auto info = reader.dataset(path);
  EXPECT_TRUE(info.ok()) << info.status().message();
  int64_t bytes = info->spec.element.bytes;
  for (const int64_t dim : info->spec.dims) {
    bytes *= dim;
  }
  Bytes out(static_cast<size_t>(bytes));
  const std::vector<int64_t> start(info->spec.dims.size(), 0);
  const Status status = reader.read_hyperslab(path, start, info->spec.dims, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

TEST(Hdf5Reader, ReadsWhatTheWriterMade) {
  Hdf5Writer writer;
  std::vector<std::pair<DatasetSpec, int64_t>> places;
  ASSERT_TRUE(fill_flash(writer, FlashShape{}, &places).ok());
  ASSERT_TRUE(
      writer.create_table({".stria/v1/sums", ElementSpec::of_number(ElementType::kByte), {3}, 1}, Bytes(3, std::byte{7})).ok());
  auto image = writer.finish();
  ASSERT_TRUE(image.ok());
  PlainFile file(assemble(*image, {}));
  ASSERT_NE(file.reader, nullptr);
  auto names = file.reader->list();
  ASSERT_TRUE(names.ok()) << names.status().message();
  EXPECT_EQ(names->size(), 46U);
  EXPECT_EQ((*names)[0], ".stria/");
  EXPECT_EQ((*names)[1], ".stria/v1/");
  EXPECT_EQ((*names)[2], ".stria/v1/sums");
  EXPECT_EQ((*names)[3], "bflags");
  for (const auto& [spec, offset] : places) {
    auto info = file.reader->dataset(spec.path);
    ASSERT_TRUE(info.ok()) << info.status().message();
    EXPECT_EQ(info->data_offset, offset);
    EXPECT_EQ(info->spec.dims, spec.dims);
    EXPECT_EQ(info->spec.element.number, spec.element.number);
    EXPECT_EQ(info->layout, LayoutKind::kContiguous);
  }
  auto info = file.reader->dataset("/sim info");
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->spec.element.kind, Kind::kCompound);
  EXPECT_EQ(info->spec.element.bytes, 1764);
  EXPECT_EQ(info->spec.element.members.at(10).name, "build time stamp");
  EXPECT_EQ(info->spec.element.members.at(10).offset_bytes, 1684);
  EXPECT_TRUE(info->spec.element.members.at(10).element.space_padded);
  EXPECT_EQ(read_all(*file.reader, "sim info"), Bytes(1764, std::byte{32}));
  EXPECT_EQ(read_all(*file.reader, ".stria/v1/sums"), Bytes(3, std::byte{7}));
  auto names_of = file.reader->attribute_names("v103");
  ASSERT_TRUE(names_of.ok());
  EXPECT_EQ(*names_of, (std::vector<std::string>{"maximum", "minimum"}));
  auto attribute = file.reader->attribute("v103", "maximum");
  ASSERT_TRUE(attribute.ok());
  EXPECT_EQ(attribute->value, bytes_of<double>({7.5}));
  EXPECT_EQ(attribute->dims, std::vector<int64_t>{1});
  EXPECT_EQ(file.storage.read_count, 3);  // the metadata's one page, and two tables' data
}

struct LayoutCase {
  const char* name;
  LayoutKind layout;
  bool direct;
  std::function<void(hid_t)> set;
};

std::vector<LayoutCase> layout_cases() {
  static const hsize_t kChunk[3] = {3, 4, 5};
  return {{"contiguous", LayoutKind::kContiguous, true, [](hid_t) {}},
          {"early", LayoutKind::kContiguous, true, [](hid_t list) { H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY); }},
          {"compact", LayoutKind::kCompact, false, [](hid_t list) { H5Pset_layout(list, H5D_COMPACT); }},
          {"chunked", LayoutKind::kChunked, false, [](hid_t list) { H5Pset_chunk(list, 3, kChunk); }},
          {"filtered", LayoutKind::kChunked, false, [](hid_t list) {
             H5Pset_chunk(list, 3, kChunk);
             H5Pset_shuffle(list);
             H5Pset_deflate(list, 4);
             H5Pset_fletcher32(list);
           }}};
}

std::vector<std::pair<hid_t, ElementType>> type_cases() {
  return {{H5T_STD_I8LE, ElementType::kInt8},      {H5T_STD_U8BE, ElementType::kUint8},
          {H5T_STD_I16BE, ElementType::kInt16},    {H5T_STD_U16LE, ElementType::kUint16},
          {H5T_STD_I32BE, ElementType::kInt32},    {H5T_STD_U32LE, ElementType::kUint32},
          {H5T_STD_I64LE, ElementType::kInt64},    {H5T_STD_U64BE, ElementType::kUint64},
          {H5T_IEEE_F32BE, ElementType::kFloat32}, {H5T_IEEE_F32LE, ElementType::kFloat32},
          {H5T_IEEE_F64BE, ElementType::kFloat64}, {H5T_IEEE_F64LE, ElementType::kFloat64}};
}

constexpr int64_t kDims[3] = {7, 6, 9};

// Converts values to the machine's form of a file's type, by libhdf5.
Bytes convert(const std::vector<double>& values, hid_t file_type) {
  Bytes bytes = bytes_of(values);
  const hid_t native = H5Tget_native_type(file_type, H5T_DIR_ASCEND);
  EXPECT_GE(H5Tconvert(H5T_NATIVE_DOUBLE, native, values.size(), bytes.data(), nullptr, H5P_DEFAULT), 0);
  H5Tclose(native);
  bytes.resize(values.size() * H5Tget_size(file_type));
  return bytes;
}

// Checks that a random hyperslab of the dataset is that of the array.
void check_hyperslab(const Hdf5Reader& reader, const std::string& path, const Bytes& array, std::mt19937_64& random) {
  const auto size = static_cast<int64_t>(array.size()) / (kDims[0] * kDims[1] * kDims[2]);
  std::vector<int64_t> start(3);
  std::vector<int64_t> count(3);
  for (size_t axis = 0; axis < 3; ++axis) {
    start[axis] = static_cast<int64_t>(random() % static_cast<uint64_t>(kDims[axis]));
    count[axis] = static_cast<int64_t>(random() % static_cast<uint64_t>(kDims[axis] - start[axis] + 1));
  }
  Bytes expected;
  for (int64_t i = start[0]; i < start[0] + count[0]; ++i) {
    for (int64_t j = start[1]; j < start[1] + count[1]; ++j) {
      const auto row = array.begin() + ((i * kDims[1] + j) * kDims[2] + start[2]) * size;
      expected.insert(expected.end(), row, row + count[2] * size);
    }
  }
  Bytes out(expected.size());
  const Status status = reader.read_hyperslab(path, start, count, out);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out, expected);
}

// Does as the engine: takes the bytes at data_offset, and swaps them where the file has the
// other byte order.
void check_direct(storage::File& storage, const DatasetInfo& info, const Bytes& array) {
  Bytes direct(array.size());
  const storage::ReadSegment segment{info.data_offset, direct.data(), static_cast<int64_t>(direct.size())};
  ASSERT_TRUE(storage.read({&segment, 1}).ok());
  const auto size = static_cast<std::ptrdiff_t>(info.spec.element.bytes);
  for (auto at = direct.begin(); info.spec.element.big_endian && at < direct.end(); at += size) {
    std::reverse(at, at + size);
  }
  EXPECT_EQ(direct, array);
}

// Every layout with every number type in both byte orders; random hyperslabs against
// the array itself.
void check_layouts_and_types(hid_t creation, uint64_t seed) {
  const auto types = type_cases();
  const std::vector<double> values = ramp(7 * 6 * 9);
  const auto fill = [&](hid_t made) {
    for (const LayoutCase& layout : layout_cases()) {
      for (size_t index = 0; index < types.size(); ++index) {
        const Creation list;
        layout.set(list.id);
        add(made, (layout.name + std::to_string(index)).c_str(), types[index].first, {7, 6, 9}, values.data(),
            H5T_NATIVE_DOUBLE, list.id);
      }
    }
  };
  PlainFile file(fill, creation);
  std::mt19937_64 random(seed);
  for (const LayoutCase& layout : layout_cases()) {
    for (size_t index = 0; index < types.size(); ++index) {
      const auto& [type, element] = types[index];
      const std::string path = layout.name + std::to_string(index);
      SCOPED_TRACE(path + ", seed " + std::to_string(seed));
      auto info = file.reader->dataset(path);
      ASSERT_TRUE(info.ok()) << info.status().message();
      EXPECT_EQ(info->layout, layout.layout);
      EXPECT_EQ(info->data_offset >= 0, layout.direct);
      EXPECT_EQ(info->spec.element.number, element);
      EXPECT_EQ(info->spec.element.big_endian, H5Tget_size(type) > 1 && H5Tget_order(type) == H5T_ORDER_BE);
      const Bytes array = convert(values, type);
      for (int trial = 0; trial < 5; ++trial) {
        check_hyperslab(*file.reader, path, array, random);
      }
      if (layout.direct) {
        check_direct(file.storage, *info, array);
      }
    }
  }
}

TEST(Hdf5Reader, RandomHyperslabsOfEveryLayoutAndType) {
  check_layouts_and_types(H5P_DEFAULT, 2);
}

TEST(Hdf5Reader, RandomHyperslabsBehindAUserBlock) {
  const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_userblock(creation, 1024);
  check_layouts_and_types(creation, 3);
  H5Pclose(creation);
}

TEST(Hdf5Reader, AMissingFilterIsNamed) {
  const Bytes bytes = PlainFile::make([](hid_t made) {
    const Creation list;
    const hsize_t chunk[1] = {4};
    H5Pset_chunk(list.id, 1, chunk);
    H5Pset_filter(list.id, 32767, H5Z_FLAG_OPTIONAL, 0, nullptr);
    const int32_t values[4] = {1, 2, 3, 4};
    H5E_BEGIN_TRY {
      add(made, "x", H5T_STD_I32LE, {4}, values, H5T_NATIVE_INT32, list.id);
    }
    H5E_END_TRY;
  });
  PlainFile file(bytes);
  Bytes out(16);
  const Status status = file.reader->read_hyperslab("x", std::vector<int64_t>{0}, std::vector<int64_t>{4}, out);
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported) << status.message();
  EXPECT_NE(status.message().find("32767"), std::string::npos) << status.message();
}

// A flipped bit in a chunk with a checksum is found.
TEST(Hdf5Reader, DamagedChunksAreFound) {
  const std::vector<int32_t> values(64, 0x51525354);
  Bytes bytes = PlainFile::make([&](hid_t made) {
    const Creation list;
    const hsize_t chunk[1] = {64};
    H5Pset_chunk(list.id, 1, chunk);
    H5Pset_fletcher32(list.id);
    add(made, "x", H5T_STD_I32LE, {64}, values.data(), H5T_NATIVE_INT32, list.id);
  });
  const Bytes pattern = bytes_of(values);
  const auto at = std::search(bytes.begin(), bytes.end(), pattern.begin(), pattern.end());
  ASSERT_NE(at, bytes.end());
  *(at + 100) ^= std::byte{4};
  PlainFile file(bytes);
  Bytes out(256);
  const Status status = file.reader->read_hyperslab("x", std::vector<int64_t>{0}, std::vector<int64_t>{64}, out);
  EXPECT_EQ(status.code(), ErrorCode::kCorrupted) << status.message();
}

TEST(Hdf5Reader, UnallocatedDataReadAsTheFillValue) {
  PlainFile file([](hid_t made) {
    const Creation list;
    const int32_t fill = 17;
    H5Pset_fill_value(list.id, H5T_NATIVE_INT32, &fill);
    add(made, "late", H5T_STD_I32LE, {5}, nullptr, 0, list.id);
    const hsize_t chunk[1] = {2};
    H5Pset_chunk(list.id, 1, chunk);
    add(made, "chunks", H5T_STD_I32LE, {5}, nullptr, 0, list.id);
    add(made, "empty", H5T_STD_I32LE, {0}, nullptr, 0);
  });
  auto info = file.reader->dataset("late");
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->layout, LayoutKind::kUnallocated);
  EXPECT_EQ(info->data_offset, -1);
  EXPECT_EQ(read_all(*file.reader, "late"), bytes_of<int32_t>({17, 17, 17, 17, 17}));
  EXPECT_EQ(read_all(*file.reader, "chunks"), bytes_of<int32_t>({17, 17, 17, 17, 17}));
  EXPECT_EQ(read_all(*file.reader, "empty"), Bytes());
}

TEST(Hdf5Reader, ExternalDataAreReadButNotDirectly) {
  const TemporaryFile outside("external.raw");
  outside.write(bytes_of<int32_t>({1, 2, 3}));
  PlainFile file([&](hid_t made) {
    const Creation list;
    H5Pset_external(list.id, outside.path().c_str(), 0, 12);
    add(made, "outside", H5T_STD_I32LE, {3}, nullptr, 0, list.id);
  });
  auto info = file.reader->dataset("outside");
  ASSERT_TRUE(info.ok()) << info.status().message();
  EXPECT_EQ(info->data_offset, -1);
  EXPECT_EQ(read_all(*file.reader, "outside"), bytes_of<int32_t>({1, 2, 3}));
}

TEST(Hdf5Reader, VirtualDatasetsOfTheSameFileAreReadOthersRefused) {
  const std::vector<int32_t> values{1, 2, 3, 4};
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  PlainFile file(
      [&](hid_t made) {
        add(made, "source", H5T_STD_I32LE, {4}, values.data(), H5T_NATIVE_INT32);
        const hsize_t dims[1] = {4};
        const hid_t space = H5Screate_simple(1, dims, nullptr);
        for (const char* where : {".", "elsewhere.h5"}) {
          const Creation list;
          H5Pset_virtual(list.id, space, where, "source", space);
          add(made, where[1] == 0 ? "same" : "other", H5T_STD_I32LE, {4}, nullptr, 0, list.id);
        }
        H5Sclose(space);
      },
      H5P_DEFAULT, access);
  H5Pclose(access);
  EXPECT_EQ(file.reader->dataset("same")->layout, LayoutKind::kVirtual);
  EXPECT_EQ(read_all(*file.reader, "same"), bytes_of(values));
  Bytes out(16);
  const Status status = file.reader->read_hyperslab("other", std::vector<int64_t>{0}, std::vector<int64_t>{4}, out);
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_NE(status.message().find("elsewhere.h5"), std::string::npos) << status.message();
}

TEST(Hdf5Reader, TypesBeyondNumbers) {
  const char* texts[3] = {"one", "", "three"};
  const int8_t flags[2] = {1, 0};
  const int16_t colors[2] = {0x0102, 0};
  const long double wide[1] = {1.5L};
  const int32_t pairs[4] = {1, 2, 3, 4};
  PlainFile file([&](hid_t made) {
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    H5Tset_cset(text, H5T_CSET_UTF8);
    add(made, "texts", text, {3}, texts, text);
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(made, "title", text, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, text, &texts[2]);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(text);

    const hid_t boolean = H5Tenum_create(H5T_STD_I8LE);
    int8_t value = 0;
    H5Tenum_insert(boolean, "FALSE", &value);
    value = 1;
    H5Tenum_insert(boolean, "TRUE", &value);
    add(made, "flags", boolean, {2}, flags, boolean);
    H5Tclose(boolean);

    const hid_t color = H5Tenum_create(H5T_STD_I16BE);
    // The file has 0x0102 big-endian, on a little-endian machine.
    const int16_t names[2] = {0, 0x0201};
    H5Tenum_insert(color, "black", &names[0]);
    H5Tenum_insert(color, "red", &names[1]);
    const int16_t stored[2] = {0x0201, 0};
    add(made, "colors", color, {2}, stored, color);
    H5Tclose(color);

    const hid_t list = H5Tvlen_create(H5T_NATIVE_INT32);
    add(made, "lists", list, {2}, nullptr, 0);
    H5Tclose(list);
    add(made, "wide", H5T_NATIVE_LDOUBLE, {1}, wide, H5T_NATIVE_LDOUBLE);

    const hsize_t two[1] = {2};
    const hid_t array = H5Tarray_create2(H5T_STD_I32BE, 1, two);
    const hid_t native = H5Tarray_create2(H5T_NATIVE_INT32, 1, two);
    add(made, "pairs", array, {2}, pairs, native);
    H5Tclose(array);
    H5Tclose(native);
  });
  EXPECT_EQ(file.reader->dataset("texts")->spec.element.kind, Kind::kString);
  EXPECT_EQ(file.reader->dataset("texts")->spec.element.bytes, 5);
  const Bytes read = read_all(*file.reader, "texts");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(read.data()), 15), std::string("one\0\0\0\0\0\0\0three", 15));
  auto title = file.reader->attribute("", "title");
  ASSERT_TRUE(title.ok()) << title.status().message();
  EXPECT_EQ(title->value, bytes_of<char>({'t', 'h', 'r', 'e', 'e'}));

  EXPECT_EQ(file.reader->dataset("flags")->spec.element.number, ElementType::kUint8);
  EXPECT_EQ(file.reader->dataset("flags")->spec.element.meaning, Meaning::kBoolean);
  EXPECT_EQ(read_all(*file.reader, "flags"), bytes_of<int8_t>({1, 0}));
  EXPECT_TRUE(file.reader->dataset("colors")->spec.element.big_endian);
  EXPECT_EQ(read_all(*file.reader, "colors"), bytes_of<int16_t>({colors[0], colors[1]}));
  EXPECT_EQ(file.reader->dataset("wide")->spec.element.kind, Kind::kOther);
  EXPECT_EQ(read_all(*file.reader, "wide").size(), sizeof(long double));
  EXPECT_EQ(file.reader->dataset("pairs")->spec.element.kind, Kind::kOther);
  EXPECT_EQ(read_all(*file.reader, "pairs"), bytes_of<int32_t>({1, 2, 3, 4}));

  EXPECT_EQ(file.reader->dataset("lists")->spec.element.kind, Kind::kOther);
  Bytes out(32);
  const Status status = file.reader->read_hyperslab("lists", std::vector<int64_t>{0}, std::vector<int64_t>{2}, out);
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_NE(status.message().find("'lists'"), std::string::npos) << status.message();
}

TEST(Hdf5Reader, LinksOfAllKinds) {
  PlainFile file([](hid_t made) {
    const hid_t group = H5Gcreate2(made, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    add(group, "inner", H5T_STD_I32LE, {1}, nullptr, 0);
    H5Lcreate_hard(made, "/", group, "cycle", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(made, "group", made, "again", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("group/inner", made, "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("nowhere", made, "dangling", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("loop", made, "loop", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("bytes.h5", "/group/inner", made, "external", H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(group);
    const hid_t type = H5Tcopy(H5T_NATIVE_INT);
    H5Tcommit2(made, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Tclose(type);
  });
  auto names = file.reader->list();
  ASSERT_TRUE(names.ok()) << names.status().message();
  EXPECT_EQ(*names, (std::vector<std::string>{"again/", "again/cycle/", "again/inner", "group/", "soft"}));
  std::vector<std::string> aliases;
  for (const Alias& alias : file.reader->aliases().value()) {
    aliases.push_back(alias.path + " = " + alias.of);
  }
  EXPECT_EQ(aliases, (std::vector<std::string>{"again/cycle/ = ", "group/ = again/", "soft = again/inner"}));
  EXPECT_TRUE(file.reader->dataset("group/inner").ok());
  EXPECT_TRUE(file.reader->dataset("soft").ok());
  EXPECT_FALSE(file.reader->dataset("external").ok());
  EXPECT_EQ(file.reader->dataset("dangling").status().code(), ErrorCode::kNotFound);
  EXPECT_FALSE(file.reader->dataset("loop").ok());
  EXPECT_EQ(file.reader->dataset("group").status().code(), ErrorCode::kInvalidArgument);
}

TEST(Hdf5Reader, RequestsThatCannotBeMetSayWhy) {
  PlainFile file([](hid_t made) {
    const int32_t values[4] = {1, 2, 3, 4};
    add(made, "x", H5T_STD_I32LE, {4}, values, H5T_NATIVE_INT32);
  });
  const Status missing = file.reader->dataset("a/b").status();
  EXPECT_EQ(missing.code(), ErrorCode::kNotFound);
  EXPECT_NE(missing.message().find("'a/b'"), std::string::npos) << missing.message();
  EXPECT_EQ(file.reader->dataset("y").status().code(), ErrorCode::kNotFound);
  EXPECT_FALSE(file.reader->dataset("x/y").ok());
  EXPECT_EQ(file.reader->attribute("x", "none").status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(file.reader->attribute("y", "none").status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(file.reader->attribute_names("y").status().code(), ErrorCode::kNotFound);
  Bytes out(16);
  const auto read = [&](std::vector<int64_t> start, std::vector<int64_t> count, size_t bytes) {
    return file.reader->read_hyperslab("x", start, count, std::span(out).first(bytes)).code();
  };
  EXPECT_EQ(read({0}, {4}, 16), ErrorCode::kOk);
  EXPECT_EQ(read({4}, {0}, 0), ErrorCode::kOk);
  EXPECT_EQ(read({1}, {4}, 16), ErrorCode::kInvalidArgument);
  EXPECT_EQ(read({-1}, {1}, 4), ErrorCode::kInvalidArgument);
  EXPECT_EQ(read({INT64_MAX}, {INT64_MAX}, 4), ErrorCode::kInvalidArgument);
  EXPECT_EQ(read({0, 0}, {1, 1}, 4), ErrorCode::kInvalidArgument);
  EXPECT_EQ(read({0}, {2}, 16), ErrorCode::kInvalidArgument);
  EXPECT_EQ(read({0}, {4}, 15), ErrorCode::kInvalidArgument);
}

TEST(Hdf5Reader, OtherFilesAreNotHdf5) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{7}, size_t{8}, size_t{600}, size_t{5000}}) {
    BytesFile storage(Bytes(bytes, std::byte{'x'}));
    auto reader = Hdf5Reader::open(storage);
    EXPECT_EQ(reader.status().code(), ErrorCode::kFormat) << bytes << ": " << reader.status().message();
    EXPECT_NE(reader.status().message().find("bytes.h5"), std::string::npos);
  }
}

TEST(Hdf5Reader, StorageErrorsKeepTheirCode) {
  const std::vector<double> values = ramp(100000);
  PlainFile file([&](hid_t made) { add(made, "x", H5T_IEEE_F64LE, {100000}, values.data(), H5T_NATIVE_DOUBLE); });
  file.storage.fail_at = 100000;
  Bytes out(800000);
  const Status status = file.reader->read_hyperslab("x", std::vector<int64_t>{0}, std::vector<int64_t>{100000}, out);
  EXPECT_EQ(status.code(), ErrorCode::kIo) << status.message();
  file.storage.fail_at = 0;
  EXPECT_EQ(Hdf5Reader::open(file.storage).status().code(), ErrorCode::kIo);
}

TEST(Hdf5Reader, NullDataspacesAreEmpty) {
  PlainFile file([](hid_t made) {
    const hid_t space = H5Screate(H5S_NULL);
    const hid_t attribute = H5Acreate2(made, "nothing", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Aclose(attribute);
    const hid_t dataset = H5Dcreate2(made, "null", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(dataset);
    H5Sclose(space);
  });
  auto attribute = file.reader->attribute("/", "nothing");
  ASSERT_TRUE(attribute.ok()) << attribute.status().message();
  EXPECT_EQ(attribute->dims, std::vector<int64_t>{0});
  auto info = file.reader->dataset("null");
  ASSERT_TRUE(info.ok()) << info.status().message();
  EXPECT_EQ(info->spec.dims, std::vector<int64_t>{0});
  EXPECT_EQ(read_all(*file.reader, "null"), Bytes());
}

}  // namespace
}  // namespace stria::container
