// A server's disk is full, fails, or may not be written. The request that meets this fails, with an
// error that says what and where. Everything else goes on.
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "server/clients_test.hpp"
#include "server/cluster_test.hpp"
#include "server/disk_image_test.hpp"
#include "server/objects/disk_health.hpp"
#include "server/objects/objects.hpp"
#include "storage/striped/store.hpp"
#include "storage/striped/striped_driver.hpp"
#include "wire/upkeep.hpp"

namespace stria::server {
namespace {

using storage::OpenOptions;
using storage::StripedDriver;
using storage::WriteSegment;
using testing::Cluster;
using testing::Disk;
using testing::make_directory;
using testing::noise;
using testing::read_all;
using testing::scratch_directory;
using testing::write_all;
using Mode = OpenOptions::Mode;

/// A file system in memory.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& options) : path_(make_directory(scratch_directory())) {
    ok_ = mount("none", path_.c_str(), "tmpfs", 0, options.c_str()) == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    umount2(path_.c_str(), MNT_DETACH);
    std::filesystem::remove(path_);
  }
  bool ok() const { return ok_; }
  const std::string& path() const { return path_; }
  bool make_read_only() const { return mount("none", path_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "") == 0; }

 private:
  std::string path_;
  bool ok_ = false;
};

TEST(DiskTrouble, AFullDiskIsAnErrorOfTheRequest) {
  const SmallDisk disk("size=2m");
  if (!disk.ok()) {
    GTEST_SKIP() << "no tmpfs can be mounted here";
  }
  Cluster cluster(1, disk.path());
  StripedDriver driver;
  const std::string path = cluster.url() + "/f";
  const auto file = driver.open(path, {.mode = Mode::kCreate}).value();
  EXPECT_EQ(write_all(*file, noise(4 << 20, 5)).code(), ErrorCode::kNoSpace);
  EXPECT_EQ(file->preallocate(8 << 20).code(), ErrorCode::kNoSpace);
  // Small pieces into a hole go through a mapping, where a full disk is a signal.
  STRIA_EXPECT_OK(file->resize(0));
  STRIA_EXPECT_OK(file->resize(8 << 20));
  const auto byte = noise(1, 1);
  std::vector<WriteSegment> pieces;
  for (int64_t offset = 0; offset < 8 << 20; offset += 4096) {
    pieces.push_back({offset, byte.data(), 1});
  }
  EXPECT_EQ(file->write(pieces).code(), ErrorCode::kNoSpace);
  STRIA_EXPECT_OK(file->resize(0));
  STRIA_EXPECT_OK(write_all(*file, noise(1000, 6)));
  EXPECT_EQ(read_all(*file), noise(1000, 6)) << "the server lives on";
}

TEST(DiskTrouble, NamesForWhichThereIsNoRoomAreRefusedAndOthersStay) {
  const SmallDisk disk("size=8m");  // Removals have 4 MiB of it.
  if (!disk.ok()) {
    GTEST_SKIP() << "no tmpfs can be mounted here";
  }
  Cluster cluster(1, disk.path());
  StripedDriver driver;
  const std::string first = cluster.url() + "/first";
  STRIA_EXPECT_OK(write_all(*driver.open(first, {.mode = Mode::kCreate}).value(), noise(1000, 1)));
  Status outcome;
  for (int i = 0; outcome.ok() && i < 20000; ++i) {
    const std::string path = cluster.url() + "/" + std::to_string(i) + std::string(200, 'x');
    const auto file = driver.open(path, {.mode = Mode::kCreate});
    outcome = file.status();
  }
  EXPECT_EQ(outcome.code(), ErrorCode::kNoSpace) << outcome.message();
  EXPECT_EQ(read_all(*driver.open(first, {}).value()), noise(1000, 1));
  STRIA_EXPECT_OK(driver.remove(first));
}

/// Takes all space that is left on the disk.
void fill(const std::string& path) {
  std::ofstream filler(path, std::ios::binary);
  const std::vector<char> page(4096);
  while (filler.write(page.data(), static_cast<std::streamsize>(page.size())).flush()) {
  }
}

