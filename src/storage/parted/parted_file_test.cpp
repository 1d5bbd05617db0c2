// Parts that are written past the page cache: whole pages are, the rest isn't, and every byte lands
// where it belongs.
#include "storage/parted/parted_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "storage/conformance_test.hpp"
#include "storage/fault/fault_driver.hpp"
#include "storage/posix/posix_driver.hpp"

namespace stria::storage {
namespace {

using Mode = OpenOptions::Mode;
using testing::AlignedBytes;

constexpr int64_t kPartPage = 4096;

/// A file of two parts with an array of two rows of 5 pages and a bit.
class DirectParts : public ::testing::Test {
 protected:
  static constexpr int64_t kRowBytes = 5 * kPartPage + 1000;

  void SetUp() override {
    const std::string path = testing::disk_directory() + "/stria-parted-" + std::to_string(getpid());
    OpenOptions open;
    open.mode = Mode::kCreate;
    master_ = driver_->open(path, open).value();
    map_->parts = {{path + "-0", 0}, {path + "-1", 0}};
    map_->arrays = {{PartMap::kFirstAddress, 2, kRowBytes, {0, kRowBytes % kPartPage}}};
    for (const auto& part : map_->parts) {
      ASSERT_TRUE(driver_->open(part.path, open).ok());
    }
    open.mode = Mode::kReadWrite;
    open.direct = true;
    const auto direct = driver_->open(map_->parts[0].path, open);
    if (!direct.ok()) {
      GTEST_SKIP() << direct.status().message();
    }
  }
  void TearDown() override {
    const std::string path = master_->path();
    master_.reset();
    for (const std::string& name : {path, path + "-0", path + "-1"}) {
      STRIA_EXPECT_OK(driver_->remove(name));
    }
  }

  std::shared_ptr<Driver> driver_ = std::make_shared<PosixDriver>();
  std::unique_ptr<File> master_;
  std::shared_ptr<PartMap> map_ = std::make_shared<PartMap>();
};

TEST_F(DirectParts, EveryByteLandsWhereItBelongs) {
  std::mt19937_64 random(1);
  AlignedBytes data(2 * kRowBytes);
  std::vector<std::byte> expected(data.size());
  std::vector<std::byte> seen(data.size());
  for (int round = 0; round < 40; ++round) {
    data.fill_random(random);
    const auto begin = static_cast<int64_t>(random() % data.size());
    const auto bytes = static_cast<int64_t>(1 + random() % (data.size() - static_cast<size_t>(begin)));
    PartedFile file(*master_, driver_, map_, Mode::kReadWrite);
    file.write_past_cache(driver_);
    const WriteSegment segment{PartMap::kFirstAddress + begin, data.data() + begin, bytes};
    STRIA_EXPECT_OK(file.write(std::span(&segment, 1)));
    std::copy_n(data.data() + begin, bytes, expected.begin() + begin);
    STRIA_EXPECT_OK(file.close_parts(true));
    PartedFile plain(*master_, driver_, map_, Mode::kReadWrite);
    const ReadSegment all{PartMap::kFirstAddress, seen.data(), static_cast<int64_t>(seen.size())};
    ASSERT_TRUE(plain.read(std::span(&all, 1)).ok());
    ASSERT_EQ(seen, expected) << begin << " " << bytes;
  }
}

TEST_F(DirectParts, WholePagesGoPastTheCacheAndTheRestDoesNot) {
  AlignedBytes data(2 * kRowBytes);
  const auto write = [&](const std::string& faults, int64_t begin, int64_t bytes) {
    PartedFile file(*master_, driver_, map_, Mode::kReadWrite);
    file.write_past_cache(std::make_shared<FaultDriver>(driver_, FaultScript::parse(faults, 0).value()));
    const WriteSegment segment{PartMap::kFirstAddress + begin, data.data() + begin, bytes};
    return file.write(std::span(&segment, 1));
  };
  const std::string fails = "write:count=all:errno=EIO";  // past the cache alone
  EXPECT_EQ(write(fails, 0, kPartPage).code(), ErrorCode::kIo);
  EXPECT_EQ(write(fails, kPartPage - 10, kPartPage + 20).code(), ErrorCode::kIo);
  EXPECT_EQ(write(fails, kRowBytes, kRowBytes).code(), ErrorCode::kIo);
  STRIA_EXPECT_OK(write(fails, 10, kPartPage));
  STRIA_EXPECT_OK(write(fails, kPartPage - 10, 20));
  STRIA_EXPECT_OK(write("open:count=all:errno=EINVAL", 0, kRowBytes));  // not offered
}

}  // namespace
}  // namespace stria::storage
