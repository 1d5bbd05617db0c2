// Acknowledged writes survive a kill of the server, and synced ones a loss of power. What was not
// synced is old or new, or is reported as neither.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "server/cluster_test.hpp"
#include "server/disk_image_test.hpp"
#include "server/server_processes_test.hpp"
#include "storage/conformance_test.hpp"
#include "storage/striped/store.hpp"
#include "storage/striped/striped_driver.hpp"

namespace stria::server {
namespace {

using storage::OpenOptions;
using storage::ReadSegment;
using storage::StripedDriver;
using storage::WriteSegment;
using testing::Disk;
using testing::make_directory;
using Bytes = std::vector<std::byte>;
using Mode = OpenOptions::Mode;

void fill(Bytes& bytes, std::mt19937_64& random) {
  for (size_t i = 0; i < bytes.size(); i += sizeof(uint64_t)) {
    const uint64_t word = random();
    std::memcpy(bytes.data() + i, &word, std::min(sizeof word, bytes.size() - i));
  }
}

/// Some pieces of one write, without overlap.
struct Pieces {
  std::vector<int64_t> offsets;
  Bytes data;
  int64_t piece_bytes = 0;

  Pieces() = default;
  Pieces(std::mt19937_64& random, int64_t file_bytes) {
    piece_bytes = random() % 2 == 0 ? 1 + static_cast<int64_t>(random() % 200) : 1 + static_cast<int64_t>(random() % 40000);
    const auto stride = piece_bytes + static_cast<int64_t>(random() % 3000);
    auto at = static_cast<int64_t>(random() % static_cast<uint64_t>(file_bytes));
    for (size_t i = 1 + random() % 30; i > 0; --i, at += stride) {
      offsets.push_back(at);
    }
    data.resize(offsets.size() * static_cast<size_t>(piece_bytes));
    fill(data, random);
  }
  /// Long pieces that end within blocks, so that a kill most likely hits the write of one.
  static Pieces long_ones(std::mt19937_64& random) {
    Pieces pieces;
    pieces.piece_bytes = 50001 + static_cast<int64_t>(random() % 100000);
    auto at = static_cast<int64_t>(random() % 4096);
    for (int i = 0; i < 30; ++i, at += 200000) {
      pieces.offsets.push_back(at);
    }
    pieces.data.resize(pieces.offsets.size() * static_cast<size_t>(pieces.piece_bytes));
    fill(pieces.data, random);
    return pieces;
  }
  const std::byte* piece(size_t i) const { return data.data() + i * static_cast<size_t>(piece_bytes); }
  std::vector<WriteSegment> segments() const {
    std::vector<WriteSegment> segments;
    for (size_t i = 0; i < offsets.size(); ++i) {
      segments.push_back({offsets[i], piece(i), piece_bytes});
    }
    return segments;
  }
  int64_t end() const { return offsets.back() + piece_bytes; }
};

TEST(Crash, WhatWasAnsweredSurvivesKills) {
  const std::string directory = make_directory(testing::scratch_directory());
  {
    testing::ServerProcess server(directory);
    server.start();
    StripedDriver driver;
    const auto file = driver.open("stria://" + server.address() + "/f", {.mode = Mode::kCreate}).value();
    std::atomic<bool> ending = false;
    std::atomic<int> kills = 0;
    std::atomic<int> answers = 0;
    // A slow server, as with a sanitizer, may need longer for an answer than it lives. So it lives
    // up to twice as long after each kill without one.
    std::thread killer([&] {
      std::mt19937_64 random(1);
      int seen = 0;
      int in_vain = 0;
      while (!ending) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % (uint64_t{15000} << in_vain)));
        server.kill_server();
        server.start();
        ++kills;
        in_vain = seen == answers ? std::min(in_vain + 1, 8) : 0;
        seen = answers;
      }
    });
    std::mt19937_64 random(2);
    Bytes model;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    while (std::chrono::steady_clock::now() < end || kills < 10) {
      const Pieces pieces = random() % 3 == 0 ? Pieces(random, 300000) : Pieces::long_ones(random);
      STRIA_EXPECT_OK(file->write(pieces.segments()));
      ++answers;
      model.resize(std::max(model.size(), static_cast<size_t>(pieces.end())));
      for (size_t i = 0; i < pieces.offsets.size(); ++i) {
        std::memcpy(model.data() + pieces.offsets[i], pieces.piece(i), static_cast<size_t>(pieces.piece_bytes));
      }
      if (random() % 16 == 0) {
        Bytes back(model.size());
        const ReadSegment all{0, back.data(), static_cast<int64_t>(back.size())};
        const auto bytes = file->read({&all, 1});
        ASSERT_TRUE(bytes.ok()) << bytes.status().message();
        ASSERT_EQ(*bytes, all.bytes);
        if (back != model) {
          ADD_FAILURE() << "after " << kills << " kills";
          break;
        }
      }
    }
    ending = true;
    killer.join();
    STRIA_EXPECT_OK(file->close());
  }
  std::filesystem::remove_all(directory);
}

