// Views in other data representations: external32, internal, and one that the program registers.

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "mpiio/support/files.hpp"
#include "mpiio/support/naive_file.hpp"
#include "mpiio/support/suite.hpp"

namespace {

using namespace mpiio;

void external32(const Suite& suite) {
  const std::string path = suite.path("external32");
  MPI_File file = open(path);
  const int64_t record = 24;
  EXPECT_MPI(MPI_File_set_view(file, record * suite.rank(), MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
  struct {
    int32_t integer = 0x01020304;
    float real = 1.0f;
    double large = -2.0;
    int64_t wide = 0x0102030405060708;
  } values;
  MPI_Status status;
  const auto step = [&](bool write, MPI_Offset at, void* data, MPI_Datatype type) {
    EXPECT_MPI(MPI_File_set_view(file, record * suite.rank() + at, type, type, "external32", MPI_INFO_NULL));
    EXPECT_MPI(write ? MPI_File_write_at_all(file, 0, data, 1, type, &status)
                     : MPI_File_read_at_all(file, 0, data, 1, type, &status));
  };
  step(true, 0, &values.integer, MPI_INT32_T);
  step(true, 4, &values.real, MPI_FLOAT);
  step(true, 8, &values.large, MPI_DOUBLE);
  step(true, 16, &values.wide, MPI_INT64_T);
  EXPECT_MPI(MPI_File_sync(file));
  const std::vector<uint8_t> wanted = {1, 2, 3, 4, 0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<uint8_t> all = read_file(path);
  const size_t begin = static_cast<size_t>(record * suite.rank());
  EXPECT(all.size() >= begin + wanted.size() &&
             std::equal(wanted.begin(), wanted.end(), all.begin() + static_cast<int64_t>(begin)),
         "the file is not big-endian");
  values = {0, 0, 0, 0};
  step(false, 0, &values.integer, MPI_INT32_T);
  step(false, 4, &values.real, MPI_FLOAT);
  step(false, 8, &values.large, MPI_DOUBLE);
  step(false, 16, &values.wide, MPI_INT64_T);
  EXPECT(values.integer == 0x01020304 && values.real == 1.0f && values.large == -2.0 && values.wide == 0x0102030405060708,
         "read back ", values.integer, " ", values.real, " ", values.large, " ", values.wide);
  EXPECT_MPI(MPI_File_close(&file));
  remove_later(suite, path);
}

void internal_representation(const Suite& suite) {
  const std::string path = suite.path("internal");
  MPI_File file = open(path);
  std::array<double, 50> values;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(i) + suite.rank() * 100.0;
  }
  EXPECT_MPI(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "internal", MPI_INFO_NULL));
  MPI_Status status;
  EXPECT_MPI(MPI_File_write_at_all(file, 50 * suite.rank(), values.data(), 50, MPI_DOUBLE, &status));
  std::array<double, 50> back{};
  EXPECT_MPI(MPI_File_read_at_all(file, 50 * suite.rank(), back.data(), 50, MPI_DOUBLE, &status));
  EXPECT(back == values, "internal differs");
  EXPECT_MPI(MPI_File_close(&file));
  remove_later(suite, path);
}

// Returns a representation that stores an int as its complement, in as many bytes.
int complement_extent(MPI_Datatype type, MPI_Aint* extent, void*) {
  MPI_Aint lb = 0;
  return MPI_Type_get_extent(type, &lb, extent);
}
int complement_read(void* memory, MPI_Datatype, int count, void* stored, MPI_Offset position, void*) {
  for (int i = 0; i < count; ++i) {
    static_cast<int*>(memory)[position + i] = ~static_cast<int*>(stored)[i];
  }
  return MPI_SUCCESS;
}
int complement_write(void* memory, MPI_Datatype, int count, void* stored, MPI_Offset position, void*) {
  for (int i = 0; i < count; ++i) {
    static_cast<int*>(stored)[i] = ~static_cast<int*>(memory)[position + i];
  }
  return MPI_SUCCESS;
}

void registered_representation(const Suite& suite) {
  const int code = MPI_Register_datarep("complement", complement_read, complement_write, complement_extent, nullptr);
  EXPECT(code == MPI_SUCCESS, "registering a representation gives ", error_text(code));
  if (code != MPI_SUCCESS) {
    return;
  }
  EXPECT_MPI_ERROR(MPI_Register_datarep("complement", complement_read, complement_write, complement_extent, nullptr),
                   MPI_ERR_DUP_DATAREP);
  const std::string path = suite.path("registered");
  MPI_File file = open(path);
  EXPECT_MPI(MPI_File_set_view(file, 4000 * suite.rank(), MPI_INT, MPI_INT, "complement", MPI_INFO_NULL));
  std::vector<int> values(1000);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int>(i) * 3 + suite.rank();
  }
  MPI_Status status;
  EXPECT_MPI(MPI_File_write_all(file, values.data(), 1000, MPI_INT, &status));
  EXPECT_MPI(MPI_File_sync(file));
  const std::vector<uint8_t> bytes = read_file(path);
  int stored = 0;
  std::memcpy(&stored, bytes.data() + 4000 * suite.rank() + 40, 4);
  EXPECT(stored == ~(30 + suite.rank()), "the file holds ", stored);
  std::vector<int> back(1000, 0);
  EXPECT_MPI(MPI_File_read_at(file, 0, back.data(), 1000, MPI_INT, &status));
  EXPECT(back == values, "read back otherwise");
  EXPECT_MPI(MPI_File_close(&file));
  remove_later(suite, path);
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  suite.run("external32", [&] { external32(suite); });
  suite.run("internal", [&] { internal_representation(suite); });
  suite.run("registered representation", [&] { registered_representation(suite); });
  return suite.finish();
}
