// Reads foreign files and damaged ones, on real ranks.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <mpi.h>

#include <fstream>
#include <numeric>
#include <random>

#include "file/tests/file_fixture_test.hpp"
#include "stria/file.hpp"

namespace stria {
namespace {

using test::error_of;
using test::FileTest;

/// Makes chunked, compressed, shuffled, big-endian and compact datasets by serial libhdf5.
void make_foreign_file(const std::string& path) {
  hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t dims[] = {50, 20}, chunk[] = {7, 6};
  hid_t space = H5Screate_simple(2, dims, nullptr);
  std::vector<double> values(1000);
  std::iota(values.begin(), values.end(), 0);
  for (const char* name : {"plain", "chunked", "gzip", "big", "compact"}) {
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (*name == 'c' && name[1] == 'o') {
      H5Pset_layout(creation, H5D_COMPACT);
    } else if (*name == 'c' || *name == 'g') {
      H5Pset_chunk(creation, 2, chunk);
    }
    if (*name == 'g') {
      H5Pset_shuffle(creation);
      H5Pset_deflate(creation, 6);
    }
    hid_t set =
        H5Dcreate2(file, name, *name == 'b' ? H5T_IEEE_F32BE : H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(set);
    H5Pclose(creation);
  }
  H5Sclose(space);
  H5Fclose(file);
}

TEST_F(FileTest, ReadsFilesOfOthers) {
  if (rank_ == 0) {
    make_foreign_file(path());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (const char* method : {"list_io", "two_phase"}) {
    File file = File::open(MPI_COMM_WORLD, path(), {.hints = {{"stria_method", method}}});
    EXPECT_FALSE(file.has_checksums());
    EXPECT_NE(error_of([&] { file.verify(); }, ErrorCode::kUnsupported), "");
    EXPECT_TRUE(file.dataset("plain").is_contiguous());
    EXPECT_FALSE(file.dataset("gzip").is_contiguous());
    auto [first, count] = rows(48);
    std::vector<std::vector<float>> got;
    for (const char* name : {"plain", "chunked", "gzip", "big", "compact"}) {
      got.emplace_back(static_cast<size_t>(count * 9));
      file.dataset(name).get({{first + 1, 5}, {count, 9}}, Memory(got.back().data(), count * 9));
    }
    file.commit();
    for (const auto& values : got) {
      for (int64_t i = 0; i < count * 9; ++i) {
        ASSERT_EQ(values[static_cast<size_t>(i)], static_cast<float>((first + 1 + i / 9) * 20 + 5 + i % 9));
      }
    }
  }
}

TEST_F(FileTest, AFlippedByteIsFoundByVerifyAndByGet) {
  auto [first, count] = rows(40);
  std::vector<double> numbers(static_cast<size_t>(count * 100), 3.5);
  File file = File::create(MPI_COMM_WORLD, path());
  file.create_dataset("dens", ElementType::kFloat64, {40, 100})
      .put({{first, 0}, {count, 100}}, Memory(numbers.data(), count * 100));
  file.commit();
  std::mt19937_64 random(9);
  hid_t hdf5 = H5Fopen(path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t set = H5Dopen2(hdf5, "dens", H5P_DEFAULT);
  auto offset = static_cast<int64_t>(H5Dget_offset(set));
  H5Dclose(set);
  H5Fclose(hdf5);
  for (int i = 0; i < 12; ++i) {
    int64_t at = static_cast<int64_t>(random() % 32000);
    auto flip = [&] {
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank_ == 0) {
        std::fstream stream(path(), std::ios::in | std::ios::out | std::ios::binary);
        char byte = 0;
        stream.seekg(offset + at).read(&byte, 1);
        byte = static_cast<char>(byte ^ (1 << i % 8));
        stream.seekp(offset + at).write(&byte, 1);
      }
      MPI_Barrier(MPI_COMM_WORLD);
    };
    flip();
    std::vector<Damage> found = File::open(MPI_COMM_WORLD, path()).verify();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].dataset, "dens");
    EXPECT_EQ(found[0].first_row, at / 800);
    EXPECT_EQ(found[0].last_row, at / 800 + 1);
    EXPECT_TRUE(File::open(MPI_COMM_WORLD, path()).verify(nullptr, {"dens"}).empty());
    EXPECT_EQ(File::open(MPI_COMM_WORLD, path()).verify(nullptr, {"other"}).size(), 1u);
    for (bool verify : {true, false}) {
      File reading = File::open(MPI_COMM_WORLD, path(), {.verify = verify});
      reading.dataset("dens").get({{first, 0}, {count, 100}}, Memory(numbers.data(), count * 100));
      std::string text = error_of([&] { reading.commit(); }, ErrorCode::kCorrupted);
      EXPECT_EQ(text.find("dataset 'dens', rows " + std::to_string(at / 800)) != std::string::npos, verify) << text;
    }
    flip();
  }
  EXPECT_TRUE(File::open(MPI_COMM_WORLD, path()).verify().empty());
}

}  // namespace
}  // namespace stria
