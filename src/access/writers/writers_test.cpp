// Standings of handles of one file that was opened several times, each with locks of its own.
#include "access/writers/writers.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "comm/self/self_comm.hpp"
#include "storage/posix/posix_driver.hpp"

namespace stria::access {
namespace {

constexpr ByteRange kSomewhere{1000, 2000};

/// One open file of a node with one rank.
struct Opened {
  Opened(storage::Driver& driver, const std::string& path, uint64_t number)
      : file(driver.open(path, {.mode = storage::OpenOptions::Mode::kReadWrite}).value()) {
    locks->begin_notes(number);
  }
  /// Tells whether a plain write may enter without a lock of the file.
  bool writes_freely(Standing wish = Standing::kFree) {
    bool must_lock = false;
    const auto guard = writers.enter_plain(*file, kSomewhere, wish, must_lock);
    return !must_lock;
  }
  bool may_sieve(Standing wish = Standing::kSoleSiever) {
    NodeLocks::Guard guard;
    return writers.enter_window(*file, kSomewhere, wish, guard);
  }

  std::unique_ptr<Comm> comm = make_self_comm();
  std::unique_ptr<NodeLocks> locks = NodeLocks::create(*comm).value();
  std::unique_ptr<storage::File> file;
  Writers writers{*locks};
};

class WritersTest : public ::testing::Test {
 protected:
  void SetUp() override { driver_.open(path_, {.mode = storage::OpenOptions::Mode::kCreate}).value(); }
  void TearDown() override { driver_.remove(path_).throw_if_error(); }
  Opened open(uint64_t number) { return {driver_, path_, number}; }

  storage::PosixDriver driver_;
  std::string path_ = testing::TempDir() + "/stria-writers-" + std::to_string(getpid());
};

TEST_F(WritersTest, FreeOnesGoTogetherAndNobodySieves) {
  Opened one = open(7), two = open(8);
  EXPECT_TRUE(one.writes_freely());
  EXPECT_TRUE(two.writes_freely());
  EXPECT_FALSE(one.may_sieve());
  EXPECT_FALSE(two.may_sieve(Standing::kJointSiever));
  EXPECT_TRUE(one.writes_freely());
}

TEST_F(WritersTest, OneAloneSievesAndWhoComesLaterLocks) {
  Opened one = open(7), two = open(int64_t{1} << 60);
  EXPECT_TRUE(one.writes_freely());
  EXPECT_TRUE(one.may_sieve());
  EXPECT_TRUE(one.writes_freely()) << "its own locks do";
  EXPECT_FALSE(two.writes_freely());
  EXPECT_FALSE(two.may_sieve());
  EXPECT_FALSE(two.may_sieve(Standing::kJointSiever));
  EXPECT_TRUE(one.may_sieve()) << "who locks is in nobody's way";
}

TEST_F(WritersTest, SeveralSieveTogetherWhenAllLock) {
  Opened one = open(7), two = open(8), three = open(9);
  EXPECT_FALSE(one.writes_freely(Standing::kJointSiever));
  EXPECT_TRUE(two.may_sieve(Standing::kJointSiever));
  EXPECT_TRUE(one.may_sieve(Standing::kJointSiever));
  EXPECT_FALSE(two.writes_freely());
  EXPECT_FALSE(three.may_sieve(Standing::kSoleSiever));
  EXPECT_FALSE(three.writes_freely());
}

// A header by one rank, then pieces by all.
TEST_F(WritersTest, AFreeOneThatWouldSieveLetsOthersJoin) {
  Opened one = open(7), two = open(8);
  EXPECT_TRUE(one.writes_freely());
  EXPECT_FALSE(two.writers.has_been_refused_a_window());
  EXPECT_FALSE(two.may_sieve(Standing::kJointSiever)) << "the other writes freely";
  EXPECT_TRUE(two.writers.has_been_refused_a_window());
  EXPECT_FALSE(two.writes_freely(Standing::kJointSiever)) << "it would rather sieve";
  EXPECT_TRUE(one.may_sieve(Standing::kJointSiever));
  EXPECT_FALSE(one.writes_freely()) << "from now on it locks";
  int windows = 0;
  while (!two.may_sieve(Standing::kJointSiever) && ++windows < 100) {
  }
  EXPECT_LT(windows, 10);
}

TEST_F(WritersTest, WhoLocksIsFreeSoonAfterTheLastSieverHasGone) {
  Opened two = open(8);
  {
    Opened one = open(7);
    EXPECT_TRUE(one.may_sieve());
    EXPECT_FALSE(two.writes_freely());
    one.writers.leave();
    EXPECT_TRUE(one.writers.may_retire());
    one.writers.retire();
  }
  int locked_writes = 0;
  while (!two.writes_freely() && ++locked_writes < 1000) {
  }
  EXPECT_LT(locked_writes, 100);
  Opened three = open(9);
  EXPECT_FALSE(three.may_sieve());
}

TEST_F(WritersTest, WithoutLocksNobodySieves) {
  Opened one = open(7);
  Opened reader{driver_, path_, 8};
  reader.file = driver_.open(path_, {.mode = storage::OpenOptions::Mode::kRead}).value();
  const auto everything = reader.file->lock({0, INT64_MAX}, storage::LockMode::kShared);
  ASSERT_TRUE(everything.ok());
  EXPECT_FALSE(one.may_sieve()) << "somebody may be behind the lock of everything";
  EXPECT_FALSE(one.writes_freely());
}

}  // namespace
}  // namespace stria::access
