// Chunks that pass filters of libhdf5's own: whole ones are read, and of damaged ones libhdf5 reads
// nothing.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "container/hdf5/read/libhdf5/library_calls.hpp"
#include "container/hdf5/read/reader.hpp"
#include "container/hdf5/test_support.hpp"

namespace stria::container {
namespace {

using test::Bytes;
using test::BytesFile;
using test::TemporaryFile;

constexpr hsize_t kElements = 100;
constexpr hsize_t kChunk = 40;

/// A dataset of 100 elements in three chunks.
struct ChunkSample {
  std::string name;
  hid_t type = H5T_STD_I32LE;
  std::function<void(hid_t)> filter;
};

hid_t short_type() {
  const hid_t type = H5Tcopy(H5T_STD_I32LE);
  H5Tset_precision(type, 11);
  H5Tset_offset(type, 3);
  return type;
}

// Returns a record of a number of 11 bits, an array of such, and text, which nbit leaves as it is.
hid_t record_type() {
  const hid_t number = short_type();
  const hsize_t length = 3;
  const hid_t array = H5Tarray_create2(number, 1, &length);
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 5);
  const hid_t record = H5Tcreate(H5T_COMPOUND, 24);
  H5Tinsert(record, "number", 0, number);
  H5Tinsert(record, "array", 4, array);
  H5Tinsert(record, "text", 16, text);
  return record;
}

std::vector<ChunkSample> samples() {
  const auto szip = [](hid_t list) { H5Pset_szip(list, H5_SZIP_NN_OPTION_MASK, 8); };
  const auto rounded = [](hid_t list) { H5Pset_scaleoffset(list, H5Z_SO_FLOAT_DSCALE, 3); };
  std::vector<ChunkSample> all;
  if (H5Zfilter_avail(H5Z_FILTER_SZIP) > 0) {
    all.push_back({"szip", H5T_IEEE_F64LE, szip});
    all.push_back({"shuffled szip", H5T_IEEE_F64LE, [=](hid_t list) { H5Pset_shuffle(list), szip(list); }});
  }
  all.push_back({"nbit", short_type(), [](hid_t list) { H5Pset_nbit(list); }});
  all.push_back({"nbit of records", record_type(), [](hid_t list) { H5Pset_nbit(list); }});
  all.push_back({"summed nbit", short_type(), [](hid_t list) { H5Pset_nbit(list), H5Pset_fletcher32(list); }});
  all.push_back({"rounded", H5T_IEEE_F64LE, rounded});
  all.push_back({"rounded float32", H5T_IEEE_F32LE, rounded});
  all.push_back({"rounded and shuffled", H5T_IEEE_F64LE, [=](hid_t list) { rounded(list), H5Pset_shuffle(list); }});
  all.push_back({"rounded and deflated", H5T_IEEE_F64LE, [=](hid_t list) { rounded(list), H5Pset_deflate(list, 4); }});
  return all;
}

Bytes values_of(hid_t type) {
  Bytes values(kElements * H5Tget_size(type));
  if (H5Tget_class(type) == H5T_FLOAT) {
    std::vector<double> numbers;
    for (hsize_t i = 0; i < kElements; ++i) {
      numbers.push_back(0.25 * static_cast<double>(i * i % 97));
    }
    Bytes converted(numbers.size() * sizeof(double));
    std::memcpy(converted.data(), numbers.data(), converted.size());
    H5Tconvert(H5T_NATIVE_DOUBLE, type, kElements, converted.data(), nullptr, H5P_DEFAULT);
    std::copy_n(converted.begin(), values.size(), values.begin());
    return values;
  }
  for (size_t i = 0; i < values.size(); i += 4) {
    values[i] = static_cast<std::byte>(i % 251 & 0xf8);
  }
  return values;
}

using Change = std::function<void(Bytes&)>;

/// Returns the file with its second chunk changed.
Bytes file_of(const ChunkSample& sample, const Change& change) {
  const TemporaryFile file("filtered.h5");
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERSION_GE(1, 14, 4)  // it makes numbers of few bits only when asked to
  H5Pset_relax_file_integrity_checks(access, H5F_RFIC_UNUSUAL_NUM_UNUSED_NUMERIC_BITS);
#endif
  const hid_t made = H5Fcreate(file.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hid_t space = H5Screate_simple(1, &kElements, nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, 1, &kChunk);
  sample.filter(creation);
  const hid_t dataset = H5Dcreate2(made, "x", sample.type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  const Bytes values = values_of(sample.type);
  EXPECT_GE(H5Dwrite(dataset, sample.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  EXPECT_GE(H5Dflush(dataset), 0);
  hsize_t bytes = 0;
  EXPECT_GE(H5Dget_chunk_storage_size(dataset, &kChunk, &bytes), 0);
  Bytes stored(bytes);
  uint32_t skipped = 0;
  EXPECT_TRUE(h5::read_stored_chunk(dataset, std::span(&kChunk, 1), stored, skipped));
  EXPECT_EQ(skipped, 0U) << sample.name;
  change(stored);
  EXPECT_GE(H5Dwrite_chunk(dataset, H5P_DEFAULT, skipped, &kChunk, stored.size(), stored.data()), 0);
  H5Dclose(dataset);
  H5Pclose(creation);
  H5Sclose(space);
  H5Fclose(made);
  H5Pclose(access);
  return file.read();
}

Status read(const Bytes& content, int64_t start, int64_t count, Bytes* out = nullptr) {
  BytesFile storage(content);
  auto reader = Hdf5Reader::open(storage);
  EXPECT_TRUE(reader.ok());
  const auto info = (*reader)->dataset("x");
  EXPECT_TRUE(info.ok()) << info.status().message();
  Bytes read(static_cast<size_t>(count * info->spec.element.bytes));
  const Status status = (*reader)->read_hyperslab("x", std::vector{start}, std::vector{count}, read);
  if (out != nullptr) {
    *out = read;
  }
  return status;
}

TEST(FilteredChunks, WholeOnesAreRead) {
  for (const ChunkSample& sample : samples()) {
    Bytes values;
    const Status status = read(file_of(sample, [](Bytes&) {}), 0, kElements, &values);
    EXPECT_TRUE(status.ok()) << sample.name << ": " << status.message();
    if (H5Tget_class(sample.type) == H5T_FLOAT) {
      EXPECT_EQ(values, values_of(sample.type)) << sample.name;
    }
  }
}

TEST(FilteredChunks, ShortOnesAreErrors) {
  for (const ChunkSample& sample : samples()) {
    if (sample.name == "rounded and deflated") {
      continue;  // zlib says so
    }
    for (const size_t left : {1, 3, 4, 5, 20, 21, 24}) {
      const Bytes content = file_of(sample, [&](Bytes& chunk) { chunk.resize(std::min(left, chunk.size() - 1)); });
      const Status status = read(content, 45, 3);
      EXPECT_TRUE(status.code() == ErrorCode::kCorrupted &&
                  status.message().find("shorter than its filters read") != std::string::npos)
          << sample.name << " of " << left << ": " << status.message();
      EXPECT_TRUE(read(content, 0, 40).ok()) << sample.name;  // another chunk
    }
  }
}

TEST(FilteredChunks, SizesThatTheyTellAreCompared) {
  for (const ChunkSample& sample : samples()) {
    const bool is_szip = sample.name == "szip";
    if (!is_szip && sample.name != "rounded") {
      continue;
    }
    // The value is the bytes that szip makes, and the bits of a code of scale-offset's.
    for (const std::byte value : {std::byte{200}, std::byte{65}}) {
      const Bytes content = file_of(sample, [&](Bytes& chunk) { chunk[0] = value; });
      const Status status = read(content, 45, 3);
      EXPECT_EQ(status.code(), ErrorCode::kCorrupted) << sample.name;
      EXPECT_NE(status.message().find("shorter than its filters read"), std::string::npos) << status.message();
    }
  }
}

}  // namespace
}  // namespace stria::container
