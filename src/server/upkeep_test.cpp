// Looking after a store: which servers take new files, a server that ends in order, copies of the
// names, and parts without names.
#include "wire/upkeep.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "server/clients_test.hpp"
#include "server/cluster_test.hpp"
#include "server/objects/part_place.hpp"
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

template <typename Reply, typename Request>
Result<Reply> ask(const std::string& address, wire::Kind kind, const Request& request) {
  storage::ServerLink link(wire::Address::parse(address).value(), nullptr);
  const auto deadline = storage::Clock::now() + std::chrono::seconds(10);
  STRIA_RETURN_IF_ERROR(link.connect(deadline));
  STRIA_ASSIGN_OR_RETURN(const auto reply, link.ask(kind, wire::encode(request), deadline));
  return wire::decode<Reply>(reply);
}

wire::Conditions::Entry condition_of(const Cluster& cluster, int server) {
  const auto all = ask<wire::Conditions>(cluster.address(), wire::Kind::kConditions, wire::Nothing());
  return all.value().entries.at(static_cast<size_t>(server));
}

/// Waits until the manager knows it.
void await_condition(const Cluster& cluster, int server, wire::Condition wanted) {
  const auto deadline = storage::Clock::now() + std::chrono::seconds(60);
  while (condition_of(cluster, server).condition != wanted && storage::Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(condition_of(cluster, server).condition, wanted);
}

std::set<int64_t> servers_of(const Cluster& cluster, const std::string& name) {
  std::set<int64_t> servers;
  for (const wire::ServerPlace& slot : testing::known_file(cluster.address(), name).slots) {
    servers.insert(slot.index);
  }
  return servers;
}

void put(const Cluster& cluster, const std::string& name, size_t bytes) {
  StripedDriver driver;
  const auto file = driver.open(cluster.url() + name, {.mode = Mode::kCreate}).value();
  STRIA_EXPECT_OK(write_all(*file, noise(bytes, bytes)));
  STRIA_EXPECT_OK(file->sync());
}

TEST(Upkeep, AServerBelowItsReserveGetsNewFilesOnlyWhereAllAreSo) {
  bool all = false;
  Cluster cluster(3, [&](ServerOptions& options) {
    if (all || options.directory.ends_with("/1")) {
      options.watch.reserve_bytes = int64_t{1} << 60;
    }
  });
  await_condition(cluster, 1, wire::Condition::kNearlyFull);
  EXPECT_NE(condition_of(cluster, 1).why.find("--reserve"), std::string::npos);
  put(cluster, "/a", 1 << 20);
  EXPECT_EQ(servers_of(cluster, "/a"), (std::set<int64_t>{0, 2}));
  all = true;
  for (const int server : {2, 0}) {
    cluster.stop(server);
    cluster.start(server);
  }
  for (const int server : {0, 1, 2}) {
    await_condition(cluster, server, wire::Condition::kNearlyFull);
  }
  put(cluster, "/b", 1 << 20);
  EXPECT_EQ(servers_of(cluster, "/b"), (std::set<int64_t>{0, 1, 2}));
}

TEST(Upkeep, AClosedServerGetsNoNewFilesAndKeepsItsOwn) {
  Cluster cluster(3);
  put(cluster, "/before", 1 << 20);
  const auto set = [&](int64_t server, bool taken) {
    return ask<wire::Nothing>(cluster.address(), wire::Kind::kNewFiles, wire::NewFiles{server, taken}).status();
  };
  STRIA_EXPECT_OK(set(1, false));
  EXPECT_EQ(set(9, false).code(), ErrorCode::kNotFound);
  for (int start = 0; start < 2; ++start) {
    const std::string name = "/closed" + std::to_string(start);
    put(cluster, name, 1 << 20);
    EXPECT_EQ(servers_of(cluster, name), (std::set<int64_t>{0, 2}));
    EXPECT_TRUE(condition_of(cluster, 1).closed);
    cluster.stop(0);
    cluster.start(0);  // the manager remembers
    for (const int server : {1, 2}) {
      cluster.stop(server);
      cluster.start(server);
    }
  }
  StripedDriver driver;
  EXPECT_EQ(read_all(*driver.open(cluster.url() + "/before", {}).value()), noise(1 << 20, 1 << 20));
  STRIA_EXPECT_OK(set(1, true));
  put(cluster, "/after", 1 << 20);
  EXPECT_EQ(servers_of(cluster, "/after"), (std::set<int64_t>{0, 1, 2}));
  for (const int64_t server : {0, 1, 2}) {
    STRIA_EXPECT_OK(set(server, false));
  }
  const Status none = driver.open(cluster.url() + "/none", {.mode = Mode::kCreate}).status();
  EXPECT_NE(none.message().find("server 1 is closed to new files"), std::string::npos) << none.message();
}

TEST(Upkeep, AFileIsNotCompleteWhenAServerHasSignedOff) {
  setenv("STRIA_SERVER_TIMEOUT", "1", 1);
  Cluster cluster(2);
  StripedDriver driver;
  const auto url = [&](const std::string& name) { return cluster.url() + "/" + name; };
  put(cluster, "/other", 1 << 20);
  const auto file = driver.open(url("partial"), {.mode = Mode::kCreate, .exclusive_lock = true}).value();
  STRIA_EXPECT_OK(write_all(*file, noise(1 << 20, 1)));
  cluster.stop(1);
  EXPECT_EQ(condition_of(cluster, 1).condition, wire::Condition::kLeaving);
  const Status refused = driver.rename(url("partial"), url("complete"));
  EXPECT_FALSE(refused.ok());
  EXPECT_NE(refused.message().find(cluster.address(1)), std::string::npos) << refused.message();
  EXPECT_NE(refused.message().find("has ended"), std::string::npos) << refused.message();
  EXPECT_FALSE(driver.exists(url("complete")).value());
  STRIA_EXPECT_OK(driver.rename(url("other"), url("renamed")));
  put(cluster, "/late", 1 << 20);
  EXPECT_EQ(servers_of(cluster, "/late"), (std::set<int64_t>{0})) << "at once, not when it has been silent for long";
  cluster.start(1);
  STRIA_EXPECT_OK(driver.rename(url("partial"), url("complete")));
  EXPECT_EQ(read_all(*driver.open(url("complete"), {}).value()), noise(1 << 20, 1));
  unsetenv("STRIA_SERVER_TIMEOUT");
}

// A server that ends before it has told the new manager that it lives would otherwise be as one
// that is silent, and a copy could be called complete that can't be opened.
TEST(Upkeep, AManagerThatIsStartedAgainKnowsWhoHasSignedOff) {
  setenv("STRIA_SERVER_TIMEOUT", "1", 1);
  Cluster cluster(3);
  StripedDriver driver;
  const auto url = [&](const std::string& name) { return cluster.url() + "/" + name; };
  const auto file = driver.open(url("partial"), {.mode = Mode::kCreate, .exclusive_lock = true}).value();
  STRIA_EXPECT_OK(write_all(*file, noise(1 << 20, 1)));
  cluster.stop(1);
  cluster.stop(0);
  cluster.start(0);
  cluster.stop(2);  // it has hardly been heard of
  for (const int server : {1, 2}) {
    EXPECT_EQ(condition_of(cluster, server).condition, wire::Condition::kLeaving) << server;
    EXPECT_EQ(condition_of(cluster, server).why, "it was ended");
    const Status refused = driver.rename(url("partial"), url("complete"));
    EXPECT_NE(refused.message().find(cluster.address(server) + ") has ended"), std::string::npos) << refused.message();
    cluster.start(server);
    await_condition(cluster, server, wire::Condition::kGood);
  }
  STRIA_EXPECT_OK(driver.rename(url("partial"), url("complete")));
  cluster.stop(0);
  cluster.start(0);  // It doesn't remember what is over.
  for (const int server : {1, 2}) {
    EXPECT_EQ(condition_of(cluster, server).condition, wire::Condition::kGood) << server;
  }
  EXPECT_EQ(read_all(*driver.open(url("complete"), {}).value()), noise(1 << 20, 1));
  unsetenv("STRIA_SERVER_TIMEOUT");
}

TEST(Upkeep, ARenameWaitsForAServerThatIsStartedAgain) {
  Cluster cluster(2);
  StripedDriver driver;
  const auto file = driver.open(cluster.url() + "/partial", {.mode = Mode::kCreate, .exclusive_lock = true}).value();
  STRIA_EXPECT_OK(write_all(*file, noise(1 << 20, 1)));
  cluster.stop(1);
  std::thread again([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    cluster.start(1);
  });
  STRIA_EXPECT_OK(driver.rename(cluster.url() + "/partial", cluster.url() + "/complete"));
  again.join();
}

TEST(Upkeep, ABackupIsMadeWhileNamesChange) {
  Cluster cluster(1);
  StripedDriver driver;
  constexpr int kFiles = 12000;  // more pages than one request copies
  storage::ServerLink link(wire::Address::parse(cluster.address()).value(), nullptr);
  const auto soon = [] { return storage::Clock::now() + std::chrono::seconds(60); };
  STRIA_EXPECT_OK(link.connect(soon()));
  const auto make = [&](int i) {
    const std::string path = "/" + std::to_string(i) + std::string(200, 'x');
    STRIA_EXPECT_OK(link.ask(wire::Kind::kMakeDirectory, wire::encode(wire::NewDirectory{path, 0755}), soon()).status());
  };
  for (int i = 0; i < kFiles; ++i) {
    make(i);
  }
  std::vector<std::byte> copy;
  wire::Backup request;
  int asked = 0;
  while (true) {
    const auto reply = link.ask(wire::Kind::kBackup, wire::encode(request), soon());
    const auto part = wire::decode<wire::BackupPart>(reply.value()).value();
    copy.insert(copy.end(), part.bytes.begin(), part.bytes.end());
    request = {part.number, static_cast<int64_t>(copy.size())};
    if (part.total_bytes > 0 && request.offset == part.total_bytes) {
      break;
    }
    make(kFiles + asked++);
    const auto other = ask<wire::BackupPart>(cluster.address(), wire::Kind::kBackup, wire::Backup());
    EXPECT_EQ(other.status().code(), ErrorCode::kAlreadyExists);
  }
  EXPECT_GT(asked, 1);
  const std::string path = cluster.directory(0) + "/copy.sqlite";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(copy.data()), static_cast<std::streamsize>(copy.size()));
  const auto database = Database::open(path).value();
  Query sound = database->query("PRAGMA integrity_check");
  ASSERT_TRUE(sound.next());
  EXPECT_EQ(sound.text(0), "ok");
  Query names = database->query("SELECT count(*) FROM entries");
  ASSERT_TRUE(names.next());
  EXPECT_GT(names.number(0), kFiles);
  EXPECT_EQ(ask<wire::BackupPart>(cluster.address(), wire::Kind::kBackup, wire::Backup{99, 0}).status().code(),
            ErrorCode::kAborted);
}

