// Memory that runs out while a list is written in the background: the write fails or succeeds as a
// whole, nobody waits for ever, and the file can still be written.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "access/failing_new_test.hpp"
#include "storage/posix/posix_driver.hpp"
#include "storage/uring/uring_driver.hpp"

namespace stria::access::test {
namespace {

// More pieces than a ring takes at once, and none of them neighbours.
constexpr int64_t kPieces = 50;
constexpr int64_t kPieceBytes = 700;
constexpr int64_t kStride = 3000;

class ScarceWrites : public ::testing::Test {
 protected:
  ScarceWrites() {
    std::string pattern = ::testing::TempDir() + "/stria-scarce-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    for (int64_t i = 0; i < kPieces; ++i) {
      segments_.push_back({i * kStride, data_.data() + i * kPieceBytes, kPieceBytes});
    }
  }
  ~ScarceWrites() override { std::filesystem::remove_all(directory_); }

  /// True when the storage has all the pieces.
  bool is_written(storage::File& file) const {
    std::vector<std::byte> found(data_.size());
    std::vector<storage::ReadSegment> places;
    for (int64_t i = 0; i < kPieces; ++i) {
      places.push_back({i * kStride, found.data() + i * kPieceBytes, kPieceBytes});
    }
    return file.read(places).ok() && found == data_;
  }

  /// Lets one allocation after the other fail, until none is left.
  void fail_each_in(storage::Driver& driver) {
    const std::string path = directory_ + "/" + driver.name();
    int failures = 0;
    bool failed_here = true;
    for (int64_t number = 0; failed_here; ++number) {
      SCOPED_TRACE(std::string(driver.name()) + ", allocation " + std::to_string(number));
      const auto file = driver.open(path, {.mode = storage::OpenOptions::Mode::kCreate}).value();
      Status outcome(ErrorCode::kResourceExhausted, "it did not begin");
      fail_allocation(number);
      try {
        const Counting on(true);
        outcome = file->start_write(segments_)->wait();
      } catch (const std::bad_alloc&) {
        // The caller knows.
      }
      failed_here = allocation_count() > number;
      ASSERT_TRUE(outcome.ok() ? is_written(*file) : outcome.code() == ErrorCode::kResourceExhausted) << outcome.message();
      ASSERT_TRUE(failed_here || outcome.ok()) << outcome.message();
      failures += outcome.ok() ? 0 : 1;
      const Status again = file->start_write(segments_)->wait();
      ASSERT_TRUE(again.ok() && is_written(*file)) << again.message();
    }
    EXPECT_GT(failures, 3);
  }

  std::string directory_;
  const std::vector<std::byte> data_ = std::vector<std::byte>(kPieces * kPieceBytes, std::byte{7});
  std::vector<storage::WriteSegment> segments_;
};

TEST_F(ScarceWrites, OfAThread) {
  storage::PosixDriver driver;
  fail_each_in(driver);
}

TEST_F(ScarceWrites, OfARing) {
  const auto driver = storage::UringDriver::make();
  if (!driver.ok()) {
    GTEST_SKIP() << driver.status().message();
  }
  fail_each_in(**driver);
}

}  // namespace
}  // namespace stria::access::test