Status make_folder(const std::string& address, const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(const auto store, storage::Store::at(address));
  return store->ask_manager(wire::Kind::kMakeDirectory, wire::encode(wire::NewDirectory{path, 0755})).status();
}

/// The folder is there, is empty, and holds a file; or nothing is, and it can be made.
void expect_whole_or_absent(const std::string& address, const std::string& path, bool must_be_there) {
  SCOPED_TRACE(path);
  StripedDriver driver;
  const std::string url = "stria://" + address + path;
  const auto names = driver.list_directory(url);
  if (!names.ok()) {
    EXPECT_EQ(names.status().code(), ErrorCode::kNotFound) << names.status().message();
    EXPECT_FALSE(must_be_there);
    STRIA_EXPECT_OK(make_folder(address, path));
  } else {
    EXPECT_TRUE(names->empty());
    EXPECT_EQ(make_folder(address, path).code(), ErrorCode::kAlreadyExists);
  }
  const auto file = driver.open(url + "/f", {.mode = Mode::kCreateNew});
  ASSERT_TRUE(file.ok()) << file.status().message();
  const std::byte byte{7};
  const WriteSegment all{0, &byte, 1};
  STRIA_EXPECT_OK((*file)->write({&all, 1}));
  STRIA_EXPECT_OK((*file)->sync());
  EXPECT_EQ(driver.list_directory(url).value(), std::vector<std::string>{"f"});
}

// Nothing is synced before the kill, not even by the server's first start.
TEST(Crash, FoldersThatWereAnsweredSurviveAKillBeforeAnySync) {
  for (int folders = 0; folders < 12; folders += 3) {
    const std::string directory = make_directory(testing::scratch_directory());
    {
      testing::ServerProcess server(directory);
      server.start();
      for (int i = 0; i < folders; ++i) {
        STRIA_EXPECT_OK(make_folder(server.address(), "/" + std::to_string(i)));
      }
      // Answered or not before the kill: the client asks until there is a server again.
      std::thread asks([address = server.address()] { STRIA_EXPECT_OK(make_folder(address, "/last")); });
      server.kill_server();
      std::filesystem::remove(directory + "/data/05");  // The first start didn't come so far.
      server.start();
      asks.join();
      for (int i = 0; i < folders; ++i) {
        expect_whole_or_absent(server.address(), "/" + std::to_string(i), true);
      }
      expect_whole_or_absent(server.address(), "/last", true);
    }
    std::filesystem::remove_all(directory);
  }
}

/// The known bytes of a file: synced ones, and those that later writes may have replaced.
struct Known {
  Bytes synced;
  Bytes newest;
  std::map<int64_t, int64_t> touched;  // begin to end, since the last sync

  void write(const Pieces& pieces) {
    newest.resize(std::max(newest.size(), static_cast<size_t>(pieces.end())));
    for (size_t i = 0; i < pieces.offsets.size(); ++i) {
      std::memcpy(newest.data() + pieces.offsets[i], pieces.piece(i), static_cast<size_t>(pieces.piece_bytes));
      touched[pieces.offsets[i]] = std::max(touched[pieces.offsets[i]], pieces.offsets[i] + pieces.piece_bytes);
    }
  }
  void sync() {
    synced = newest;
    touched.clear();
  }
  bool is_touched(ByteRange range) const {
    return std::any_of(touched.begin(), touched.end(), [&](const auto& each) {
      return !intersect(range, {each.first, each.second}).empty();
    });
  }
};

class PowerLoss : public ::testing::TestWithParam<const char*> {};

void restart_after_power_loss(Disk& disk, testing::Cluster& cluster, int servers) {
  ASSERT_TRUE(disk.lose_power());
  for (int server = servers - 1; server >= 0; --server) {
    cluster.stop(server);
  }
  ASSERT_TRUE(disk.mount_again());
  for (int server = 0; server < servers; ++server) {
    cluster.start(server);
  }
}

