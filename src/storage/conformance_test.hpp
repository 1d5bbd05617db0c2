// The fixture of the drivers' conformance suite: each driver's test file instantiates it
// (STRIA_TEST_DRIVER) for its own cases.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "storage/driver.hpp"

#define STRIA_EXPECT_OK(expression)                                     \
  do {                                                                  \
    const ::stria::Status stria_test_status = (expression);             \
    EXPECT_TRUE(stria_test_status.ok()) << stria_test_status.message(); \
  } while (false)

namespace stria::storage::testing {

/// Memory aligned for direct I/O.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t size) : data_(static_cast<std::byte*>(::operator new(size + 1, kAlign))), size_(size) {
    std::memset(data_.get(), 0, size);
  }
  std::byte* data() { return data_.get(); }
  size_t size() const { return size_; }
  void fill_random(std::mt19937_64& random) {
    for (size_t i = 0; i < size_; ++i) {
      data_.get()[i] = static_cast<std::byte>(random() >> 13);
    }
  }

 private:
  static constexpr std::align_val_t kAlign{4096};
  struct Free {
    void operator()(std::byte* data) const { ::operator delete(data, kAlign); }
  };
  std::unique_ptr<std::byte, Free> data_;
  size_t size_;
};

/// A driver to test. `make` may fail with kUnsupported where this machine doesn't offer it: its
/// tests are skipped.
struct DriverCase {
  std::string name;
  std::function<Result<std::shared_ptr<Driver>>()> make;
  /// Directories are made below it; empty: the driver keeps no real directories.
  std::string parent_directory;
  bool direct = false;
  /// Gives the directory of a test that doesn't lie on this machine.
  std::function<std::string()> fresh_directory = {};
};

/// Returns the directory for tests on a real disk: STRIA_TEST_DIR, or the working directory.
std::string disk_directory();

/// Makes a driver and a fresh directory for each test, and helps to write it briefly.
class DriverTest : public ::testing::TestWithParam<DriverCase> {
 protected:
  void SetUp() override;
  void TearDown() override;

  Driver& driver() { return *driver_; }
  const std::string& directory() const { return directory_; }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  /// Returns the unit of offsets and sizes in random lists: what direct I/O needs, or one byte.
  int64_t unit() const { return GetParam().direct ? 4096 : 1; }
  static int64_t block() { return 4096; }

  Result<std::unique_ptr<File>> try_open(const std::string& name, OpenOptions::Mode mode, bool lock = false);
  /// Opens a file that must open.
  std::unique_ptr<File> open(const std::string& name, OpenOptions::Mode mode);
  /// Makes a file of one block of `value`.
  void write_block(const std::string& name, std::byte value, OpenOptions::Mode mode);
  std::byte first_byte(File& file);

 private:
  std::shared_ptr<Driver> driver_;
  std::string directory_;
};

/// Prints what GoogleTest prints of a case that failed.
inline void PrintTo(const DriverCase& driver_case, std::ostream* out) {
  *out << driver_case.name;
}

inline std::string case_name(const ::testing::TestParamInfo<DriverCase>& info) {
  return info.param.name;
}

}  // namespace stria::storage::testing
