// When a disk takes no new files: what it says of itself, and what its errors say.
#include "server/objects/disk_health.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace stria::server {
namespace {

using wire::Condition;
using Clock = DiskHealth::Clock;

TEST(DiskHealths, AReserveMakesADiskNearlyFull) {
  const std::string here = ::testing::TempDir();
  EXPECT_EQ(DiskHealth(0).look(here).condition, Condition::kGood);
  const auto judged = DiskHealth(int64_t{1} << 60).look(here);
  EXPECT_EQ(judged.condition, Condition::kNearlyFull);
  EXPECT_NE(judged.why.find("--reserve"), std::string::npos) << judged.why;
  EXPECT_EQ(DiskHealth(0).look(here + "/none").condition, Condition::kFailing);
}

TEST(DiskHealths, ErrorsCountForATime) {
  const std::string here = ::testing::TempDir();
  const Clock::time_point now = Clock::now();
  for (const auto& [code, condition, time] :
       {std::tuple(ErrorCode::kIo, Condition::kFailing, DiskHealth::kErrorCountsFor),
        std::tuple(ErrorCode::kReadOnly, Condition::kReadOnly, DiskHealth::kFullCountsFor),
        std::tuple(ErrorCode::kNoSpace, Condition::kNearlyFull, DiskHealth::kFullCountsFor)}) {
    DiskHealth health(0);
    EXPECT_EQ(health.note(Status(code, "why it is so"), now), code != ErrorCode::kNoSpace);
    EXPECT_EQ(health.look(here, now).condition, condition);
    EXPECT_EQ(health.look(here, now).why, "why it is so");
    EXPECT_EQ(health.look(here, now + time).condition, Condition::kGood);
    EXPECT_EQ(health.errors(), code == ErrorCode::kNoSpace ? 0 : 1);
  }
}

TEST(DiskHealths, AQuotaOfTheDiskMakesItNearlyFull) {
  DiskHealth health(0);
  EXPECT_FALSE(health.note(Status::from_errno(EDQUOT, "write")));
  EXPECT_EQ(health.look(::testing::TempDir()).condition, Condition::kNearlyFull);
}

TEST(DiskHealths, WhatClientsDoWrongIsNoErrorOfTheDisk) {
  DiskHealth health(0);
  for (const ErrorCode code : {ErrorCode::kPermissionDenied, ErrorCode::kFormat, ErrorCode::kCorrupted, ErrorCode::kAborted}) {
    EXPECT_FALSE(health.note(Status(code, "x")));
  }
  EXPECT_FALSE(health.note(Status()));
  EXPECT_FALSE(health.note(Status::from_errno(EFBIG, "write at the end of the world")));
  EXPECT_FALSE(health.note(Status::from_errno(EFBIG, "write").with_message("it is too much, in other words")));
  EXPECT_EQ(health.look(::testing::TempDir()).condition, Condition::kGood);
  EXPECT_EQ(health.errors(), 0);
  EXPECT_FALSE(health.note(Status(ErrorCode::kNoSpace, "write: File too large")));
  EXPECT_EQ(health.look(::testing::TempDir()).condition, Condition::kNearlyFull) << "no number says that it is the client's";
}

}  // namespace
}  // namespace stria::server