/// Compares block by block, and counts those that are reported as in flight.
void compare(storage::File& file, const Known& known, int* in_flight) {
  const int64_t size = file.size().value();
  ASSERT_GE(size, static_cast<int64_t>(known.synced.size()));
  for (int64_t at = 0; at < static_cast<int64_t>(known.synced.size()); at += 4096) {
    const ByteRange block{at, std::min<int64_t>(at + 4096, static_cast<int64_t>(known.synced.size()))};
    Bytes bytes(static_cast<size_t>(block.size()));
    const ReadSegment segment{at, bytes.data(), block.size()};
    const auto got = file.read({&segment, 1});
    const bool touched = known.is_touched({at, at + 4096});
    if (touched && !got.ok()) {
      ASSERT_NE(got.status().message().find("--accept"), std::string::npos) << got.status().message();
      ++*in_flight;
      continue;
    }
    ASSERT_TRUE(got.ok()) << "block at " << at << ": " << got.status().message();
    if (!touched) {
      ASSERT_EQ(std::memcmp(bytes.data(), known.synced.data() + at, bytes.size()), 0) << "block at " << at;
    }
  }
}

TEST_P(PowerLoss, WhatWasSyncedIsThere) {
  int in_flight = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Disk disk(GetParam());
    if (!disk.ok()) {
      GTEST_SKIP() << GetParam() << " can't be made and mounted here: a loss of power is not tried";
    }
    testing::Cluster cluster(2, disk.path());
    StripedDriver driver;
    const OpenOptions options{.mode = Mode::kCreate};
    std::map<std::string, Known> files;
    std::map<std::string, std::unique_ptr<storage::File>> open;
    for (const std::string name : {"a", "b", "c"}) {
      open[name] = driver.open(cluster.url() + "/runs/" + name, options).value();
    }
    for (size_t step = 10 + random() % 60; step > 0; --step) {
      const std::string name(1, static_cast<char>('a' + random() % 3));
      const Pieces pieces(random, 400000);
      STRIA_EXPECT_OK(open[name]->write(pieces.segments()));
      files[name].write(pieces);
      if (random() % 5 == 0) {
        STRIA_EXPECT_OK(open[name]->sync());
        files[name].sync();
      }
      if (random() % 8 == 0) {
        disk.write_back(random);
      }
    }
    ASSERT_NO_FATAL_FAILURE(restart_after_power_loss(disk, cluster, 2));
    for (const auto& [name, known] : files) {
      if (known.synced.empty()) {
        continue;
      }
      SCOPED_TRACE("file " + name);
      const auto file = driver.open(cluster.url() + "/runs/" + name, {});
      ASSERT_TRUE(file.ok()) << file.status().message();
      compare(**file, known, &in_flight);
    }
    open.clear();
    cluster.stop(1);
    cluster.stop(0);
  }
  EXPECT_GT(in_flight, 0) << "blocks that are cut off must be met";
}

// The server is killed with files in folders that it has not synced. The one that follows syncs
// them, without another write, and then the machine loses its power.
TEST_P(PowerLoss, WhatAKilledServerWroteIsThereOnceItsSuccessorHasSynced) {
  Disk disk(GetParam());
  if (!disk.ok()) {
    GTEST_SKIP() << GetParam() << " can't be made and mounted here: a loss of power is not tried";
  }
  std::mt19937_64 random(5);
  std::map<std::string, Bytes> contents;
  {
    testing::ServerProcess server(disk.path() + "/0");
    server.start();
    StripedDriver driver;
    std::vector<std::unique_ptr<storage::File>> files;
    for (int i = 0; i < 20; ++i) {
      const std::string name = "/runs/" + std::to_string(i);
      Bytes& content = contents[name];
      content.resize(100000);
      fill(content, random);
      files.push_back(driver.open("stria://" + server.address() + name, {.mode = Mode::kCreate}).value());
      const WriteSegment all{0, content.data(), static_cast<int64_t>(content.size())};
      STRIA_EXPECT_OK(files.back()->write({&all, 1}));
    }
    server.kill_server();
    server.start();
    for (const auto& file : files) {
      STRIA_EXPECT_OK(file->sync());
    }
    files.clear();  // while there is a server to tell
    ASSERT_TRUE(disk.lose_power());
    server.kill_server();
  }
  ASSERT_TRUE(disk.mount_again());
  testing::Cluster cluster(1, disk.path());
  StripedDriver driver;
  for (const auto& [name, content] : contents) {
    SCOPED_TRACE(name);
    const auto file = driver.open(cluster.url() + name, {});
    ASSERT_TRUE(file.ok()) << file.status().message();
    Bytes back(content.size());
    const ReadSegment all{0, back.data(), static_cast<int64_t>(back.size())};
    EXPECT_EQ((*file)->read({&all, 1}).value(), all.bytes);
    EXPECT_TRUE(back == content);
  }
  cluster.stop(0);
}

