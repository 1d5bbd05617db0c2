// Faults between clients and servers: lost and damaged bytes, servers that die, clients that
// send nonsense.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>
#include <thread>

#include "server/clients_test.hpp"
#include "server/cluster_test.hpp"
#include "server/unruly_proxy_test.hpp"
#include "storage/conformance_test.hpp"
#include "storage/striped/store.hpp"
#include "storage/striped/striped_driver.hpp"

namespace stria::server {
namespace {

using storage::LockMode;
using storage::OpenOptions;
using storage::StripedDriver;
using testing::Cluster;
using testing::greeted_connection;
using testing::known_file;
using testing::noise;
using testing::raw_connection;
using testing::read_all;
using testing::scratch_directory;
using testing::UnrulyProxy;
using testing::write_all;
using Mode = OpenOptions::Mode;

/// Sets the patience of clients as long as it lives.
class ServerPatience {
 public:
  explicit ServerPatience(const char* seconds) { setenv("STRIA_SERVER_TIMEOUT", seconds, 1); }
  ServerPatience(const ServerPatience&) = delete;
  ServerPatience& operator=(const ServerPatience&) = delete;
  ~ServerPatience() { unsetenv("STRIA_SERVER_TIMEOUT"); }
};

/// A store of one server that is reached through an unruly proxy.
class Unruly : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = scratch_directory() + "/stria-unruly-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    start();
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(directory_);
  }
  void start() {
    ServerOptions options;
    options.directory = directory_;
    options.advertise = proxy_.address();
    auto server = Server::start(options);
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = std::move(*server);
    proxy_.connect_to(server_->listens_on());
  }
  std::string path(const std::string& name) const { return "stria://" + proxy_.address() + "/" + name; }

  /// Makes every kind of request once. Whatever happens on the way, each must be done exactly once.
  void work(const std::string& name) {
    const std::vector<std::byte> bytes = noise(600001, 1);
    auto file = driver_.open(path(name), {.mode = Mode::kCreateNew, .exclusive_lock = true});
    ASSERT_TRUE(file.ok()) << file.status().message();
    STRIA_EXPECT_OK(write_all(**file, bytes));
    STRIA_EXPECT_OK((*file)->write(std::vector<storage::WriteSegment>{{10, bytes.data(), 5}, {70000, bytes.data() + 7, 3}}));
    STRIA_EXPECT_OK((*file)->sync());
    STRIA_EXPECT_OK(driver_.rename(path(name), path(name + ".renamed")));
    std::vector<std::byte> expected = bytes;
    std::copy_n(bytes.begin(), 5, expected.begin() + 10);
    std::copy_n(bytes.begin() + 7, 3, expected.begin() + 70000);
    EXPECT_EQ(read_all(**file), expected);
    STRIA_EXPECT_OK((*file)->resize(100));
    EXPECT_EQ((*file)->size().value(), 100);
    STRIA_EXPECT_OK((*file)->close());
    EXPECT_FALSE(driver_.exists(path(name)).value());
    STRIA_EXPECT_OK(driver_.remove(path(name + ".renamed")));
    EXPECT_FALSE(driver_.exists(path(name + ".renamed")).value());
  }

  void sweep(UnrulyProxy::Mischief mischief, bool from_server) {
    const int64_t before = proxy_.bytes(from_server);
    work("quiet");
    const int64_t total = proxy_.bytes(from_server) - before;
    std::mt19937_64 random(7);
    int met = 0;
    for (int64_t at = 0; at < total; at += 1 + static_cast<int64_t>(random() % 900) + (at > 4000 ? total / 30 : 0)) {
      SCOPED_TRACE("after " + std::to_string(at) + " of " + std::to_string(total) + " bytes");
      proxy_.plan(mischief, from_server, at);
      work("at" + std::to_string(at));
      met += proxy_.done() ? 1 : 0;
      proxy_.plan(UnrulyProxy::Mischief::kNone, from_server, 0);
    }
    EXPECT_GT(met, 15);
  }

  std::string directory_;
  UnrulyProxy proxy_;
  std::unique_ptr<Server> server_;
  StripedDriver driver_;
};