/// Returns the parts that a server lists.
wire::PartsListed parts_of(const Cluster& cluster, int server) {
  return ask<wire::PartsListed>(cluster.address(server), wire::Kind::kParts, wire::Parts()).value();
}

TEST(Upkeep, PartsKnowHowTheirFileIsStriped) {
  Cluster cluster(3);
  StripedDriver driver;
  const auto file = driver.open(cluster.url() + "/f", {.mode = Mode::kCreate, .striping = {65536, 2, 1}}).value();
  STRIA_EXPECT_OK(file->preallocate(1 << 20));  // makes the parts, and says nothing of stripes
  STRIA_EXPECT_OK(write_all(*file, noise(1 << 20, 3)));
  EXPECT_TRUE(parts_of(cluster, 0).entries.empty());
  for (const int server : {1, 2}) {
    const auto page = parts_of(cluster, server);
    ASSERT_EQ(page.entries.size(), 1u);
    EXPECT_EQ(page.entries[0].striped, (wire::Striped{65536, 2, server - 1}));
    EXPECT_EQ(page.entries[0].bytes, 1 << 19);
    EXPECT_EQ(page.entries[0].state, wire::PartState::kPresent);
    const auto known =
        ask<wire::PartsKnown>(cluster.address(), wire::Kind::kKnown, wire::PartsOf{server, {page.entries[0].file, 77}}).value();
    EXPECT_EQ(known.entries[0].known, wire::PartKnown::kHere);
    EXPECT_EQ(known.entries[0].striped, page.entries[0].striped);
    EXPECT_EQ(known.entries[1].known, wire::PartKnown::kUnknown);
  }
}

