// Tests where new files go: in turn, on the server that was named, or away from those that are busy
// or nearly full.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "server/clients_test.hpp"
#include "server/cluster_test.hpp"
#include "server/manager/manager.hpp"
#include "storage/first_server.hpp"
#include "storage/striped/store.hpp"
#include "storage/striped/striped_driver.hpp"

namespace stria::server {
namespace {

using testing::Cluster;
using Indices = std::vector<int64_t>;

constexpr int64_t kMany = int64_t{1} << 30;

Indices servers_of(const wire::Opened& place) {
  Indices indices;
  for (const wire::ServerPlace& slot : place.slots) {
    indices.push_back(slot.index);
  }
  return indices;
}

/// A manager without its server, which hears what the test says.
class PlacementTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::scratch_directory() + "/stria-placement-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    manager_ = Manager::open(directory_ + "/names.sqlite", Manager::Options()).value();
    for (int64_t server = 0; server < 4; ++server) {
      pulse(server, 0);
    }
  }
  void TearDown() override {
    manager_.reset();
    std::filesystem::remove_all(directory_);
  }

  Answer ask(wire::Kind kind, std::vector<std::byte> body) {
    const Caller itself{.user = {}, .trusted = true, .is_super = true};
    return manager_->answer({{}, kind, ++request_, std::move(body), itself});
  }
  void pulse(int64_t server, int64_t busy_bytes, int64_t free_bytes = kMany / 2) {
    wire::Pulse said;
    said.server[0] = static_cast<std::byte>(server + 1);
    said.address = "h:" + std::to_string(server + 1);
    said.total_bytes = kMany;
    said.free_bytes = free_bytes;
    said.busy_bytes = busy_bytes;
    const auto answer = wire::decode<wire::PulseAnswer>(ask(wire::Kind::kPulse, wire::encode(said)).body);
    ASSERT_TRUE(answer.ok());
    ASSERT_EQ(answer->index, server);
  }
  Indices make(int64_t server_count, bool by_load, int64_t first_server = -1) {
    wire::Open request;
    request.path = "/f" + std::to_string(request_);
    request.mode = wire::OpenMode::kCreateNew;
    request.handle = request_ + 1;
    request.server_count = server_count;
    request.first_server = first_server;
    request.by_load = by_load;
    const auto opened = wire::decode<wire::Opened>(ask(wire::Kind::kOpen, wire::encode(request)).body);
    return opened.ok() ? servers_of(*opened) : Indices{};
  }

  std::string directory_;
  std::unique_ptr<Manager> manager_;
  uint64_t request_ = 0;
};

TEST_F(PlacementTest, IdleServersTakeTurns) {
  for (const bool by_load : {false, true}) {
    std::set<Indices> firsts;
    for (int i = 0; i < 4; ++i) {
      firsts.insert(make(1, by_load));
    }
    EXPECT_EQ(firsts.size(), 4u) << by_load;
  }
}

TEST_F(PlacementTest, ABusyServerIsAvoided) {
  pulse(1, 100 << 20);
  std::map<bool, std::set<Indices>> used;
  for (int i = 0; i < 24; ++i) {
    const bool by_load = i < 12;
    used[by_load].insert(make(1, by_load));
  }
  EXPECT_EQ(used[true], (std::set<Indices>{{0}, {2}, {3}}));
  EXPECT_EQ(used[false], (std::set<Indices>{{0}, {1}, {2}, {3}}));
  for (int i = 0; i < 4; ++i) {
    const Indices pair = make(2, true);
    EXPECT_TRUE(pair == (Indices{2, 3}) || pair == (Indices{3, 0})) << pair[0] << ", " << pair[1];
  }
  EXPECT_NE(make(4, true).front(), 1) << "a file on all servers begins on another";
  EXPECT_EQ(make(1, true, 1), (Indices{1})) << "it was named";
}

TEST_F(PlacementTest, TheLeastBusyIsChosenAndLoadIsForgotten) {
  for (const int64_t server : {0, 1, 3}) {
    pulse(server, 8 << 20);
  }
  EXPECT_EQ(make(1, true), (Indices{2}));
  pulse(2, 100 << 20);
  EXPECT_NE(make(1, true), (Indices{2}));
  for (int second = 0; second < 12; ++second) {
    pulse(2, 0);
  }
  EXPECT_EQ(make(1, true), (Indices{2})) << "it has had twelve quiet seconds, the others none";
}

TEST_F(PlacementTest, ANearlyFullServerComesLast) {
  pulse(3, 0, kMany / 100);
  for (const int64_t server : {0, 1, 2}) {
    pulse(server, 50 << 20);
  }
  for (int i = 0; i < 8; ++i) {
    EXPECT_NE(make(1, true), (Indices{3}));
  }
  EXPECT_EQ(make(4, true).size(), 4u) << "it is used where all are";
}

TEST_F(PlacementTest, ASilentServerGetsNoNewFiles) {
  std::this_thread::sleep_for(std::chrono::milliseconds(6100));
  EXPECT_EQ(make(4, false).size(), 4u) << "all are silent: the machine slept";
  for (const int64_t server : {0, 1, 3}) {
    pulse(server, 0);
  }
  for (int i = 0; i < 4; ++i) {
    const Indices servers = make(4, false);
    EXPECT_EQ(std::set<int64_t>(servers.begin(), servers.end()), (std::set<int64_t>{0, 1, 3}));
  }
}

/// Returns what the manager of a store knows about a server's load.
int64_t load_of(storage::Store& store, size_t server) {
  const auto reply = store.ask_manager(wire::Kind::kServers, {});
  return wire::decode<wire::StoreServers>(reply.value())->servers[server].load_bytes;
}

TEST(PlacementOfAStore, FilesKeepAwayFromAServerWithWork) {
  Cluster cluster(3);
  const auto store = storage::Store::at(cluster.address()).value();
  std::atomic<bool> ending = false;
  std::thread busy([&] {
    storage::StripedDriver driver;
    const auto file = driver.open(cluster.url() + "/busy", {.mode = storage::OpenOptions::Mode::kCreate,
                                                            .striping = {.server_count = 1, .first_server = 1}});
    const auto bytes = testing::noise(4 << 20, 1);
    while (!ending) {
      STRIA_EXPECT_OK(testing::write_all(**file, bytes));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  const auto deadline = storage::Clock::now() + std::chrono::seconds(20);
  while (load_of(*store, 1) < 16 << 20 && storage::Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_GE(load_of(*store, 1), 16 << 20);
  storage::StripedDriver driver;
  std::set<Indices> used;
  for (int i = 0; i < 12; ++i) {
    const std::string name = "/f" + std::to_string(i);
    const storage::Striping striping{.server_count = 1, .first_server = storage::FirstServer::kByLoad};
    ASSERT_TRUE(driver.open(cluster.url() + name, {.mode = storage::OpenOptions::Mode::kCreate, .striping = striping}).ok());
    used.insert(servers_of(testing::known_file(cluster.address(), name)));
  }
  EXPECT_EQ(used, (std::set<Indices>{{0}, {2}}));
  ending = true;
  busy.join();
}

}  // namespace
}  // namespace stria::server