TEST(DiskTrouble, AFullDiskIsEmptiedByRemovals) {
  const SmallDisk disk("size=24m");
  if (!disk.ok()) {
    GTEST_SKIP() << "no tmpfs can be mounted here";
  }
  Cluster cluster(1, disk.path());
  StripedDriver driver;
  const auto url = [&](const std::string& name) { return cluster.url() + "/" + name; };
  for (const char* name : {"one", "two", "three"}) {
    STRIA_EXPECT_OK(write_all(*driver.open(url(name), {.mode = Mode::kCreate}).value(), noise(4 << 20, 1)));
  }
  fill(disk.path() + "/filler");
  STRIA_EXPECT_OK(driver.rename(url("one"), url("first")));
  STRIA_EXPECT_OK(driver.remove(url("first")));
  for (int i = 0; !std::filesystem::exists(disk.path() + "/0/names.reserve") && i < 100; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  cluster.stop(0);
  fill(disk.path() + "/filler_too");
  cluster.start(0);
  STRIA_EXPECT_OK(driver.remove(url("two")));
  Status outcome(ErrorCode::kNoSpace, "");
  for (int i = 0; !outcome.ok() && i < 100; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto file = driver.open(url("four"), {.mode = Mode::kCreate});
    outcome = file.ok() ? write_all(**file, noise(1 << 20, 2)) : file.status();
  }
  STRIA_EXPECT_OK(outcome);
  EXPECT_EQ(read_all(*driver.open(url("three"), {}).value()), noise(4 << 20, 1));
}

TEST(DiskTrouble, WhatIsRemovedFromAFullDiskIsNotedOnceItHasRoom) {
  const SmallDisk disk("size=2m");
  if (!disk.ok()) {
    GTEST_SKIP() << "no tmpfs can be mounted here";
  }
  std::filesystem::create_directory(disk.path() + "/data");
  const auto objects = Objects::open({disk.path() + "/data", disk.path() + "/parts", disk.path() + "/removed"}).value();
  constexpr uint64_t kFile = 5;
  const PieceRow all{0, 1 << 20, 0, 1};
  STRIA_EXPECT_OK(objects->find(kFile, true).value()->write({&all, 1}, noise(1 << 20, 1).data()));
  fill(disk.path() + "/filler");
  EXPECT_EQ(objects->remove({&kFile, 1}).size(), 1U);
  EXPECT_EQ(objects->find(kFile, false).status().code(), ErrorCode::kCorrupted);
}

TEST(DiskTrouble, ADirectoryThatCannotBeWrittenIsToldAtTheStart) {
  const SmallDisk disk("size=3m");
  if (!disk.ok()) {
    GTEST_SKIP() << "no tmpfs can be mounted here";
  }
  { const Cluster cluster(1, disk.path()); }
  ASSERT_TRUE(disk.make_read_only());
  ServerOptions options;
  options.directory = disk.path() + "/0";
  const Status outcome = Server::start(options).status();
  EXPECT_EQ(outcome.code(), ErrorCode::kReadOnly) << outcome.message();
  EXPECT_NE(outcome.message().find(options.directory), std::string::npos) << outcome.message();
}

wire::Condition condition_of(const Cluster& cluster, size_t server) {
  const auto store = storage::Store::at(cluster.address()).value();
  const auto reply = store->ask_manager(wire::Kind::kConditions, {});
  return wire::decode<wire::Conditions>(reply.value())->entries.at(server).condition;
}

/// Waits until the manager knows it.
void await_condition(const Cluster& cluster, size_t server, wire::Condition wanted) {
  const auto deadline = storage::Clock::now() + std::chrono::seconds(60);
  while (condition_of(cluster, server) != wanted && storage::Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(condition_of(cluster, server), wanted);
}

/// Server 1 has a disk of its own.
Cluster::Change second_server_on(const std::string& disk) {
  return [disk](ServerOptions& options) {
    if (options.directory.ends_with("/1")) {
      options.directory = disk + "/store";
    }
  };
}

TEST(DiskTrouble, NewFilesKeepAwayFromADiskThatIsFull) {
  const SmallDisk disk("size=64m");
  if (!disk.ok()) {
    GTEST_SKIP() << "no tmpfs can be mounted here";
  }
  const Cluster cluster(3, second_server_on(disk.path()));
  StripedDriver driver;
  const auto make = [&](const std::string& name) {
    const auto file = driver.open(cluster.url() + name, {.mode = Mode::kCreate}).value();
    STRIA_EXPECT_OK(write_all(*file, noise(4 << 20, 5)));
    return testing::known_file(cluster.address(), name).slots.size();
  };
  EXPECT_EQ(make("/before"), 3u);
  fill(disk.path() + "/filler");
  await_condition(cluster, 1, wire::Condition::kNearlyFull);
  EXPECT_EQ(make("/full"), 2u);
  std::filesystem::remove(disk.path() + "/filler");
  await_condition(cluster, 1, wire::Condition::kGood);
  EXPECT_EQ(make("/emptied"), 3u);
}

TEST(DiskTrouble, AReadOnlyDiskIsSeen) {
  const SmallDisk disk("size=3m");
  if (!disk.ok()) {
    GTEST_SKIP() << "no tmpfs can be mounted here";
  }
  DiskHealth health(0);
  EXPECT_EQ(health.look(disk.path()).condition, wire::Condition::kGood);
  ASSERT_TRUE(disk.make_read_only());
  EXPECT_EQ(health.look(disk.path()).condition, wire::Condition::kReadOnly);
}

/// Sets or clears the flag by which a file system refuses changes, even by root.
bool set_immutable(const std::string& path, bool on) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  int flags = 0;
  bool done = ioctl(descriptor, FS_IOC_GETFLAGS, &flags) == 0;
  flags = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
  done = done && ioctl(descriptor, FS_IOC_SETFLAGS, &flags) == 0;
  ::close(descriptor);
  return done;
}

TEST(DiskTrouble, FoldersThatMayNotBeWrittenFailNewFilesOnly) {
  const Disk disk("ext4");
  if (!disk.ok()) {
    GTEST_SKIP() << "no image of ext4 can be made and mounted here";
  }
  Cluster cluster(1, disk.path());
  StripedDriver driver;
  const auto before = driver.open(cluster.url() + "/before", {.mode = Mode::kCreate}).value();
  STRIA_EXPECT_OK(write_all(*before, noise(1000, 1)));
  const auto protect = [&](bool on) {
    for (const auto& folder : std::filesystem::directory_iterator(cluster.data(0))) {
      ASSERT_TRUE(set_immutable(folder.path(), on)) << folder.path();
    }
  };
  protect(true);
  const auto after = driver.open(cluster.url() + "/after", {.mode = Mode::kCreate}).value();
  const Status outcome = write_all(*after, noise(1000, 2));
  EXPECT_EQ(outcome.code(), ErrorCode::kPermissionDenied) << outcome.message();
  EXPECT_NE(outcome.message().find("on the server"), std::string::npos) << outcome.message();
  STRIA_EXPECT_OK(write_all(*before, noise(3000, 3)));
  EXPECT_EQ(read_all(*before), noise(3000, 3));
  protect(false);
  STRIA_EXPECT_OK(write_all(*after, noise(1000, 2)));
}

/// The disk of the second of two servers answers everything with EIO from some moment on.
TEST(DiskTrouble, ADiskThatFailsIsAnErrorOfItsFilesOnly) {
  const Disk disk("ext4");
  if (!disk.ok()) {
    GTEST_SKIP() << "no image of ext4 can be made and mounted here";
  }
  Cluster cluster(2, second_server_on(disk.path()));
  StripedDriver driver;
  const auto open_on = [&](int server, const std::string& name) {
    OpenOptions options{.mode = Mode::kCreate};
    options.striping = {.server_count = 1, .first_server = server};
    return driver.open(cluster.url() + "/" + name, options).value();
  };
  const auto sound = open_on(0, "sound");
  const auto failing = open_on(1, "failing");
  const auto late = open_on(1, "late");
  STRIA_EXPECT_OK(write_all(*sound, noise(100000, 1)));
  STRIA_EXPECT_OK(write_all(*failing, noise(100000, 2)));
  ASSERT_TRUE(disk.lose_power());
  for (int i = 0; i < 3; ++i) {
    const Status outcome = failing->sync();
    EXPECT_EQ(outcome.code(), ErrorCode::kIo) << outcome.message();
    EXPECT_NE(outcome.message().find(cluster.address(1)), std::string::npos) << outcome.message();
  }
  EXPECT_FALSE(failing->preallocate(8 << 20).ok());
  await_condition(cluster, 1, wire::Condition::kFailing);
  STRIA_EXPECT_OK(driver.open(cluster.url() + "/elsewhere", {.mode = Mode::kCreate}).status());
  EXPECT_EQ(testing::known_file(cluster.address(), "/elsewhere").slots.size(), 1u);
  EXPECT_EQ(write_all(*late, noise(100000, 3)).code(), ErrorCode::kIo);
  STRIA_EXPECT_OK(write_all(*sound, noise(200000, 4)));
  EXPECT_EQ(read_all(*sound), noise(200000, 4));
  STRIA_EXPECT_OK(sound->sync());
}

}  // namespace
}  // namespace stria::server