TEST(Upkeep, NoFileWithANameIsAdoptedOrDiscarded) {
  Cluster cluster(2);
  put(cluster, "/f", 1 << 20);
  const uint64_t file = testing::known_file(cluster.address(), "/f").file;
  const auto adopt = [&](const wire::Adopt& request) {
    return ask<wire::Path>(cluster.address(), wire::Kind::kAdopt, request).status().code();
  };
  EXPECT_EQ(adopt({file, 65536, {0, 1}}), ErrorCode::kAlreadyExists) << "it is striped otherwise";
  EXPECT_EQ(adopt({file + 1, 65536, {0, 0}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(adopt({file + 1, 65536, {0, 7}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(adopt({file + 1, 5, {0}}), ErrorCode::kInvalidArgument);
  const auto discarded = ask<wire::Discarded>(cluster.address(), wire::Kind::kDiscard, wire::PartsOf{1, {file}});
  EXPECT_EQ(discarded.value().files, 0u);
  StripedDriver driver;
  EXPECT_EQ(read_all(*driver.open(cluster.url() + "/f", {}).value()), noise(1 << 20, 1 << 20));
}

TEST(Upkeep, AListOfManyPartsComesInPages) {
  Cluster cluster(1);
  const uint64_t first = uint64_t{1} << 40;
  constexpr uint64_t kParts = wire::kMaxListed + 100;
  for (uint64_t file = first; file < first + kParts; ++file) {
    constexpr char kDigits[] = "0123456789abcdef";
    const std::string folder = {kDigits[file % 256 / 16], kDigits[file % 16]};
    std::ofstream(cluster.data(0) + "/" + folder + "/" + part_name(file)) << "x";
  }
  std::set<uint64_t> seen;
  wire::Parts request;
  wire::PartsListed page;
  do {
    page = ask<wire::PartsListed>(cluster.address(), wire::Kind::kParts, request).value();
    for (const auto& part : page.entries) {
      EXPECT_TRUE(seen.insert(part.file).second);
      EXPECT_EQ(part.bytes, 1);
      EXPECT_FALSE(part.striped.known());
    }
    request.after = page.entries.back().file;
  } while (page.more);
  EXPECT_EQ(seen.size(), kParts);
}

}  // namespace
}  // namespace stria::server
