// Files that are staged on their way to their place: names, what a killed program leaves, and which
// of two files is read.
#include "file/background/staging_place.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "access/random_case_test.hpp"
#include "container/hdf5/form/format.hpp"
#include "file/session/session_case_test.hpp"
#include "storage/path.hpp"
#include "storage/registry/registry.hpp"

namespace stria::file::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlace = "/near";

TEST(StagingPlace, NamesTellWhereAFileBelongs) {
  for (const std::string path : {"/scratch/run 1/chk_0001.h5", "/a", "stria://host:7000/a/b%2F.h5", "/\xc3\xbc.h5"}) {
    const std::string staged = staged_path(kPlace, path);
    EXPECT_EQ(storage::directory_of(staged), kPlace);
    EXPECT_EQ(path_of_staged(storage::file_name_of(staged)), path);
  }
  for (const char* name : {"", "run.h5", "%2", "%", "%2f", "%2Fa/b", "%2Fa b", ".%2Fa.partial", "relative%2Fa"}) {
    EXPECT_EQ(path_of_staged(name), std::nullopt) << name;
  }
}

class StagingPlaceTest : public ::testing::Test {
 protected:
  StagingPlaceTest() {
    setting_.path = "/data/run.h5";
    setting_.ranks = 2;
    setting_.flushes = 1;
    setting_.hints.staging_place = kPlace;
  }
  std::vector<std::string> staged_names() { return memory_.list_directory(kPlace).value(); }
  void write(const Setting& setting) {
    on_ranks(setting, [&](Comm& comm) { ASSERT_EQ(write_file(setting, comm, borrow(memory_)).message(), ""); });
  }
  void expect_content(const Setting& setting) {
    on_ranks(setting, [&](Comm& comm) { ASSERT_EQ(compare_file(setting, comm, borrow(memory_), {.verify = true}), ""); });
  }
  /// Leaves a file that a killed program has staged and not brought to its place.
  void leave_staged(const std::string& path, uint64_t seed) {
    Setting other = setting_;
    other.hints.staging_place.clear();
    other.path = staged_path(kPlace, path);
    other.seed = seed;
    write(other);
  }

  Setting setting_;
  storage::MemoryDriver memory_;
};

TEST_F(StagingPlaceTest, ACommitInTheCallIsAtItsPlaceAfterIt) {
  write(setting_);
  EXPECT_TRUE(staged_names().empty());
  setting_.hints.staging_place.clear();
  expect_content(setting_);
}