TEST_F(Unruly, EveryLostAnswerIsHadAgain) {
  sweep(UnrulyProxy::Mischief::kCut, true);
}

TEST_F(Unruly, EveryLostRequestIsSentAgain) {
  sweep(UnrulyProxy::Mischief::kCut, false);
}

TEST_F(Unruly, EveryDamagedAnswerIsHadAgain) {
  sweep(UnrulyProxy::Mischief::kFlip, true);
}

TEST_F(Unruly, EveryDamagedRequestIsSentAgain) {
  sweep(UnrulyProxy::Mischief::kFlip, false);
}

// The network brings a request after its client has given it up, and has written something else by
// another connection.
TEST_F(Unruly, WhatWasGivenUpIsNotDoneLater) {
  const auto file = driver_.open(path("f"), {.mode = Mode::kCreateNew}).value();
  const auto first = noise(200000, 1);
  const auto newer = noise(200000, 2);
  STRIA_EXPECT_OK(write_all(*file, noise(200000, 3)));
  {
    const auto one = file->lock({0, 1}, LockMode::kExclusive).value();
    const auto other = file->lock({1, 2}, LockMode::kExclusive).value();
  }  // each by a connection of its own, which later requests use in turn
  {
    const ServerPatience patience("1");
    proxy_.plan(UnrulyProxy::Mischief::kDelay, false, 100000);
    EXPECT_EQ(write_all(*file, first).code(), ErrorCode::kIo);
    EXPECT_TRUE(proxy_.done());
  }
  STRIA_EXPECT_OK(write_all(*file, newer));
  proxy_.bring_delayed();
  EXPECT_EQ(read_all(*file), newer);
  STRIA_EXPECT_OK(file->close());
}

TEST(Faults, AServerThatReturnsIsFoundAgain) {
  Cluster cluster(3);
  StripedDriver driver;
  const std::string path = cluster.url() + "/f";
  const auto file = driver.open(path, {.mode = Mode::kCreate, .exclusive_lock = true}).value();
  const auto bytes = noise(3 << 20, 2);
  STRIA_EXPECT_OK(write_all(*file, bytes));
  for (const int index : {2, 0}) {  // an I/O server, then the manager
    cluster.stop(index);
    std::thread back([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      cluster.start(index);
    });
    EXPECT_EQ(read_all(*file), bytes) << index;
    STRIA_EXPECT_OK(write_all(*file, bytes));
    STRIA_EXPECT_OK(file->sync());
    back.join();
  }
  const auto second = driver.open(path, {.mode = Mode::kReadWrite, .exclusive_lock = true});
  EXPECT_EQ(second.status().code(), ErrorCode::kAlreadyExists) << "the lock was taken up again";
  STRIA_EXPECT_OK(file->close());
  EXPECT_TRUE(driver.open(path, {.mode = Mode::kReadWrite, .exclusive_lock = true}).ok());
}

TEST(Faults, AServerThatStaysAwayIsNamed) {
  Cluster cluster(2);
  const ServerPatience patience("4");
  StripedDriver driver;
  const auto file = driver.open(cluster.url() + "/f", {.mode = Mode::kCreate}).value();
  const auto bytes = noise(1 << 20, 3);
  STRIA_EXPECT_OK(write_all(*file, bytes));
  const std::string away = cluster.address(1);
  cluster.stop(1);
  const auto begin = std::chrono::steady_clock::now();
  const Status lost = write_all(*file, bytes);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(40));
  EXPECT_EQ(lost.code(), ErrorCode::kIo);
  EXPECT_NE(lost.message().find("server " + away + " doesn't answer"), std::string::npos) << lost.message();
  EXPECT_NE(lost.message().find("write 'stria://"), std::string::npos) << lost.message();
  // A busy machine may delay any call, but not each of them.
  auto quickest = std::chrono::steady_clock::duration::max();
  for (int call = 0; call < 5; ++call) {
    const auto again = std::chrono::steady_clock::now();
    EXPECT_NE(write_all(*file, bytes).message().find("server " + away), std::string::npos);
    quickest = std::min(quickest, std::chrono::steady_clock::now() - again);
  }
  EXPECT_LT(quickest, std::chrono::milliseconds(3900)) << "each waits for all of the patience";
  cluster.start(1);
  STRIA_EXPECT_OK(write_all(*file, bytes));
}

