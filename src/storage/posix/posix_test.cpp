// Tests what only real files have: full and read-only file systems, alignment, and the joining of
// neighbours into runs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "storage/conformance_test.hpp"
#include "storage/lists/runs.hpp"
#include "storage/posix/file_system/remote_names.hpp"
#include "storage/posix/posix_driver.hpp"
#include "storage/uring/uring_driver.hpp"

namespace stria::storage {
namespace {

using Mode = OpenOptions::Mode;
using testing::AlignedBytes;

/// A small tmpfs, mounted as long as this lives; `mounted` is false where mounting isn't allowed.
class SmallMount {
 public:
  explicit SmallMount(const char* options) {
    std::string pattern = testing::disk_directory() + "/stria-mount-XXXXXX";
    path = mkdtemp(pattern.data());
    mounted = mount("stria", path.c_str(), "tmpfs", 0, options) == 0;
    reason = std::strerror(errno);
  }
  SmallMount(const SmallMount&) = delete;
  SmallMount& operator=(const SmallMount&) = delete;
  ~SmallMount() {
    if (mounted) {
      umount2(path.c_str(), MNT_DETACH);
    }
    std::filesystem::remove(path);
  }
  bool make_read_only() const { return mount(nullptr, path.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0; }

  std::string path;
  std::string reason;
  bool mounted = false;
};

std::vector<std::shared_ptr<Driver>> real_drivers() {
  std::vector<std::shared_ptr<Driver>> drivers{std::make_shared<PosixDriver>()};
  if (auto uring = UringDriver::make(); uring.ok()) {
    drivers.push_back(*uring);
  }
  return drivers;
}

TEST(RealFiles, APipeIsRefusedAtOnce) {
  for (const auto& driver : real_drivers()) {
    const std::string path = testing::disk_directory() + "/stria-pipe-" + std::to_string(getpid());
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    const auto file = driver->open(path, {.mode = Mode::kRead});
    EXPECT_EQ(file.status().message(), "open '" + path + "': it is a pipe, not a file");
    EXPECT_FALSE(driver->open(path, {.mode = Mode::kReadWrite}).ok());
    std::filesystem::remove(path);
  }
}

TEST(RealFiles, FullFileSystem) {
  for (const auto& driver : real_drivers()) {
    const SmallMount small("size=64k");
    if (!small.mounted) {
      GTEST_SKIP() << "no tmpfs can be mounted here: " << small.reason;
    }
    const std::string path = small.path + "/f";
    const auto file = driver->open(path, {.mode = Mode::kCreate}).value();
    AlignedBytes data(100000);
    const Status full = file->write(std::vector<WriteSegment>{{0, data.data(), 100000}});
    EXPECT_EQ(full.code(), ErrorCode::kNoSpace);
    EXPECT_TRUE(full.message().starts_with("write '" + path + "' at offset 6"))
        << full.message();  // 65536, or a page before it
    EXPECT_TRUE(full.message().ends_with(" bytes): No space left on device")) << full.message();
    EXPECT_EQ(file->start_write(std::vector<WriteSegment>{{65536, data.data(), 5000}})->wait().code(), ErrorCode::kNoSpace);
    STRIA_EXPECT_OK(file->resize(0));
    STRIA_EXPECT_OK(file->preallocate(40000));
    EXPECT_EQ(file->preallocate(100000).code(), ErrorCode::kNoSpace);
    STRIA_EXPECT_OK(file->close());
  }
}

TEST(RealFiles, ReadOnlyFileSystem) {
  for (const auto& driver : real_drivers()) {
    const SmallMount small("size=64k");
    if (!small.mounted) {
      GTEST_SKIP() << "no tmpfs can be mounted here: " << small.reason;
    }
    const std::string path = small.path + "/f";
    STRIA_EXPECT_OK((*driver->open(path, {.mode = Mode::kCreate}))->close());
    ASSERT_TRUE(small.make_read_only()) << std::strerror(errno);
    EXPECT_EQ(driver->open(path + "2", {.mode = Mode::kCreate}).status().code(), ErrorCode::kReadOnly);
    EXPECT_EQ(driver->open(path, {.mode = Mode::kReadWrite}).status().code(), ErrorCode::kReadOnly);
    EXPECT_EQ(driver->rename(path, path + "2").code(), ErrorCode::kReadOnly);
    EXPECT_EQ(driver->remove(path).message(), "remove '" + path + "': Read-only file system");
    EXPECT_TRUE(driver->open(path, {.mode = Mode::kRead}).ok());
  }
}

TEST(RealFiles, MissingDirectories) {
  for (const auto& driver : real_drivers()) {
    const auto made = driver->open("/nowhere/at/all", {.mode = Mode::kCreate});
    EXPECT_EQ(made.status().code(), ErrorCode::kNotFound);
    EXPECT_EQ(made.status().message(), "create '/nowhere/at/all': No such file or directory");
    EXPECT_EQ(driver->list_directory("/nowhere/at/all").status().code(), ErrorCode::kNotFound);
    EXPECT_EQ(driver->sync_directory("/nowhere/at/all").code(), ErrorCode::kNotFound);
    EXPECT_FALSE(*driver->exists("/nowhere/at/all"));
  }
}

TEST(RealFiles, DirectWritesSayWhatAlignmentTheyNeed) {
  const std::string path = testing::disk_directory() + "/stria-direct-" + std::to_string(getpid());
  for (const auto& driver : real_drivers()) {
    auto file = driver->open(path, {.mode = Mode::kCreate, .direct = true});
    if (!file.ok()) {
      GTEST_SKIP() << file.status().message();
    }
    AlignedBytes data(8192);
    const Status crooked = (*file)->write(std::vector<WriteSegment>{{100, data.data() + 1, 100}});
    EXPECT_EQ(crooked.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(crooked.message().find("must be multiples of 4096 bytes"), std::string::npos) << crooked.message();
    file = Status(ErrorCode::kAborted, "closed");
    STRIA_EXPECT_OK(driver->remove(path));
  }
}

TEST(RealFiles, AreOwnedWhileNobodyElseHasThemOpen) {
  for (const std::string& directory : {testing::disk_directory(), std::string("/dev/shm")}) {
    const std::string path = directory + "/stria-own-" + std::to_string(getpid());
    for (const auto& driver : real_drivers()) {
      auto file = driver->open(path, {.mode = Mode::kCreate});
      ASSERT_TRUE(file.ok()) << file.status().message();
      auto owned = (*file)->own();
      if (!owned.ok()) {
        EXPECT_EQ(owned.status().code(), ErrorCode::kUnsupported);
        GTEST_SKIP() << owned.status().message();
      }
      std::atomic<bool> opened{false};
      std::thread other([&] {
        auto late = driver->open(path, {.mode = Mode::kReadWrite});
        opened = true;
        EXPECT_TRUE(late.ok()) << late.status().message();
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      EXPECT_FALSE(opened) << "who opens the file waits for its owner";
      *owned = nullptr;
      other.join();
      owned = (*file)->own();
      EXPECT_TRUE(owned.ok()) << "the other has closed it: " << owned.status().message();
      *owned = nullptr;
      for (const Mode mode : {Mode::kRead, Mode::kReadWrite}) {
        auto second = driver->open(path, {.mode = mode});
        ASSERT_TRUE(second.ok());
        EXPECT_EQ((*file)->own().status().code(), ErrorCode::kUnsupported);
      }
      file = Status(ErrorCode::kAborted, "closed");
      STRIA_EXPECT_OK(driver->remove(path));
    }
  }
}

TEST(RealFiles, TmpfsOffersNoDirectWrites) {
  const std::string path = "/dev/shm/stria-direct-" + std::to_string(getpid());
  for (const auto& driver : real_drivers()) {
    EXPECT_EQ(driver->open(path, {.mode = Mode::kCreate, .direct = true}).status().code(), ErrorCode::kUnsupported);
    static_cast<void>(driver->remove(path));
  }
}

/// A directory that is removed with its files.
class SmallDirectory {
 public:
  SmallDirectory() {
    std::string pattern = testing::disk_directory() + "/stria-names-XXXXXX";
    path = mkdtemp(pattern.data());
  }
  SmallDirectory(const SmallDirectory&) = delete;
  SmallDirectory& operator=(const SmallDirectory&) = delete;
  ~SmallDirectory() { std::filesystem::remove_all(path); }
  std::string path;
};

// A file that another node creates may appear here only after a while.
TEST(RemoteNames, WaitsForAFileThatAnotherNodeHasOpened) {
  const SmallDirectory directory;
  const std::string path = directory.path + "/late";
  std::thread other_node([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::ofstream(path) << "here";
  });
  PosixDriver driver(real_system_calls());
  OpenOptions options;
  EXPECT_EQ(driver.open(path, options).status().code(), ErrorCode::kNotFound);
  options.expected_number = 1;
  const auto file = driver.open(path, options);
  other_node.join();
  EXPECT_TRUE(file.ok()) << file.status().message();
}

// The calls that look up a name again must change nothing.
TEST(RemoteNames, LeavesNothingBehind) {
  const SmallDirectory directory;
  const std::string there = directory.path + "/there";
  std::ofstream(there) << "content";
  look_up_anew(there);
  look_up_anew(directory.path + "/not there");
  look_up_anew(directory.path + "/no/such/directory");
  PosixDriver driver(real_system_calls());
  EXPECT_EQ(driver.list_directory(directory.path).value(), std::vector<std::string>{"there"});
  EXPECT_EQ(std::filesystem::file_size(there), 7u);
  EXPECT_EQ(std::filesystem::hard_link_count(there), 1u);
}

/// A file that every read finds cut at another place.
class RestlessCalls : public SystemCalls {
 public:
  explicit RestlessCalls(uint64_t seed) : random_(seed) {}
  ssize_t preadv(int descriptor, const iovec* pieces, int count, int64_t offset) override {
    const int64_t end = random_() % 2 == 0 ? INT64_MAX : static_cast<int64_t>(random_() % 2000);
    std::vector<iovec> all(pieces, pieces + count);
    const auto left = cut_to(all, std::max<int64_t>(end - offset, 0));
    return left.empty() ? 0 : SystemCalls::preadv(descriptor, left.data(), static_cast<int>(left.size()), offset);
  }

 private:
  std::mt19937_64 random_;
};

/// Returns the least end of the file for which the list reads this many bytes; -1: there is none.
int64_t end_for(const std::vector<ReadSegment>& segments, int64_t total) {
  for (int64_t end = 0; end <= 4000; ++end) {
    int64_t before = 0;
    for (const ReadSegment& segment : segments) {
      before += std::clamp<int64_t>(end - segment.offset, 0, segment.bytes);
    }
    if (before == total) {
      return end;
    }
  }
  return -1;
}

// The bytes that a list counts are all those before one place in the file, though others may have
// been read as well.
TEST(RealFiles, ListsCountBytesBeforeTheEndThatTheyFound) {
  const std::string path = testing::disk_directory() + "/stria-cut-" + std::to_string(getpid());
  const std::vector<std::byte> content(2000, std::byte{1});
  int cut = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    RestlessCalls calls(seed);
    PosixDriver driver(calls);
    const auto file = driver.open(path, {.mode = Mode::kCreate}).value();
    STRIA_EXPECT_OK(file->write(std::vector<WriteSegment>{{0, content.data(), 2000}}));
    std::mt19937_64 random(seed);
    std::vector<std::byte> memory(12 * 300);
    std::vector<ReadSegment> segments;
    for (int64_t i = 0; i < 12; ++i) {
      segments.push_back(
          {static_cast<int64_t>(random() % 1700), memory.data() + 300 * i, static_cast<int64_t>(random() % 300)});
    }
    const int64_t total = file->read(segments).value();
    const int64_t end = end_for(segments, total);
    ASSERT_GE(end, 0) << "seed " << seed;
    cut += end < 1000 ? 1 : 0;
    for (const ReadSegment& segment : segments) {
      const int64_t wanted = std::clamp<int64_t>(end - segment.offset, 0, segment.bytes);
      ASSERT_EQ(std::count(segment.data, segment.data + wanted, std::byte{1}), wanted) << "seed " << seed;
    }
  }
  EXPECT_GT(cut, 30);
  unlink(path.c_str());
}

/// A cache that holds the file up to some byte.
class HalfCachedCalls : public SystemCalls {
 public:
  int64_t cached_bytes = 0;
  std::vector<ByteRange> asked;
  bool is_cached(int, int64_t offset) override { return offset < cached_bytes; }
  void read_ahead(int descriptor, int64_t offset, int64_t bytes) override {
    asked.push_back({offset, offset + bytes});
    SystemCalls::read_ahead(descriptor, offset, bytes);
  }
};

TEST(RealFiles, AskForWhatIsNotInTheCache) {
  const std::string path = testing::disk_directory() + "/stria-ahead-" + std::to_string(getpid());
  HalfCachedCalls calls;
  PosixDriver driver(calls);
  auto file = driver.open(path, {.mode = OpenOptions::Mode::kCreate});
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_TRUE((*file)->resize(1 << 20).ok());
  calls.cached_bytes = 1000;
  (*file)->will_read({0, 1000});
  (*file)->will_read({500, 500});
  EXPECT_TRUE(calls.asked.empty());
  (*file)->will_read({0, 1001});
  (*file)->will_read({5000, 1 << 22});  // past the end
  ASSERT_EQ(calls.asked.size(), 2U);
  EXPECT_EQ(calls.asked[0].end, 1001);
  EXPECT_EQ(calls.asked[1].begin, 5000);
  EXPECT_TRUE((*file)->close().ok());
  (*file)->will_read({5000, 6000});
  EXPECT_EQ(calls.asked.size(), 2U);
  ASSERT_TRUE(driver.remove(path).ok());
}

/// Every file is on NFS; flock(), which locks all of a file there, fails.
class NfsCalls : public SystemCalls {
 public:
  uint32_t file_system(int) override { return 0x6969; }
  int flock(int, int) override {
    errno = ENOLCK;
    return -1;
  }
};

/// Returns the lock that keeps another handle from locking all of the file: its type, and its
/// bytes.
std::pair<short, int64_t> lock_on(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct flock found = {};
  found.l_type = F_WRLCK;
  found.l_whence = SEEK_SET;
  fcntl(descriptor, F_OFD_GETLK, &found);
  ::close(descriptor);
  return {found.l_type, found.l_len};
}

// An NFS client sends pages whole, other nodes' bytes as it remembers them too, unless it holds a
// lock of a part of the file.
TEST(RealFiles, WritersOnNfsHoldALockOfAByte) {
  const std::string path = testing::disk_directory() + "/stria-nfs-" + std::to_string(getpid());
  NfsCalls calls;
  PosixDriver driver(calls);
  {
    const auto owner = driver.open(path, {.mode = Mode::kCreate, .exclusive_lock = true}).value();
    const auto writer = driver.open(path, {.mode = Mode::kReadWrite}).value();
    const Status second = driver.open(path, {.mode = Mode::kReadWrite, .exclusive_lock = true}).status();
    EXPECT_NE(second.message().find("another program"), std::string::npos) << second.message();
    STRIA_EXPECT_OK(owner->close());
    EXPECT_EQ(lock_on(path), (std::pair<short, int64_t>(F_RDLCK, 1))) << "the writer's";
    EXPECT_TRUE(driver.open(path, {.mode = Mode::kReadWrite, .exclusive_lock = true}).ok());
  }
  const auto reader = driver.open(path, {.mode = Mode::kRead});
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(lock_on(path).first, F_UNLCK);
  unlink(path.c_str());
}

TEST(Runs, JoinNeighboursAndKeepTheRestApart) {
  std::byte memory[100];
  const RunList list = make_runs(std::vector<WriteSegment>{{50, memory + 60, 10},
                                                           {0, memory, 10},
                                                           {10, memory + 10, 5},
                                                           {20, memory + 40, 5},
                                                           {15, memory + 30, 5},
                                                           {90, memory, 0}},
                                 1 << 20);
  ASSERT_EQ(list.runs.size(), 2u);
  EXPECT_EQ(list.runs[0].offset, 0);
  EXPECT_EQ(list.runs[0].bytes, 25);
  EXPECT_EQ(list.runs[0].piece_count, 3u) << "[0, 15) is one piece of memory too";
  EXPECT_EQ(list.runs[1].offset, 50);
  EXPECT_EQ(list.runs[1].first_piece, 3u);
}

TEST(Runs, AreCutAtTheLargestSize) {
  std::byte memory[100];
  const RunList list = make_runs(std::vector<WriteSegment>{{0, memory, 35}, {35, memory + 50, 10}}, 20);
  ASSERT_EQ(list.runs.size(), 3u);
  EXPECT_EQ(list.runs[1].bytes, 20);
  EXPECT_EQ(list.runs[1].piece_count, 2u);
  EXPECT_EQ(list.runs[2].offset, 40);
  EXPECT_EQ(list.runs[2].bytes, 5);
}

}  // namespace
}  // namespace stria::storage
