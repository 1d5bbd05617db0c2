// Files that are staged on their way to their place: names, what a killed program leaves, and which
// of two files is read.
#include "file/background/staging_place.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "access/random_case_test.hpp"
#include "file/session/session_case_test.hpp"
#include "storage/path.hpp"
#include "storage/registry.hpp"

namespace stria::file::test {
namespace {

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
  /// A file that a killed program has staged and not brought to its place.
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
  const Bytes content(100'000, std::byte{7});
  access::test::set_content(memory_, staged, content);
  auto own = std::make_unique<PartialFile>(borrow(memory_), "/data/large.h5");
  ASSERT_TRUE(own->create({}).ok());
  Drain drain(borrow(memory_), staged, std::move(own));
  Pace pace(1'310'720);  // pieces of 64 KiB
  ASSERT_EQ(drain.step(pace, false).value(), false);
  ASSERT_TRUE(memory_.remove(staged).ok());
  EXPECT_EQ(drain.step(pace, false).value(), true);
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

TEST(StagingPlace, TheNewerOfTwoFilesCounts) {
  namespace fs = std::filesystem;
  const fs::path directory = fs::temp_directory_path() / ("stria_staging_place." + std::to_string(getpid()));
  fs::create_directories(directory / "near");
  const std::string own = directory / "run.h5";
  const std::string staged = staged_path(directory / "near", own);
  const auto driver = storage::make_driver("posix").value();
  const auto put = [](const std::string& path, const std::string& content) { std::ofstream(path) << content; };
  put(own, "own");
  EXPECT_EQ(nearest_path(*driver, directory / "near", own), own);
  put(staged, "staged");
  fs::last_write_time(own, fs::last_write_time(staged) - std::chrono::seconds(5));
  EXPECT_EQ(nearest_path(*driver, directory / "near", own), staged);
  fs::last_write_time(own, fs::last_write_time(staged) + std::chrono::seconds(5));
  EXPECT_EQ(nearest_path(*driver, directory / "near", own), own);
  Status failure;
  EXPECT_TRUE(drain_place(driver, directory / "near", failure).empty());
  EXPECT_FALSE(fs::exists(staged));
  EXPECT_EQ(fs::file_size(own), 3U);
  fs::remove_all(directory);
}

}  // namespace
}  // namespace stria::file::test