/// Makes a file on both servers, keeps a copy of the names that know it, and removes it. Nobody
/// syncs the removal, but the servers free the bytes.
void make_and_remove(const Disk& disk, testing::Cluster& cluster, const std::string& old_names) {
  StripedDriver driver;
  {
    const Bytes content(400000, std::byte{7});
    const auto file = driver.open(cluster.url() + "/gone", {.mode = Mode::kCreate}).value();
    const WriteSegment all{0, content.data(), static_cast<int64_t>(content.size())};
    STRIA_EXPECT_OK(file->write({&all, 1}));
    STRIA_EXPECT_OK(file->sync());
  }
  cluster.stop(0);
  std::filesystem::copy_file(cluster.directory(0) + "/names.sqlite", old_names);
  cluster.start(0);
  const auto parts = [&] {
    const std::filesystem::recursive_directory_iterator all(disk.path());
    return std::count_if(begin(all), end(all), [](const auto& entry) {
      return entry.path().parent_path().parent_path().filename() == "data" && entry.is_regular_file();
    });
  };
  ASSERT_GT(parts(), 0);
  STRIA_EXPECT_OK(driver.remove(cluster.url() + "/gone"));
  while (parts() > 0) {  // The test's own limit ends this.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

TEST_P(PowerLoss, AFileWhoseBytesWereRemovedHasNoNameAndIsNoHoleForAnOldName) {
  Disk disk(GetParam());
  if (!disk.ok()) {
    GTEST_SKIP() << GetParam() << " can't be made and mounted here: a loss of power is not tried";
  }
  const std::string elsewhere = make_directory(testing::scratch_directory());
  testing::Cluster cluster(2, disk.path());
  ASSERT_NO_FATAL_FAILURE(make_and_remove(disk, cluster, elsewhere + "/names"));
  ASSERT_NO_FATAL_FAILURE(restart_after_power_loss(disk, cluster, 2));
  StripedDriver driver;
  EXPECT_EQ(driver.open(cluster.url() + "/gone", {}).status().code(), ErrorCode::kNotFound);
  cluster.stop(0);
  std::filesystem::copy_file(elsewhere + "/names", cluster.directory(0) + "/names.sqlite",
                             std::filesystem::copy_options::overwrite_existing);
  cluster.start(0);
  // The loss of power may have undone the removal itself.
  Bytes back(400000);
  const ReadSegment all{0, back.data(), static_cast<int64_t>(back.size())};
  const auto got = driver.open(cluster.url() + "/gone", {}).value()->read({&all, 1});
  EXPECT_TRUE(got.ok() ? back == Bytes(back.size(), std::byte{7}) : got.status().code() == ErrorCode::kCorrupted);
  cluster.stop(1);
  cluster.stop(0);
  std::filesystem::remove_all(elsewhere);
}

TEST_P(PowerLoss, FoldersAreWholeOrAbsent) {
  std::mt19937_64 random(6);
  for (const int synced : {0, 4}) {
    Disk disk(GetParam());
    if (!disk.ok()) {
      GTEST_SKIP() << GetParam() << " can't be made and mounted here: a loss of power is not tried";
    }
    testing::Cluster cluster(1, disk.path());
    for (int i = 0; i < 8; ++i) {
      STRIA_EXPECT_OK(make_folder(cluster.address(), "/" + std::to_string(i)));
      if (i + 1 == synced) {
        STRIA_EXPECT_OK(StripedDriver().sync_directory(cluster.url() + "/"));
      }
    }
    disk.write_back(random);
    ASSERT_NO_FATAL_FAILURE(restart_after_power_loss(disk, cluster, 1));
    for (int i = 0; i < 8; ++i) {
      expect_whole_or_absent(cluster.address(), "/" + std::to_string(i), i < synced);
    }
    cluster.stop(0);
  }
}

INSTANTIATE_TEST_SUITE_P(Crash, PowerLoss, ::testing::Values("ext4", "xfs"),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace stria::server
