// Directories of servers that are another store's, emptied, exchanged, or have lost parts of files:
// an error that says so, and never bytes that nobody wrote.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "server/clients_test.hpp"
#include "server/cluster_test.hpp"
#include "storage/striped/store.hpp"
#include "storage/striped/striped_driver.hpp"

namespace stria::server {
namespace {

using storage::OpenOptions;
using storage::StripedDriver;
using testing::Cluster;
using testing::noise;
using testing::read_all;
using testing::write_all;
using Mode = OpenOptions::Mode;

void expect_error(const Status& status, ErrorCode code, const std::string& part) {
  EXPECT_EQ(status.code(), code) << status.message();
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

Status start_at(const std::string& directory, const std::string& join) {
  ServerOptions options;
  options.directory = directory;
  options.join = join;
  options.listen = "127.0.0.1:0";
  return Server::start(options).status();
}

TEST(LostParts, ADirectoryOfAnotherStoreIsRefused) {
  Cluster old_store(2);
  StripedDriver driver;
  STRIA_EXPECT_OK(write_all(*driver.open(old_store.url() + "/f", {.mode = Mode::kCreate}).value(), noise(3000000, 1)));
  Cluster other(1);
  old_store.stop(1);
  expect_error(start_at(old_store.directory(1), other.address()), ErrorCode::kInvalidArgument, "another store's files");
  expect_error(start_at(old_store.directory(1), ""), ErrorCode::kInvalidArgument, "not its names");
  EXPECT_FALSE(std::filesystem::exists(old_store.directory(1) + "/names.sqlite"));
  const auto store = storage::Store::at(other.address()).value();
  const auto servers = wire::decode<wire::StoreServers>(store->ask_manager(wire::Kind::kServers, {}).value());
  EXPECT_EQ(servers->servers.size(), 1u) << "the one that was refused is not known";
  old_store.start(1);
  EXPECT_EQ(read_all(*driver.open(old_store.url() + "/f", {}).value()), noise(3000000, 1));
}

TEST(LostParts, NamesOfAnotherStoreAreRefused) {
  Cluster one(1);
  Cluster other(1);
  one.stop(0);
  other.stop(0);
  std::filesystem::copy_file(one.directory(0) + "/names.sqlite", other.directory(0) + "/names.sqlite",
                             std::filesystem::copy_options::overwrite_existing);
  expect_error(start_at(other.directory(0), ""), ErrorCode::kInvalidArgument, "another store's files");
}

TEST(LostParts, NamesFromABackupDontMeetPartsOfLaterFiles) {
  Cluster cluster(1);
  StripedDriver driver;
  const std::string names = cluster.directory(0) + "/names.sqlite";
  cluster.stop(0);
  std::filesystem::copy_file(names, names + ".backup");
  cluster.start(0);
  for (const char* name : {"/a", "/b", "/c"}) {
    STRIA_EXPECT_OK(write_all(*driver.open(cluster.url() + name, {.mode = Mode::kCreate}).value(), noise(3000000, 1)));
  }
  cluster.stop(0);
  std::filesystem::rename(names + ".backup", names);
  std::this_thread::sleep_for(std::chrono::seconds(3));  // nobody brings names back sooner
  cluster.start(0);
  for (const char* name : {"/d", "/e", "/f"}) {
    const auto file = driver.open(cluster.url() + name, {.mode = Mode::kCreateNew}).value();
    STRIA_EXPECT_OK(write_all(*file, noise(4, 2)));
    EXPECT_EQ(read_all(*file), noise(4, 2));
  }
}

/// Waits until no server has a part any more.
void await_removal(const Cluster& cluster, int servers) {
  const auto count = [&] {
    int parts = 0;
    for (int server = 0; server < servers; ++server) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(cluster.data(server))) {
        parts += entry.is_regular_file() ? 1 : 0;
      }
    }
    return parts;
  };
  for (int i = 0; count() > 0 && i < 100; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(count(), 0);
}

TEST(LostParts, AFileThatWasRemovedSinceTheBackupOfNamesIsAnError) {
  Cluster cluster(2);
  StripedDriver driver;
  const std::string names = cluster.directory(0) + "/names.sqlite";
  const std::vector<std::string> gone{cluster.url() + "/removed", cluster.url() + "/replaced", cluster.url() + "/empty"};
  const auto content = noise(1 << 20, 1);
  for (const std::string& path : gone) {
    const auto file = driver.open(path, {.mode = Mode::kCreate}).value();
    STRIA_EXPECT_OK(path == gone[2] ? Status() : write_all(*file, content));
  }
  { const auto sparse = driver.open(cluster.url() + "/sparse", {.mode = Mode::kCreate}).value(); }
  cluster.stop(0);
  std::filesystem::copy_file(names, names + ".backup");
  cluster.start(0);
  STRIA_EXPECT_OK(driver.open(cluster.url() + "/new", {.mode = Mode::kCreate}).status());
  STRIA_EXPECT_OK(driver.rename(cluster.url() + "/new", gone[1]));
  STRIA_EXPECT_OK(driver.remove(gone[0]));
  STRIA_EXPECT_OK(driver.remove(gone[2]));
  await_removal(cluster, 2);
  cluster.stop(1);
  cluster.stop(0);
  std::filesystem::rename(names + ".backup", names);
  cluster.start(0);
  cluster.start(1);
  for (const std::string& path : gone) {
    const auto file = driver.open(path, {.mode = Mode::kReadWrite}).value();
    for (const std::string& part :
         {path, std::string("was removed on the server"), std::string("an older copy of names.sqlite")}) {
      expect_error(file->size().status(), ErrorCode::kCorrupted, part);
      expect_error(write_all(*file, content), ErrorCode::kCorrupted, part);
    }
    std::vector<std::byte> back(content.size());
    const std::vector<storage::ReadSegment> all{{0, back.data(), static_cast<int64_t>(back.size())}};
    expect_error(file->read(all).status(), ErrorCode::kCorrupted, path);
  }
  const auto sparse = driver.open(cluster.url() + "/sparse", {.mode = Mode::kReadWrite}).value();
  STRIA_EXPECT_OK(sparse->resize(1 << 20));
  EXPECT_EQ(read_all(*sparse), std::vector<std::byte>(1 << 20)) << "nobody ever wrote there";
  for (const std::string& path : gone) {
    STRIA_EXPECT_OK(driver.remove(path));
    const auto fresh = driver.open(path, {.mode = Mode::kCreateNew}).value();
    STRIA_EXPECT_OK(write_all(*fresh, content));
    EXPECT_EQ(read_all(*fresh), content);
  }
}

/// A store of two with a file on both of them, which stays open.
class LostServer : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ = driver_.open(path_, {.mode = Mode::kCreate}).value();
    STRIA_EXPECT_OK(write_all(*file_, bytes_));
    STRIA_EXPECT_OK(file_->sync());
  }

