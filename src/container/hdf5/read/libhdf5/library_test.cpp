// Tests how libhdf5 sees files that were made without it: their types, groups of any size, and that
// it can change them.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

#include "container/hdf5/test_support.hpp"
#include "container/hdf5/write/writer.hpp"

namespace stria::container {
namespace {

using test::assemble;
using test::Bytes;
using test::bytes_of;
using test::TemporaryFile;

const ElementSpec kInt = ElementSpec::of_number(ElementType::kInt32);

int run(const std::string& command) {
  return std::system((command + " > /dev/null 2>&1").c_str());
}

/// Writes what the writer made.
void save(Hdf5Writer& writer, const TemporaryFile& file) {
  auto image = writer.finish();
  ASSERT_TRUE(image.ok()) << image.status().message();
  file.write(assemble(*image, {}));
}

hid_t number_type(ElementType type, bool big) {
  switch (type) {
    case ElementType::kByte: {
      const hid_t opaque = H5Tcreate(H5T_OPAQUE, 1);
      H5Tset_tag(opaque, "");
      return opaque;
    }
    case ElementType::kInt8:
      return H5Tcopy(H5T_STD_I8LE);
    case ElementType::kUint8:
      return H5Tcopy(H5T_STD_U8LE);
    case ElementType::kInt16:
      return H5Tcopy(big ? H5T_STD_I16BE : H5T_STD_I16LE);
    case ElementType::kUint16:
      return H5Tcopy(big ? H5T_STD_U16BE : H5T_STD_U16LE);
    case ElementType::kInt32:
      return H5Tcopy(big ? H5T_STD_I32BE : H5T_STD_I32LE);
    case ElementType::kUint32:
      return H5Tcopy(big ? H5T_STD_U32BE : H5T_STD_U32LE);
    case ElementType::kInt64:
      return H5Tcopy(big ? H5T_STD_I64BE : H5T_STD_I64LE);
    case ElementType::kUint64:
      return H5Tcopy(big ? H5T_STD_U64BE : H5T_STD_U64LE);
    case ElementType::kFloat32:
      return H5Tcopy(big ? H5T_IEEE_F32BE : H5T_IEEE_F32LE);
    case ElementType::kFloat64:
      return H5Tcopy(big ? H5T_IEEE_F64BE : H5T_IEEE_F64LE);
  }
  return H5I_INVALID_HID;
}

/// Returns the same type, made by libhdf5.
hid_t library_type(const ElementSpec& element) {
  if (element.kind == ElementSpec::Kind::kNumber) {
    return number_type(element.number, element.big_endian);
  }
  if (element.kind == ElementSpec::Kind::kString) {
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, static_cast<size_t>(element.bytes));
    H5Tset_strpad(text, element.space_padded ? H5T_STR_SPACEPAD : element.c_declared ? H5T_STR_NULLTERM : H5T_STR_NULLPAD);
    return text;
  }
  const hid_t compound = H5Tcreate(H5T_COMPOUND, static_cast<size_t>(element.bytes));
  for (const ElementSpec::Member& member : element.members) {
    const hid_t type = library_type(member.element);
    H5Tinsert(compound, member.name.c_str(), static_cast<size_t>(member.offset_bytes), type);
    H5Tclose(type);
  }
  return compound;
}

ElementSpec random_element(std::mt19937_64& random, int depth) {
  const uint64_t kind = random() % (depth > 0 ? 4 : 3);
  if (kind == 0) {
    ElementSpec text = ElementSpec::of_string(1 + static_cast<int64_t>(random() % 300), random() % 2 == 0);
    text.c_declared = !text.space_padded && random() % 2 == 0;
    return text;
  }
  if (kind < 3) {
    ElementSpec number = ElementSpec::of_number(static_cast<ElementType>(random() % 11));
    number.big_endian = random() % 2 == 0;
    return number;
  }
  std::vector<ElementSpec::Member> members;
  int64_t end = static_cast<int64_t>(random() % 3);
  for (uint64_t count = 1 + random() % 5; count > 0; --count) {
    ElementSpec element = random_element(random, depth - 1);
    members.push_back({"member " + std::to_string(count), end, element});
    end += element.bytes + static_cast<int64_t>(random() % 70);
  }
  return ElementSpec::of_compound(end, std::move(members));
}

TEST(Hdf5Library, FindsTheTypesThatItWouldMake) {
  std::mt19937_64 random(7);
  Hdf5Writer writer;
  std::vector<ElementSpec> elements;
  for (int type = 0; type < 11; ++type) {
    for (const bool big : {false, true}) {
      elements.push_back(ElementSpec::of_number(static_cast<ElementType>(type)));
      elements.back().big_endian = big;
    }
  }
  for (int i = 0; i < 300; ++i) {
    elements.push_back(random_element(random, 3));
  }
  for (size_t i = 0; i < elements.size(); ++i) {
    auto made = writer.create_dataset({"d" + std::to_string(i), elements[i], {2}, 1});
    ASSERT_TRUE(made.ok()) << made.status().message();
  }
  const TemporaryFile file("types.h5");
  save(writer, file);
  const hid_t plain = H5Fopen(file.path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  for (size_t i = 0; i < elements.size(); ++i) {
    const hid_t dataset = H5Dopen2(plain, ("d" + std::to_string(i)).c_str(), H5P_DEFAULT);
    const hid_t found = H5Dget_type(dataset);
    const hid_t wanted = library_type(elements[i]);
    EXPECT_GT(H5Tequal(found, wanted), 0) << i;
    H5Tclose(wanted);
    H5Tclose(found);
    H5Dclose(dataset);
  }
  H5Fclose(plain);
}

/// Returns a name. Names neither come nor sort in the order of their numbers.
std::string name_of(int index) {
  return std::to_string(index * 7919 % 100003) + std::string(static_cast<size_t>(index % 13), 'x');
}

TEST(Hdf5Library, FindsTheLinksOfAGroupOfAnySize) {
  for (const int count : {1, 7, 8, 9, 128, 129, 255, 256, 257, 3000, 9000}) {
    SCOPED_TRACE(count);
    Hdf5Writer writer;
    for (int index = 0; index < count; ++index) {
      const DatasetSpec spec{"group/" + name_of(index), kInt, {1}, 1};
      ASSERT_TRUE(writer.create_table(spec, bytes_of<int32_t>({index})).ok());
    }
    const TemporaryFile file("links.h5");
    save(writer, file);
    const hid_t plain = H5Fopen(file.path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    ASSERT_GE(plain, 0);
    H5G_info_t info;
    ASSERT_GE(H5Gget_info_by_name(plain, "group", &info, H5P_DEFAULT), 0);
    EXPECT_EQ(info.nlinks, static_cast<hsize_t>(count));
    for (int index = 0; index < count; index += 1 + count / 500) {
      const hid_t dataset = H5Dopen2(plain, ("group/" + name_of(index)).c_str(), H5P_DEFAULT);
      int32_t value = -1;
      EXPECT_GE(H5Dread(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value), 0);
      EXPECT_EQ(value, index);
      H5Dclose(dataset);
    }
    EXPECT_LE(H5Lexists(plain, "group/missing", H5P_DEFAULT), 0);
    H5Fclose(plain);
    EXPECT_EQ(run("h5stat " + file.path()), 0);
  }
}

// Adds links and attributes until libhdf5 turns what the headers hold into heaps and trees;
// then removes some.
void change(hid_t file, const std::string& group, int added) {
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const hid_t object = H5Oopen(file, (group + "/d0").c_str(), H5P_DEFAULT);
  for (int index = 0; index < added; ++index) {
    const std::string name = "new" + std::to_string(index);
    const hid_t dataset =
        H5Dcreate2(file, (group + "/" + name).c_str(), H5T_STD_I32LE, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &index), 0);
    H5Dclose(dataset);
    const hid_t attribute = H5Acreate2(object, name.c_str(), H5T_STD_I32LE, scalar, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(H5Awrite(attribute, H5T_NATIVE_INT, &index), 0);
    H5Aclose(attribute);
  }
  ASSERT_GE(H5Adelete(object, "a0"), 0);
  ASSERT_GE(H5Ldelete(file, (group + "/d1").c_str(), H5P_DEFAULT), 0);
  H5Oclose(object);
  H5Sclose(scalar);
}

int32_t read_number(hid_t file, const std::string& path) {
  int32_t value = -1;
  const hid_t dataset = H5Dopen2(file, path.c_str(), H5P_DEFAULT);
  EXPECT_GE(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value), 0) << path;
  H5Dclose(dataset);
  return value;
}

int32_t read_attribute(hid_t file, const std::string& path, const std::string& name) {
  int32_t value = -1;
  const hid_t attribute = H5Aopen_by_name(file, path.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Aread(attribute, H5T_NATIVE_INT, &value), 0) << path << " " << name;
  H5Aclose(attribute);
  return value;
}

TEST(Hdf5Library, GoesOnWithAFile) {
  constexpr int kAdded = 80;
  for (const int count : {3, 7, 8, 9, 60, 128, 129, 300}) {
    SCOPED_TRACE(count);
    Hdf5Writer writer;
    for (int index = 0; index < count; ++index) {
      const std::string path = "group/d" + std::to_string(index);
      ASSERT_TRUE(writer.create_table({path, kInt, {1}, 1}, bytes_of<int32_t>({index})).ok());
    }
    for (int index = 0; index < count; ++index) {
      const AttributeSpec attribute{"group/d0", "a" + std::to_string(index), kInt, {1}, bytes_of<int32_t>({index})};
      ASSERT_TRUE(writer.write_attribute(attribute).ok());
    }
    const TemporaryFile file("changed.h5");
    save(writer, file);
    const hid_t open = H5Fopen(file.path().c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(open, 0);
    change(open, "group", kAdded);
    H5Fclose(open);
    const hid_t plain = H5Fopen(file.path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    for (int index = 0; index < kAdded; ++index) {
      EXPECT_EQ(read_number(plain, "group/new" + std::to_string(index)), index);
      EXPECT_EQ(read_attribute(plain, "group/d0", "new" + std::to_string(index)), index);
    }
    for (int index = 2; index < count; ++index) {
      EXPECT_EQ(read_number(plain, "group/d" + std::to_string(index)), index);
      EXPECT_EQ(read_attribute(plain, "group/d0", "a" + std::to_string(index)), index);
    }
    EXPECT_EQ(H5Aexists_by_name(plain, "group/d0", "a0", H5P_DEFAULT), 0);
    EXPECT_EQ(H5Lexists(plain, "group/d1", H5P_DEFAULT), 0);
    H5Fclose(plain);
    EXPECT_EQ(run("h5stat " + file.path()), 0);
    EXPECT_EQ(run("h5repack " + file.path() + " " + file.path() + ".again"), 0);
    EXPECT_EQ(run("h5diff " + file.path() + " " + file.path() + ".again"), 0);
    run("rm -f " + file.path() + ".again");
  }
}

}  // namespace
}  // namespace stria::container
