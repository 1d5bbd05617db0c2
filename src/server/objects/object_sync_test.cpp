// Tests what a part's sync asks of the system: all that was changed, and nothing else.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <utility>
#include <vector>

#include "server/objects/one_object_test.hpp"

namespace {

/// How many syncs of files this program has asked for.
int file_syncs = 0;
/// The next syncs, so many of them, fail.
int failing_syncs = 0;
/// What is done once, before the next write of bytes.
std::function<void()> before_write;

}  // namespace

// Takes the place of the C library's.
extern "C" int fdatasync(int descriptor) {
  ++file_syncs;
  if (failing_syncs > 0) {
    --failing_syncs;
    errno = EIO;
    return -1;
  }
  return static_cast<int>(syscall(SYS_fdatasync, descriptor));
}

extern "C" ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  if (const auto first = std::exchange(before_write, nullptr)) {
    first();
  }
  return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

namespace stria::server {
namespace {

constexpr int kOfBytesAndSums = 2;

class ObjectSyncTest : public testing::OneObjectTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(OneObjectTest::SetUp());
    write();
    STRIA_EXPECT_OK(object_->sync());
  }
  void write() {
    const std::vector<std::byte> bytes(50'000, std::byte{7});
    const PieceRow row{3, static_cast<int64_t>(bytes.size()), 0, 1};
    STRIA_EXPECT_OK(object_->write({&row, 1}, bytes.data()));
  }
  /// Returns how many files are synced by a sync of the part.
  int synced() {
    const int before = file_syncs;
    STRIA_EXPECT_OK(object_->sync());
    return file_syncs - before;
  }
};

TEST_F(ObjectSyncTest, WhatWasChangedIsSyncedOnce) {
  EXPECT_EQ(synced(), 0);
  write();
  EXPECT_EQ(synced(), kOfBytesAndSums);
  EXPECT_EQ(synced(), 0);
  std::byte byte{};
  const PieceRow row{3, 1, 0, 1};
  STRIA_EXPECT_OK(object_->read({&row, 1}, &byte));
  EXPECT_EQ(synced(), 0);
  STRIA_EXPECT_OK(object_->write({&row, 1}, &byte));
  EXPECT_EQ(synced(), kOfBytesAndSums) << "through a mapping";
  STRIA_EXPECT_OK(object_->resize(40'000));
  EXPECT_EQ(synced(), kOfBytesAndSums);
  STRIA_EXPECT_OK(object_->reserve(95'000));
  EXPECT_EQ(synced(), kOfBytesAndSums);
  open();
  EXPECT_EQ(synced(), 0) << "it was left clean";
}

TEST_F(ObjectSyncTest, WhatAServerLeftUnsyncedIsSyncedByTheNext) {
  write();
  open();
  EXPECT_EQ(synced(), kOfBytesAndSums);
}

// A sync that comes while bytes are written has not written them.
TEST_F(ObjectSyncTest, AWriteDuringASyncIsSyncedByTheNext) {
  bool came_between = false;
  before_write = [&] {
    came_between = true;
    EXPECT_EQ(synced(), kOfBytesAndSums) << "the write has begun";
  };
  write();
  EXPECT_TRUE(came_between);
  EXPECT_EQ(synced(), kOfBytesAndSums);
}

// The system tells of lost bytes once; whoever asks later must hear of them too.
TEST_F(ObjectSyncTest, AfterAFailureItAlwaysFails) {
  write();
  failing_syncs = 1;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(object_->sync().code(), ErrorCode::kIo) << i;
  }
  write();
  EXPECT_EQ(object_->sync().code(), ErrorCode::kIo);
}

}  // namespace
}  // namespace stria::server
