// Tests what a coherent file asks of the file below it, which takes notes here.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "storage/coherent/coherent_file.hpp"

namespace stria::storage {
namespace {

using Log = std::vector<std::string>;

std::string text(const char* what, ByteRange range) {
  return std::string(what) + " " + std::to_string(range.begin) + "-" + std::to_string(range.end);
}

class NotedLock : public RangeLock {
 public:
  explicit NotedLock(Log& log) : log_(log) {}
  NotedLock(const NotedLock&) = delete;
  NotedLock& operator=(const NotedLock&) = delete;
  ~NotedLock() override { log_.emplace_back("unlock"); }

 private:
  Log& log_;
};

class NotingFile : public File {
 public:
  NotingFile(Log& log, bool caches_apart, bool locks_reach_all) : log_(log) {
    capabilities_.caches_apart = caches_apart;
    capabilities_.locks_reach_all = locks_reach_all;
  }
  const std::string& path() const override { return path_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Status write(std::span<const WriteSegment>) override { return note("write"); }
  Result<int64_t> read(std::span<const ReadSegment>) override {
    log_.emplace_back("read");
    return int64_t{0};
  }
  Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode) override { return try_lock(range, mode); }
  Result<std::unique_ptr<RangeLock>> try_lock(ByteRange range, LockMode mode) override {
    log_.push_back(text(mode == LockMode::kShared ? "share" : "lock", range));
    return std::unique_ptr<RangeLock>(std::make_unique<NotedLock>(log_));
  }
  Status refresh(ByteRange range) override { return note(text("refresh", range)); }
  Status hand_over(ByteRange range) override { return note(text("hand over", range)); }
  Result<int64_t> size() override { return int64_t{7}; }
  Status resize(int64_t) override { return {}; }
  Status preallocate(int64_t) override { return {}; }
  Status sync() override { return {}; }
  Status close() override { return {}; }

 private:
  Status note(const std::string& what) {
    log_.push_back(what);
    return {};
  }
  Log& log_;
  std::string path_ = "noted";
  Capabilities capabilities_;
};

struct Case {
  Case(bool caches_apart, bool locks_reach_all, bool is_asked_for = false)
      : file(make_coherent(std::make_unique<NotingFile>(log, caches_apart, locks_reach_all), is_asked_for)) {}
  void access() {
    std::byte data[8] = {};
    EXPECT_TRUE(file->write(std::vector<WriteSegment>{{100, data, 8}, {20, data, 4}}).ok());
    EXPECT_TRUE(file->read(std::vector<ReadSegment>{{30, data, 8}}).ok());
  }

  Log log;
  std::unique_ptr<File> file;
};

TEST(CoherentFile, LeavesAloneWhatIsCoherent) {
  Case local(false, true);
  local.access();
  EXPECT_EQ(local.log, (Log{"write", "read"}));
}

TEST(CoherentFile, LocksEachAccessWhereLocksReachAll) {
  const Log wanted{"lock 20-108", "write", "unlock", "share 30-38", "read", "unlock"};
  Case nfs(true, true);
  nfs.access();
  EXPECT_EQ(nfs.log, wanted);
  EXPECT_TRUE(nfs.file->capabilities().locks_itself);
  Case asked(false, true, true);
  asked.access();
  EXPECT_EQ(asked.log, wanted);
}

TEST(CoherentFile, LocksNothingWithinALockThatTheCallerHolds) {
  Case nfs(true, true);
  {
    const auto window = nfs.file->lock({0, 200}, LockMode::kExclusive);
    nfs.access();
  }
  EXPECT_EQ(nfs.log, (Log{"lock 0-200", "write", "read", "unlock"}));
  nfs.log.clear();
  {
    const auto window = nfs.file->lock({0, 50}, LockMode::kShared);
    std::byte data[8] = {};
    EXPECT_TRUE(nfs.file->read(std::vector<ReadSegment>{{30, data, 8}}).ok());
  }
  EXPECT_EQ(nfs.log, (Log{"share 0-50", "read", "unlock"}));
}

// The system takes a lock away when an overlapping lock of the same file handle is given back.
TEST(CoherentFile, GivesBackNothingOfALockThatTheCallerHolds) {
  Case nfs(true, true);
  const auto window = nfs.file->lock({33, 200}, LockMode::kExclusive);
  nfs.access();
  EXPECT_EQ(nfs.log, (Log{"lock 33-200", "write", "read"}));
}

// Where locks don't reach other nodes, every access hands over or refreshes instead.
TEST(CoherentFile, EmptiesCachesWhereLocksDont) {
  Case asked(true, false, true);
  asked.access();
  EXPECT_EQ(asked.log, (Log{"write", "hand over 20-108", "refresh 30-38", "read"}));
  Case other(true, false);
  other.access();
  EXPECT_EQ(*other.file->size(), 7);
  EXPECT_EQ(other.log, (Log{"write", "hand over 20-108", "refresh 30-38", "read", "refresh 0-0"}));
  EXPECT_FALSE(other.file->capabilities().locks_itself);
}

}  // namespace
}  // namespace stria::storage