TEST(Faults, ALostRangeLockIsTold) {
  Cluster cluster(1);
  StripedDriver driver;
  const auto file = driver.open(cluster.url() + "/f", {.mode = Mode::kCreate}).value();
  auto lock = file->lock({0, 10}, LockMode::kExclusive);
  ASSERT_TRUE(lock.ok());
  cluster.stop(0);
  cluster.start(0);
  *lock = nullptr;
  const Status told = write_all(*file, noise(10, 1));
  EXPECT_EQ(told.code(), ErrorCode::kIo);
  EXPECT_NE(told.message().find("was lost"), std::string::npos) << told.message();
}

// A lock behind the end of any file guards no bytes: it tells other writers of this one.
TEST(Faults, ALockBehindAnyFileIsTakenAgain) {
  Cluster cluster(1);
  StripedDriver driver;
  const auto file = driver.open(cluster.url() + "/f", {.mode = Mode::kCreate}).value();
  const auto other = driver.open(cluster.url() + "/f", {.mode = Mode::kReadWrite}).value();
  constexpr int64_t kFar = (int64_t{1} << 62) + 1000;
  auto lock = file->try_lock({kFar, kFar + 1}, LockMode::kShared);
  ASSERT_TRUE(lock.ok() && *lock != nullptr);
  cluster.stop(0);
  cluster.start(0);
  STRIA_EXPECT_OK(write_all(*file, noise(10, 1)));
  EXPECT_TRUE(other->is_locked_elsewhere({kFar, kFar + 1}).value());
  cluster.stop(0);
  cluster.start(0);
  *lock = nullptr;
  STRIA_EXPECT_OK(file->sync());
  STRIA_EXPECT_OK(file->close());
}

TEST(Faults, WhoComesWhileALockBehindAnyFileIsLostIsTold) {
  Cluster cluster(1);
  StripedDriver driver;
  const auto file = driver.open(cluster.url() + "/f", {.mode = Mode::kCreate}).value();
  const auto other = driver.open(cluster.url() + "/f", {.mode = Mode::kReadWrite}).value();
  constexpr int64_t kFar = int64_t{1} << 62;
  const auto lock = file->try_lock({kFar, kFar + 1}, LockMode::kShared);
  ASSERT_TRUE(lock.ok() && *lock != nullptr);
  cluster.stop(0);
  cluster.start(0);
  const auto newer = other->try_lock({kFar + 7, kFar + 8}, LockMode::kShared);
  ASSERT_TRUE(newer.ok() && *newer != nullptr);
  const Status told = write_all(*file, noise(10, 1));
  EXPECT_EQ(told.code(), ErrorCode::kIo);
  EXPECT_NE(told.message().find("another program writes"), std::string::npos) << told.message();
}

// A program that sieves is killed: its connection ends, and nothing else tells the server.
TEST(Faults, TheLockOfAClientThatDiesGoesToTheOneThatWaits) {
  Cluster cluster(1);
  StripedDriver driver;
  const auto file = driver.open(cluster.url() + "/f", {.mode = Mode::kCreate}).value();
  STRIA_EXPECT_OK(write_all(*file, noise(10, 1)));
  const wire::Opened known = known_file(cluster.address(), "/f");
  storage::ServerLink dying(wire::Address::parse(cluster.address()).value(), nullptr);
  const auto soon = storage::Clock::now() + std::chrono::seconds(20);
  STRIA_EXPECT_OK(dying.connect(soon));
  const wire::LockRange range{known.file, known.ticket, {0, 10}, true, 5};
  const auto taken = dying.ask(wire::Kind::kLock, wire::encode(range), soon);
  ASSERT_TRUE(taken.ok() && wire::decode<wire::Answer>(*taken)->yes);
  EXPECT_EQ(file->try_lock({5, 15}, LockMode::kExclusive).value(), nullptr);
  std::thread death([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    dying.disconnect();
  });
  const auto begin = std::chrono::steady_clock::now();
  const auto lock = file->lock({5, 15}, LockMode::kExclusive);
  const auto waited = std::chrono::steady_clock::now() - begin;
  death.join();
  ASSERT_TRUE(lock.ok()) << lock.status().message();
  EXPECT_GE(waited, std::chrono::milliseconds(250));
  EXPECT_LT(waited, std::chrono::seconds(50));
}