  Cluster cluster_{2};
  StripedDriver driver_;
  std::string path_ = cluster_.url() + "/f";
  std::vector<std::byte> bytes_ = noise(1 << 20, 2);
  std::unique_ptr<storage::File> file_;
};

TEST_F(LostServer, AnEmptyDirectoryAtItsAddressIsNotBelieved) {
  const std::string gone = "another directory answers at its address";
  cluster_.stop(1);
  std::filesystem::remove_all(cluster_.directory(1));
  cluster_.start(1);
  expect_error(write_all(*file_, bytes_), ErrorCode::kIo, gone);
  expect_error(file_->size().status(), ErrorCode::kIo, gone);
  for (int start = 0; start < 2; ++start) {
    expect_error(driver_.open(path_, {}).status(), ErrorCode::kIo, "server 1 is gone");
    cluster_.stop(0);
    cluster_.start(0);  // the manager remembers
  }
  const auto fresh = driver_.open(cluster_.url() + "/fresh", {.mode = Mode::kCreate}).value();
  STRIA_EXPECT_OK(write_all(*fresh, bytes_));
  EXPECT_EQ(read_all(*fresh), bytes_);
}

TEST_F(LostServer, DirectoriesThatChangedPlacesAreFoundAgain) {
  cluster_.stop(1);
  cluster_.stop(0);
  cluster_.exchange_addresses(0, 1);
  cluster_.start(0);
  cluster_.start(1);
  EXPECT_FALSE(write_all(*file_, bytes_).ok());
  EXPECT_EQ(read_all(*driver_.open(cluster_.url() + "/f", {}).value()), bytes_);
}

TEST_F(LostServer, APartOfWhichOnlyTheChecksumsAreLeftIsAnError) {
  cluster_.stop(1);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(cluster_.data(1))) {
    if (entry.is_regular_file() && entry.path().extension() != ".sums") {
      std::filesystem::remove(entry.path());
    }
  }
  cluster_.start(1);
  const auto file = driver_.open(path_, {.mode = Mode::kReadWrite}).value();
  expect_error(file->size().status(), ErrorCode::kCorrupted, "is missing on the server");
  expect_error(write_all(*file, bytes_), ErrorCode::kCorrupted, "is missing on the server");
  STRIA_EXPECT_OK(driver_.remove(path_));
}

