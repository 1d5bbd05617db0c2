#include <stdlib.h>

#include <filesystem>

#include "storage/conformance_test.hpp"

namespace stria::storage::testing {

std::string disk_directory() {
  const char* chosen = std::getenv("STRIA_TEST_DIR");
  return chosen != nullptr ? chosen : std::filesystem::current_path().string();
}

void DriverTest::SetUp() {
  auto made = GetParam().make();
  if (!made.ok()) {
    ASSERT_EQ(made.status().code(), ErrorCode::kUnsupported) << made.status().message();
    GTEST_SKIP() << made.status().message();
  }
  driver_ = *made;
  if (GetParam().fresh_directory) {
    directory_ = GetParam().fresh_directory();
  } else if (GetParam().parent_directory.empty()) {
    directory_ = "nowhere";
  } else {
    std::string pattern = GetParam().parent_directory + "/stria-storage-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr) << pattern;
    directory_ = pattern;
  }
  if (GetParam().direct) {
    const auto probe = try_open("probe", OpenOptions::Mode::kCreate);
    if (!probe.ok() && probe.status().code() == ErrorCode::kUnsupported) {
      GTEST_SKIP() << probe.status().message();
    }
    STRIA_EXPECT_OK(driver_->remove(path("probe")));
  }
}

void DriverTest::TearDown() {
  if (!GetParam().parent_directory.empty() && !directory_.empty()) {
    std::filesystem::remove_all(directory_);
  }
}

Result<std::unique_ptr<File>> DriverTest::try_open(const std::string& name, OpenOptions::Mode mode, bool lock) {
  return driver_->open(path(name), {.mode = mode, .direct = GetParam().direct, .exclusive_lock = lock});
}

std::unique_ptr<File> DriverTest::open(const std::string& name, OpenOptions::Mode mode) {
  auto file = try_open(name, mode);
  if (!file.ok()) {
    // GoogleTest reports it as this test's failure.
    throw std::runtime_error(file.status().message());
  }
  return std::move(*file);
}

void DriverTest::write_block(const std::string& name, std::byte value, OpenOptions::Mode mode) {
  AlignedBytes data(static_cast<size_t>(block()));
  std::memset(data.data(), static_cast<int>(value), data.size());
  const auto file = open(name, mode);
  STRIA_EXPECT_OK(file->write(std::vector<WriteSegment>{{0, data.data(), block()}}));
  STRIA_EXPECT_OK(file->close());
}

std::byte DriverTest::first_byte(File& file) {
  AlignedBytes data(static_cast<size_t>(block()));
  const auto total = file.read(std::vector<ReadSegment>{{0, data.data(), block()}});
  EXPECT_TRUE(total.ok() && *total > 0);
  return data.data()[0];
}

}  // namespace stria::storage::testing