TEST(Faults, ClientsThatSendGarbageOrNothingHarmNobody) {
  Cluster cluster(1);
  StripedDriver driver;
  std::vector<int> sockets;
  for (uint64_t i = 0; i < 60; ++i) {
    sockets.push_back(raw_connection(cluster.address()));
    const auto garbage = noise(i % 3 == 0 ? 0 : 17 * i, i);
    send(sockets.back(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
    if (i % 2 == 0) {
      wire::Header header;
      header.kind = wire::Kind::kWrite;
      header.payload_bytes = wire::kMaxPayloadBytes;  // The payload never comes.
      const auto head = wire::encode_head(header, noise(i, i));
      send(sockets.back(), head.data(), head.size(), MSG_NOSIGNAL);
    }
  }
  const auto file = driver.open(cluster.url() + "/f", {.mode = Mode::kCreate}).value();
  const auto bytes = noise(300000, 4);
  STRIA_EXPECT_OK(write_all(*file, bytes));
  EXPECT_EQ(read_all(*file), bytes);
  for (const int each : sockets) {
    ::close(each);
  }
}

TEST(Faults, WithoutTheKeyNobodyComesIn) {
  std::string pattern = scratch_directory() + "/stria-key-XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const auto write_key = [&](const std::string& name, const std::string& secret, mode_t mode) {
    const std::string path = pattern + "/" + name;
    std::ofstream(path) << secret;
    chmod(path.c_str(), mode);
    return path;
  };
  const std::string good = write_key("good", "this is the key of the cluster", 0600);
  EXPECT_EQ(wire::Key::load(write_key("open", "this is the key of the cluster", 0644)).status().code(),
            ErrorCode::kPermissionDenied);
  EXPECT_FALSE(wire::Key::load(write_key("short", "short", 0600)).ok());
  ServerOptions options;
  options.directory = pattern + "/store";
  options.key = wire::Key::load(good).value();
  const auto server = Server::start(options);
  ASSERT_TRUE(server.ok()) << server.status().message();
  const auto address = wire::Address::parse((*server)->address()).value();
  const auto try_with = [&](std::shared_ptr<const wire::Key> key) {
    storage::ServerLink link(address, std::move(key));
    return link.connect(storage::Clock::now() + std::chrono::seconds(10));
  };
  STRIA_EXPECT_OK(try_with(options.key));
  EXPECT_EQ(try_with(nullptr).code(), ErrorCode::kPermissionDenied);
  EXPECT_EQ(try_with(wire::Key::load(write_key("other", "another key than the other one", 0600)).value()).code(),
            ErrorCode::kPermissionDenied);
  ServerOptions open_to_all;
  open_to_all.directory = pattern + "/second";
  open_to_all.listen = "0.0.0.0:0";
  EXPECT_EQ(Server::start(open_to_all).status().code(), ErrorCode::kPermissionDenied);
  std::filesystem::remove_all(pattern);
}

TEST(Faults, WhatNobodyNamesIsRemovedFromTheServers) {
  Cluster cluster(2);
  StripedDriver driver;
  const std::string path = cluster.url() + "/f";
  const auto objects = [&] {
    int count = 0;
    for (const int index : {0, 1}) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(cluster.data(index))) {
        count += entry.is_regular_file() ? 1 : 0;
      }
    }
    return count;
  };
  auto file = driver.open(path, {.mode = Mode::kCreate}).value();
  STRIA_EXPECT_OK(write_all(*file, noise(1 << 20, 1)));
  EXPECT_EQ(objects(), 4) << "data and their checksums";
  STRIA_EXPECT_OK(file->close());
  STRIA_EXPECT_OK(driver.remove(path));
  for (int i = 0; i < 100 && objects() > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(objects(), 0);
}

}  // namespace
}  // namespace stria::server