/// Data and checksums, as a file system's repair may take them.
void lose_parts(const std::string& data) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    if (entry.is_regular_file()) {
      std::filesystem::remove(entry.path());
    }
  }
}

TEST_F(LostServer, ALostPartIsAnErrorUntilTheFileIsRemoved) {
  cluster_.stop(1);
  lose_parts(cluster_.data(1));
  cluster_.start(1);
  const std::string lost = "is lost";
  const auto file = driver_.open(path_, {.mode = Mode::kReadWrite}).value();
  for (const std::string& part : {lost, path_, "server " + cluster_.address(1)}) {
    expect_error(file->size().status(), ErrorCode::kCorrupted, part);
  }
  std::vector<std::byte> back(bytes_.size());
  const std::vector<storage::ReadSegment> all{{0, back.data(), static_cast<int64_t>(back.size())}};
  expect_error(file->read(all).status(), ErrorCode::kCorrupted, lost);
  expect_error(write_all(*file, bytes_), ErrorCode::kCorrupted, lost);
  expect_error(file->sync(), ErrorCode::kCorrupted, lost);
  expect_error(driver_.open(path_, {.mode = Mode::kCreate}).status(), ErrorCode::kCorrupted, lost);
  STRIA_EXPECT_OK(driver_.remove(path_));
  const auto fresh = driver_.open(path_, {.mode = Mode::kCreateNew}).value();
  STRIA_EXPECT_OK(write_all(*fresh, bytes_));
  EXPECT_EQ(read_all(*fresh), bytes_);
}

TEST_F(LostServer, AFolderOfPartsIsLostLikeThese) {
  cluster_.stop(1);
  for (const auto& entry : std::filesystem::directory_iterator(cluster_.data(1))) {
    std::filesystem::remove_all(entry.path());
  }
  cluster_.start(1);
  expect_error(file_->size().status(), ErrorCode::kCorrupted, "is lost");
}

TEST_F(LostServer, WhatWasWrittenByAnEarlierVersionIsKnownToo) {
  cluster_.stop(1);
  std::filesystem::remove_all(cluster_.directory(1) + "/parts");
  // What the first start left when it was killed.
  std::filesystem::create_directory(cluster_.directory(1) + "/parts.new");
  cluster_.start(1);
  EXPECT_EQ(read_all(*file_), bytes_);
  cluster_.stop(1);
  lose_parts(cluster_.data(1));
  cluster_.start(1);
  expect_error(file_->size().status(), ErrorCode::kCorrupted, "is lost");
}

TEST_F(LostServer, WithoutASyncAPartIsKnownOnceItsServerHasEnded) {
  const auto unsynced = driver_.open(cluster_.url() + "/unsynced", {.mode = Mode::kCreate}).value();
  STRIA_EXPECT_OK(write_all(*unsynced, bytes_));
  cluster_.stop(1);
  lose_parts(cluster_.data(1));
  cluster_.start(1);
  expect_error(unsynced->size().status(), ErrorCode::kCorrupted, "is lost");
}

TEST_F(LostServer, WhatWasNeverWrittenIsAHole) {
  const auto sparse = driver_.open(cluster_.url() + "/sparse", {.mode = Mode::kCreate}).value();
  const auto stripe_bytes = static_cast<int64_t>(sparse->capabilities().stripe_bytes);
  std::vector<std::byte> expected(static_cast<size_t>(2 * stripe_bytes + 100));
  for (const int64_t at : {int64_t{0}, 2 * stripe_bytes}) {  // on the file's first server
    std::copy_n(bytes_.begin(), 100, expected.begin() + at);
    STRIA_EXPECT_OK(sparse->write(std::vector<storage::WriteSegment>{{at, bytes_.data(), 100}}));
  }
  STRIA_EXPECT_OK(sparse->sync());
  for (int start = 0; start < 2; ++start) {
    EXPECT_EQ(read_all(*sparse), expected);
    cluster_.stop(1);
    cluster_.stop(0);
    cluster_.start(0);
    cluster_.start(1);
  }
  STRIA_EXPECT_OK(write_all(*sparse, bytes_));
  EXPECT_EQ(read_all(*sparse), bytes_);
}

}  // namespace
}  // namespace stria::server