TEST_F(StagingPlaceTest, AStagedFileThatAnotherProgramRemovesBeforeIsBroughtNevertheless) {
  const std::string staged = staged_path(kPlace, "/data/large.h5");
  Bytes content(100'000, std::byte{7});
  const auto begin = std::as_bytes(std::span(container::h5::kSignature));
  std::copy(begin.begin(), begin.end(), content.begin());
  access::test::set_content(memory_, staged, content);
  auto own = std::make_unique<PartialFile>(borrow(memory_), "/data/large.h5");
  ASSERT_TRUE(own->create({}).ok());
  Drain drain(borrow(memory_), staged, std::move(own));
  ASSERT_EQ(drain.step(64 << 10, false).value(), false);
  ASSERT_TRUE(memory_.remove(staged).ok());
  EXPECT_EQ(drain.step(64 << 10, false).value(), true);
  EXPECT_EQ(access::test::content_of(memory_, "/data/large.h5"), content);
}

TEST_F(StagingPlaceTest, TheNextProgramBringsWhatAKilledOneHasLeftAndClearsTheRest) {
  leave_staged("/data/older.h5", 5);
  access::test::set_content(memory_, partial_path(staged_path(kPlace, "/data/half.h5")), Bytes(100));
  access::test::set_content(memory_, "/near/not ours", Bytes(100));
  write(setting_);
  EXPECT_EQ(staged_names(), std::vector<std::string>{"not ours"});
  setting_.hints.staging_place.clear();
  expect_content(setting_);
  setting_.path = "/data/older.h5";
  setting_.seed = 5;
  expect_content(setting_);
}

TEST_F(StagingPlaceTest, WhatALiveProgramWorksOnStays) {
  leave_staged("/data/older.h5", 5);
  const std::vector<std::string> before = staged_names();
  PartialFile live(borrow(memory_), "/data/older.h5");
  ASSERT_TRUE(live.create({}).ok());
  PartialFile half(borrow(memory_), staged_path(kPlace, "/data/half.h5"));
  ASSERT_TRUE(half.create({}).ok());
  Status failure;
  EXPECT_TRUE(drain_place(borrow(memory_), kPlace, failure).empty());
  EXPECT_TRUE(failure.ok()) << failure.message();
  EXPECT_EQ(staged_names().size(), before.size() + 1);
}

TEST_F(StagingPlaceTest, AFileIsReadWhereItIsStaged) {
  leave_staged(setting_.path, 9);
  setting_.seed = 9;
  expect_content(setting_);
  EXPECT_FALSE(*memory_.exists(setting_.path));
}

/// Tells no times.
class TimelessDriver final : public storage::MemoryDriver {
 public:
  Result<storage::NameInfo> name_info(const std::string& path) override {
    STRIA_ASSIGN_OR_RETURN(storage::NameInfo info, MemoryDriver::name_info(path));
    info.changed_ns.reset();
    return info;
  }
};

TEST(StagingPlace, TwoFilesWhoseAgesCantBeComparedBothStay) {
  TimelessDriver memory;
  const std::string staged = staged_path(kPlace, "/data/run.h5");
  access::test::set_content(memory, staged, Bytes(100));
  EXPECT_EQ(find_nearest(memory, kPlace, "/data/run.h5").value().path, staged);
  access::test::set_content(memory, "/data/run.h5", Bytes(10));
  Status failure;
  EXPECT_TRUE(drain_place(borrow(memory), kPlace, failure).empty());
  for (const Status& status : {failure, find_nearest(memory, kPlace, "/data/run.h5").status()}) {
    EXPECT_EQ(status.message(), "'/data/run.h5' is at its own place and staged as '" + staged +
                                    "', and their ages can't be compared: remove one");
  }
  EXPECT_EQ(access::test::content_of(memory, "/data/run.h5").size(), 10U);
  EXPECT_EQ(access::test::content_of(memory, staged).size(), 100U);
}

/// Two directories of the disk: one where files are staged, which others share, and their own.
class SharedPlaceTest : public ::testing::Test {
 protected:
  SharedPlaceTest() { fs::create_directories(directory_ / "near"); }
  ~SharedPlaceTest() override { fs::remove_all(directory_); }
  static void put(const std::string& path, const std::string& content) { std::ofstream(path) << content; }
  static std::string content_of(const std::string& path) { return (std::stringstream() << std::ifstream(path).rdbuf()).str(); }
  std::vector<std::string> drain() { return drain_place(driver_, directory_ / "near", failure_); }
  Nearest nearest() { return find_nearest(*driver_, directory_ / "near", own_).value(); }

  const fs::path directory_ = fs::temp_directory_path() / ("stria_staging_place." + std::to_string(getpid()));
  const std::string own_ = directory_ / "run.h5";
  const std::string staged_ = staged_path(directory_ / "near", own_);
  const std::string container_ = std::string(container::h5::kSignature) + "and more";
  const std::shared_ptr<storage::Driver> driver_ = storage::make_driver("posix").value();
  Status failure_;
};

TEST_F(SharedPlaceTest, AnotherUsersFileIsNeitherBroughtNorRead) {
  put(staged_, container_);
  if (chown(staged_.c_str(), 65534, 65534) != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  EXPECT_TRUE(drain().empty());
  EXPECT_TRUE(failure_.ok()) << failure_.message();
  EXPECT_TRUE(staged_files(*driver_, directory_ / "near").value().empty());
  EXPECT_EQ(nearest().path, own_);
  EXPECT_NE(nearest().remark.find("is another user's, or a link"), std::string::npos) << nearest().remark;
  EXPECT_FALSE(fs::exists(own_));
  EXPECT_TRUE(fs::exists(staged_));
  EXPECT_EQ(driver_->open(staged_, kOpenStaged).status().code(), ErrorCode::kPermissionDenied);
}

TEST_F(SharedPlaceTest, LinksAreNotFollowed) {
  const std::string secret = directory_ / "secret";
  put(secret, container_);
  fs::create_symlink(secret, staged_);
  EXPECT_TRUE(drain().empty());
  EXPECT_EQ(nearest().path, own_);
  EXPECT_EQ(driver_->open(staged_, kOpenStaged).status().code(), ErrorCode::kPermissionDenied);
  fs::remove(staged_);
  fs::create_hard_link(secret, staged_);
  EXPECT_TRUE(drain().empty());
  EXPECT_EQ(driver_->open(staged_, kOpenStaged).status().code(), ErrorCode::kPermissionDenied);
  EXPECT_FALSE(fs::exists(own_));
  fs::create_symlink(secret, partial_path(staged_));
  EXPECT_EQ(PartialFile(driver_, staged_).create({.is_staged = true}).code(), ErrorCode::kPermissionDenied);
  EXPECT_EQ(content_of(secret), container_);
}

TEST_F(SharedPlaceTest, AFileOfAnotherKindIsNotBrought) {
  put(staged_, "alias ls='rm -rf'");
  EXPECT_TRUE(drain().empty());
  EXPECT_EQ(failure_.code(), ErrorCode::kFormat) << failure_.message();
  EXPECT_FALSE(fs::exists(own_));
  EXPECT_FALSE(fs::exists(partial_path(own_)));
  put(staged_, container_);
  EXPECT_EQ(staged_files(*driver_, directory_ / "near").value(), std::vector<std::string>{own_});
  EXPECT_EQ(drain(), std::vector<std::string>{own_});
  EXPECT_EQ(content_of(own_), container_);
}

TEST_F(SharedPlaceTest, TheNewerOfTwoFilesCounts) {
  put(own_, "own");
  EXPECT_EQ(nearest().path, own_);
  put(staged_, "staged");
  fs::last_write_time(own_, fs::last_write_time(staged_) - std::chrono::seconds(5));
  EXPECT_EQ(nearest().path, staged_);
  fs::last_write_time(own_, fs::last_write_time(staged_) + std::chrono::seconds(5));
  EXPECT_EQ(nearest().path, own_);
  EXPECT_TRUE(drain().empty());
  EXPECT_FALSE(fs::exists(staged_));
  EXPECT_EQ(content_of(own_), "own");
}

}  // namespace
}  // namespace stria::file::test
