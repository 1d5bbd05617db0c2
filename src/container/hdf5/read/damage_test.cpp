// Damaged files: cut at every place, and with flipped bits. The reader always returns, with an
// error or with what was there.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <random>
#include <string>

#include "container/hdf5/exercise.hpp"
#include "container/hdf5/read/reader.hpp"
#include "container/hdf5/test_support.hpp"
#include "support/rounds.hpp"

namespace stria::container {
namespace {

using test::assemble;
using test::Bytes;
using test::bytes_of;
using test::BytesFile;
using test::read_everything;
using test::TemporaryFile;

const ElementSpec kDouble = ElementSpec::of_number(ElementType::kFloat64);

struct DamagedSample {
  Bytes bytes;
  int64_t metadata_end = 0;  ///< from here on there are only raw data
};

DamagedSample written_sample() {
  Hdf5Writer writer;
  const ElementSpec name = ElementSpec::of_string(20, true);
  const auto table = ElementSpec::of_compound(28, {{"name", 0, name}, {"value", 20, kDouble}});
  EXPECT_TRUE(writer.create_dataset({"table", table, {4}, 8}).ok());
  for (int index = 0; index < 12; ++index) {
    const std::string path = (index % 3 == 0 ? "group/v" : "v") + std::to_string(index);
    EXPECT_TRUE(writer.create_dataset({path, kDouble, {4, 8}, 64}).ok());
    EXPECT_TRUE(writer.write_attribute({path, "minimum", kDouble, {1}, bytes_of<double>({1.0})}).ok());
  }
  auto image = writer.finish();
  EXPECT_TRUE(image.ok());
  return {assemble(*image, {}), static_cast<int64_t>(image->extents.at(0).bytes.size())};
}

// Adds strings of variable length, as a dataset and as an attribute of it, in a global heap.
void add_texts(hid_t group) {
  const hsize_t count[1] = {3};
  const hid_t space = H5Screate_simple(1, count, nullptr);
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, H5T_VARIABLE);
  const char* values[] = {"one", "and another", "a third"};
  const hid_t dataset = H5Dcreate2(group, "texts", text, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(dataset, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  const hid_t attribute = H5Acreate2(dataset, "names", text, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, text, values);
  H5Aclose(attribute);
  H5Dclose(dataset);
  H5Tclose(text);
  H5Sclose(space);
}

// Returns a file in the format of HDF5 1.6, whose metadata have no checksums.
Bytes old_sample() {
  const TemporaryFile file("old.h5");
  const hid_t made = H5Fcreate(file.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t group = H5Gcreate2(made, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t dims[1] = {40};
  const hsize_t chunk[1] = {16};
  const hid_t space = H5Screate_simple(1, dims, nullptr);
  const hid_t chunked = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(chunked, 1, chunk);
  H5Pset_deflate(chunked, 6);
  for (const hid_t creation : {static_cast<hid_t>(H5P_DEFAULT), chunked}) {
    const hid_t dataset =
        H5Dcreate2(group, creation == chunked ? "chunked" : "plain", H5T_STD_I32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    const std::vector<int32_t> values(40, 7);
    H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(dataset);
  }
  add_texts(group);
  H5Pclose(chunked);
  H5Sclose(space);
  H5Gclose(group);
  H5Fclose(made);
  return file.read();
}

TEST(DamagedHdf5, CutFilesAreRefused) {
  const DamagedSample sample = written_sample();
  for (const Bytes& whole : {sample.bytes, old_sample()}) {
    std::vector<size_t> sizes{0, 1, 8, 47, 48, 49, whole.size() - 1};
    for (size_t size = 0; size < whole.size(); size += 1 + whole.size() / 200) {
      sizes.push_back(size);
    }
    for (const size_t size : sizes) {
      BytesFile storage(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
      const auto opened = Hdf5Reader::open(storage);
      EXPECT_FALSE(opened.ok()) << "cut to " << size;
      const ErrorCode code = opened.status().code();
      EXPECT_TRUE(code == ErrorCode::kFormat || code == ErrorCode::kCorrupted) << size << ": " << opened.status().message();
    }
  }
}

TEST(DamagedHdf5, DataPastTheEndAreFound) {
  // The superblock tells of a shorter file, as after a crash that follows a resize.
  Hdf5Writer writer;
  ASSERT_TRUE(writer.create_dataset({"x", kDouble, {1000}, 4096}).ok());
  auto image = writer.finish();
  const Bytes bytes = assemble(*image, {});
  const TemporaryFile file("short.h5");
  file.write(Bytes(bytes.begin(), bytes.end() - 4000));
  BytesFile storage(file.read());
  const auto opened = Hdf5Reader::open(storage);
  EXPECT_EQ(opened.status().code(), ErrorCode::kCorrupted);
  EXPECT_NE(opened.status().message().find("cut short"), std::string::npos) << opened.status().message();
}

TEST(DamagedHdf5, FlippedBitsOfOurMetadataAreFoundOrChangeNothing) {
  const DamagedSample sample = written_sample();
  BytesFile intact(sample.bytes);
  const auto expected = read_everything(intact);
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  int errors = 0;
  for (int64_t at = 0; at < sample.metadata_end; ++at) {
    Bytes bytes = sample.bytes;
    bytes[static_cast<size_t>(at)] ^= static_cast<std::byte>(1 << (at % 8));
    BytesFile storage(std::move(bytes));
    const auto read = read_everything(storage);
    errors += read.ok() ? 0 : 1;
    if (read.ok()) {
      EXPECT_EQ(*read, *expected) << "at " << at;
    }
  }
  EXPECT_GT(errors, sample.metadata_end / 4);
}

// libhdf5 1.10 loops or crashes at most of these.
TEST(DamagedHdf5, AGlobalHeapIsLookedThroughBeforeItIsRead) {
  const Bytes whole = old_sample();
  const std::string signature = "GCOL";
  const auto heap = std::search(whole.begin(), whole.end(), signature.begin(), signature.end(),
                                [](std::byte byte, char letter) { return byte == static_cast<std::byte>(letter); });
  ASSERT_NE(heap, whole.end());
  const auto begin = static_cast<size_t>(heap - whole.begin());
  constexpr size_t kHeads = 16 + 6 * 32;
  int errors = 0;
  for (size_t at = begin; at < begin + kHeads; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bytes = whole;
      bytes[at] ^= static_cast<std::byte>(1 << bit);
      BytesFile storage(std::move(bytes));
      errors += read_everything(storage).ok() ? 0 : 1;
    }
  }
  EXPECT_GT(errors, 400);
}

TEST(DamagedHdf5, FilesWithoutChecksumsDoNoHarm) {
  const Bytes whole = old_sample();
  for (uint64_t seed = 1; seed <= rounds<uint64_t>(3000); ++seed) {
    std::mt19937_64 random(seed);
    Bytes bytes = whole;
    for (uint64_t flips = 1 + random() % 3; flips > 0; --flips) {
      bytes[random() % bytes.size()] ^= static_cast<std::byte>(1 << (random() % 8));
    }
    BytesFile storage(std::move(bytes));
    const auto read = read_everything(storage);
    if (!read.ok()) {
      EXPECT_FALSE(read.status().message().empty()) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace stria::container
