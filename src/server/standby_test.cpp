// A standby manager has every change that was acknowledged, takes over when it is told to, and only
// then; clients go on, and the manager before can't.
#include "wire/standby.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "server/clients_test.hpp"
#include "server/cluster_test.hpp"
#include "server/standby_processes_test.hpp"
#include "storage/striped/store.hpp"
#include "storage/striped/striped_driver.hpp"
#include "wire/moves.hpp"
#include "wire/quotas.hpp"
#include "wire/tree.hpp"

namespace stria::server {
namespace {

using std::chrono::milliseconds;
using storage::OpenOptions;
using storage::StripedDriver;
using testing::ask;
using testing::Cluster;
using testing::comes_in_step;
using testing::comes_true;
using testing::figure;
using testing::noise;
using testing::promote;
using testing::promote_soon;
using testing::read_all;
using testing::StandbyProcesses;
using testing::write_all;
using wire::Kind;
using Mode = OpenOptions::Mode;

/// Returns every row of every table, but for what a manager notes of itself.
std::multiset<std::string> rows_of(const std::string& path) {
  std::multiset<std::string> rows;
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  std::vector<std::string> tables;
  const auto each_row = [&](const std::string& sql, const std::function<void(sqlite3_stmt*)>& take) {
    sqlite3_stmt* query = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database, sql.c_str(), -1, &query, nullptr), SQLITE_OK) << sql;
    while (sqlite3_step(query) == SQLITE_ROW) {
      take(query);
    }
    sqlite3_finalize(query);
  };
  const auto text = [](sqlite3_stmt* query, int column) {
    const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(query, column));
    return std::string(bytes == nullptr ? "" : bytes, static_cast<size_t>(sqlite3_column_bytes(query, column)));
  };
  each_row("SELECT name FROM sqlite_master WHERE type = 'table'",
           [&](sqlite3_stmt* query) { tables.push_back(text(query, 0)); });
  each_row("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL", [&](sqlite3_stmt* query) { rows.insert(text(query, 0)); });
  for (const std::string& table : tables) {
    const std::string but = table == "meta" ? " WHERE key NOT IN ('syncs', 'mark')" : "";
    each_row("SELECT * FROM " + table + but, [&](sqlite3_stmt* query) {
      std::string row = table;
      for (int column = 0; column < sqlite3_column_count(query); ++column) {
        row += "|" + text(query, column);
      }
      rows.insert(row);
    });
  }
  sqlite3_close(database);
  return rows;
}

/// Changes the names in every way that there is.
class RandomChanges {
 public:
  RandomChanges(storage::Store& store, uint64_t seed) : store_(store), random_(seed) {}

  void make_one() {
    switch (random_() % 12) {
      case 0:
      case 1:
      case 2:
        make_file();
        break;
      case 3:
        say(Kind::kRename, wire::Rename{path(), path()});
        break;
      case 4:
        say(Kind::kRemove, wire::Path{path()});
        break;
      case 5:
        say(Kind::kMakeDirectory, wire::NewDirectory{path(), 0755});
        break;
      case 6:
        say(Kind::kMakeLink, wire::NewLink{path(), "somewhere"});
        break;
      case 7:
        say(Kind::kLinkName, wire::NewLink{path(), path()});
        break;
      case 8:
        say(Kind::kSetAttribute, wire::SetAttribute{{path(), true}, {}, "user.a", std::string(random_() % 60000, 'x')});
        break;
      case 9:
        say(Kind::kSetOwnership, wire::SetOwnership{path(), {}, {}, static_cast<uint32_t>(0700 + random_() % 64)});
        break;
      case 10:
        say(Kind::kSetQuota, wire::SetQuota{wire::QuotaKind::kUser, static_cast<uint32_t>(random_() % 5) + 70000, "",
                                            static_cast<int64_t>(random_() % 2) * 1000000, 0});
        break;
      default:
        move();
    }
  }
  int64_t done() const { return done_; }

 private:
  std::string path() { return "/d" + std::to_string(random_() % 4) + "/n" + std::to_string(random_() % 12); }
  template <typename Message>
  std::optional<std::vector<std::byte>> say(Kind kind, const Message& message) {
    auto reply = store_.ask_manager(kind, wire::encode(message));
    done_ += reply.ok() ? 1 : 0;
    EXPECT_NE(reply.status().code(), ErrorCode::kIo) << reply.status().message();
    return reply.ok() ? std::optional(*reply) : std::nullopt;
  }
  void make_file() {
    wire::Open request;
    request.path = path();
    request.mode = wire::OpenMode::kCreate;
    request.permissions = 0644;
    request.server_count = 1;
    if (store_.open(request).ok()) {
      ++done_;
      if (random_() % 3 != 0) {
        STRIA_EXPECT_OK(store_.close(request.handle));
      }
    }
  }
  void move() {
    const auto found = store_.ask_manager(Kind::kStat, wire::encode(wire::Path{path()}));
    const auto attributes = found.ok() ? wire::decode<wire::Attributes>(*found) : Result<wire::Attributes>(found.status());
    if (!attributes.ok() || attributes->is_directory || attributes->place.slots.empty()) {
      return;
    }
    const int64_t from = attributes->place.slots[0].index;
    const auto begun = say(Kind::kMoveBegin, wire::MoveBegin{attributes->place.file, from, (from + 1) % 3});
    if (begun) {
      const wire::MoveOf move{attributes->place.file, wire::decode<wire::MoveBegun>(*begun)->ticket};
      say(random_() % 4 == 0 ? Kind::kMoveAbort : Kind::kMoveCommit, move);
    }
  }

  storage::Store& store_;
  std::mt19937_64 random_;
  int64_t done_ = 0;
};

Cluster::Change with_standby() {
  return [](ServerOptions& options) {
    options.standby = options.directory.ends_with("/1");
    options.standby_patience = milliseconds(1500);
  };
}

TEST(Standby, ItsNamesAreTheManagers) {
  Cluster cluster(3, with_standby());
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  const auto store = storage::Store::at(cluster.address()).value();
  RandomChanges changes(*store, seed);
  for (int i = 0; i < 100; ++i) {
    changes.make_one();  // some of them while the copy is made
  }
  ASSERT_TRUE(comes_in_step(cluster.address()));
  for (int i = 0; i < 600; ++i) {
    changes.make_one();
  }
  EXPECT_GT(changes.done(), 100);
  EXPECT_TRUE(comes_in_step(cluster.address()));
  std::this_thread::sleep_for(milliseconds(3000));  // servers remove parts, and tell of that
  cluster.stop(0);
  cluster.stop(1);
  const auto names = rows_of(cluster.directory(0) + "/names.sqlite");
  EXPECT_GT(names.size(), 50U);
  EXPECT_EQ(rows_of(cluster.directory(1) + "/standby.sqlite"), names);
}

TEST(Standby, TakesOverFromAManagerThatLives) {
  Cluster cluster(3, with_standby());
  ASSERT_TRUE(comes_in_step(cluster.address()));
  const std::string url = "stria://" + cluster.address(0) + "," + cluster.address(1);
  StripedDriver driver;
  const auto file = driver.open(url + "/open", {.mode = Mode::kCreate}).value();
  STRIA_EXPECT_OK(write_all(*file, noise(300000, 1)));
  std::atomic<bool> ends = false;
  std::atomic<int> made = 0;
  std::thread client([&] {
    while (!ends) {
      STRIA_EXPECT_OK(driver.open(url + "/f" + std::to_string(made), {.mode = Mode::kCreateNew}).status());
      ++made;
    }
  });
  std::this_thread::sleep_for(milliseconds(300));
  STRIA_EXPECT_OK(promote_soon(cluster.address(1)));
  const int before = made;
  EXPECT_TRUE(comes_true([&] { return made > before + 20; }));
  ends = true;
  client.join();
  EXPECT_EQ(driver.list_directory(url + "/")->size(), static_cast<size_t>(made) + 1);
  STRIA_EXPECT_OK(write_all(*file, noise(300000, 2)));
  EXPECT_EQ(read_all(*file), noise(300000, 2));
  EXPECT_EQ(driver.open(url + "/open", {.mode = Mode::kCreate, .exclusive_lock = true}).status().code(), ErrorCode::kOk)
      << "only an exclusive handle keeps others out";
  const Status refused = ask(cluster.address(0), Kind::kRemove, wire::encode(wire::Path{"/open"})).status();
  EXPECT_TRUE(wire::is_no_manager(refused)) << refused.message();
  EXPECT_NE(refused.message().find(cluster.address(1)), std::string::npos) << refused.message();
  EXPECT_EQ(figure(cluster.address(0), "manager_replaced"), 1);
  EXPECT_EQ(promote(cluster.address(1)).status().code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(promote(cluster.address(2)).status().code(), ErrorCode::kUnsupported);
  // Each has its role after a restart, whatever it is started as.
  cluster.stop(1);
  cluster.stop(0);
  cluster.start(1);
  cluster.start(0);
  EXPECT_EQ(figure(cluster.address(1), "manager"), 1);
  EXPECT_EQ(figure(cluster.address(0), "manager"), 0);
  EXPECT_EQ(driver.list_directory(url + "/")->size(), static_cast<size_t>(made) + 1);
}

// The last step fails after the copy has become the store's names: a directory lies where SQLite's
// log is to be.
class StandbyThatCantOpenItsNames : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(comes_in_step(cluster_.address()));
    StripedDriver driver;
    STRIA_EXPECT_OK(driver.open("stria://" + cluster_.address() + "/before", {.mode = Mode::kCreateNew}).status());
    std::filesystem::create_directory(obstacle_);
    const Status failed = promote_soon(cluster_.address(1));
    EXPECT_FALSE(failed.ok());
    EXPECT_NE(failed.message().find("has taken over the store's names"), std::string::npos) << failed.message();
    EXPECT_EQ(figure(cluster_.address(1), "manager"), 0);
  }
  void check_it_manages(uint64_t epoch) {
    EXPECT_EQ(figure(cluster_.address(1), "manager"), 1);
    EXPECT_EQ(figure(cluster_.address(1), "epoch"), static_cast<int64_t>(epoch));
    StripedDriver driver;
    EXPECT_EQ(driver.list_directory("stria://" + cluster_.address(1) + "/").value(), std::vector<std::string>{"before"});
  }

  Cluster cluster_{3, with_standby()};
  std::string obstacle_ = cluster_.directory(1) + "/names.sqlite-wal";
};

TEST_F(StandbyThatCantOpenItsNames, IsPromotedOnceMore) {
  const Status again = promote(cluster_.address(1)).status();
  EXPECT_NE(again.message().find("has taken over the store's names"), std::string::npos) << again.message();
  EXPECT_EQ(again.message().find("never had"), std::string::npos) << again.message();
  std::filesystem::remove(obstacle_);
  const auto promoted = promote(cluster_.address(1));
  STRIA_EXPECT_OK(promoted.status());
  EXPECT_EQ(promoted->epoch, 1U);
  EXPECT_EQ(promoted->manager, cluster_.address(1));
  check_it_manages(1);
}

TEST_F(StandbyThatCantOpenItsNames, IsTheManagerWhenItIsStartedAgain) {
  std::filesystem::remove(obstacle_);
  cluster_.stop(1);
  cluster_.start(1);
  check_it_manages(1);
}

TEST(Standby, NamesOfABackupDontLetItTakeOverUnnoticed) {
  Cluster cluster(3, with_standby());
  ASSERT_TRUE(comes_in_step(cluster.address()));
  EXPECT_TRUE(comes_true([&] { return figure(cluster.address(2), "standby_marks_in_step") == 1; }));
  cluster.stop(1);
  cluster.stop(0);
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open((cluster.directory(0) + "/names.sqlite").c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, "DELETE FROM meta WHERE key IN ('standby', 'mark')", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  cluster.start(0);
  StripedDriver driver;
  STRIA_EXPECT_OK(driver.open(cluster.url() + "/f", {.mode = Mode::kCreateNew}).status());
  EXPECT_EQ(figure(cluster.address(2), "standby_marks_in_step"), 0);
  cluster.stop(0);
  cluster.start(1);
  EXPECT_EQ(promote(cluster.address(1)).status().code(), ErrorCode::kAborted);
}

/// Names as they have to be, while a client changes them.
class Expected {
 public:
  Expected(StripedDriver& driver, std::string root, uint64_t seed)
      : driver_(driver), root_(std::move(root)), random_(seed), names_{"open"} {}

  void change() {
    const std::string one = "n" + std::to_string(random_() % 8);
    const std::string other = "n" + std::to_string(random_() % 8);
    const bool there = names_.contains(one);
    switch (random_() % 4) {
      case 0:
      case 1:
        expect(driver_.open(root_ + one, {.mode = Mode::kCreateNew}).status(),
               there ? ErrorCode::kAlreadyExists : ErrorCode::kOk);
        names_.insert(one);
        break;
      case 2:
        expect(driver_.rename(root_ + one, root_ + other), there ? ErrorCode::kOk : ErrorCode::kNotFound);
        if (names_.erase(one) > 0) {
          names_.insert(other);
        }
        break;
      default:
        expect(driver_.remove(root_ + one), there ? ErrorCode::kOk : ErrorCode::kNotFound);
        names_.erase(one);
    }
    ++done;
  }
  void check() {
    const auto there = driver_.list_directory(root_).value();
    EXPECT_EQ(std::set<std::string>(there.begin(), there.end()), names_);
  }
  std::atomic<int> done = 0;

 private:
  // Each is done once, and no more, also when its answer was lost with the manager.
  static void expect(const Status& outcome, ErrorCode code) { EXPECT_EQ(outcome.code(), code) << outcome.message(); }

  StripedDriver& driver_;
  std::string root_;
  std::mt19937_64 random_;
  std::set<std::string> names_;
};

TEST_F(StandbyProcesses, NothingAcknowledgedIsLostWithTheManager) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  OpenOptions options{.mode = Mode::kCreate, .exclusive_lock = true};
  // What the manager has of files is gone with it.
  options.striping = {.server_count = 2, .first_server = 2};
  const auto open = driver_.open(both() + "/open", options).value();
  std::atomic<bool> ends = false;
  Expected names(driver_, both() + "/", seed);
  std::thread client([&] {
    while (!ends) {
      names.change();
    }
  });
  EXPECT_TRUE(comes_true([&] { return names.done > 5; }));
  std::this_thread::sleep_for(milliseconds(random() % 400));
  manager_.kill_server();
  std::this_thread::sleep_for(milliseconds(random() % 300));
  const int before = names.done;
  const auto promoted = promote(standby_.address());
  STRIA_EXPECT_OK(promoted.status());
  EXPECT_TRUE(comes_true([&] { return names.done > before + 100; }));
  ends = true;
  client.join();
  ASSERT_TRUE(promoted.ok());
  EXPECT_FALSE(promoted->was_reached);
  EXPECT_EQ(promoted->unreached, std::vector<std::string>{manager_.address()});
  names.check();
  STRIA_EXPECT_OK(write_all(*open, noise(100000, 3)));
  const auto again = driver_.open("stria://" + standby_.address() + "/open", {.mode = Mode::kCreate, .exclusive_lock = true});
  EXPECT_EQ(again.status().code(), ErrorCode::kAlreadyExists) << "the handle was claimed again, and with it the lock";
  // The old manager comes back, and has to hear that it is none.
  manager_.start();
  EXPECT_TRUE(comes_true([&] { return figure(manager_.address(), "manager") == 0; }));
  const Status refused = ask(manager_.address(), Kind::kRemove, wire::encode(wire::Path{"/open"})).status();
  EXPECT_TRUE(wire::is_no_manager(refused)) << refused.message();
  EXPECT_TRUE(comes_true([&] { return figure(standby_.address(), "servers_up") == 4; }));
  names.check();
}

TEST_F(StandbyProcesses, OneThatIsBehindIsNotPromotedUnnoticed) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  STRIA_EXPECT_OK(make("/with"));
  standby_.kill_server();
  STRIA_EXPECT_OK(make("/without"));  // waits until the servers know
  manager_.kill_server();
  standby_.start(manager_.address(), true);
  const auto refused = promote(standby_.address());
  EXPECT_EQ(refused.status().code(), ErrorCode::kAborted);
  EXPECT_NE(refused.status().message().find("behind"), std::string::npos) << refused.status().message();
  EXPECT_EQ(figure(one_.address(), "epoch"), 0) << "nothing was changed";
  const auto forced = promote(standby_.address(), true);
  STRIA_EXPECT_OK(forced.status());
  EXPECT_EQ(driver_.list_directory(both() + "/").value(), std::vector<std::string>{"with"});
  STRIA_EXPECT_OK(make("/later"));
}

TEST_F(StandbyProcesses, OneThatWasLostCatchesUp) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  STRIA_EXPECT_OK(make("/one"));
  standby_.kill_server();
  STRIA_EXPECT_OK(make("/two"));
  standby_.start(manager_.address(), true);
  EXPECT_TRUE(comes_in_step(manager_.address()));
  STRIA_EXPECT_OK(make("/three"));
  EXPECT_TRUE(comes_true([&] { return figure(one_.address(), "standby_marks_in_step") == 1; }));
  manager_.kill_server();
  STRIA_EXPECT_OK(promote_soon(standby_.address()));
  EXPECT_EQ(driver_.list_directory(both() + "/")->size(), 3U);
}

TEST_F(StandbyProcesses, WithoutStandbyAndServersNothingIsAcknowledged) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  STRIA_EXPECT_OK(make("/before"));
  standby_.kill_server();
  one_.kill_server();
  other_.kill_server();
  std::atomic<bool> answered = false;
  std::thread client([&] {
    const auto store = storage::Store::at(manager_.address()).value();
    const auto reply = store->ask_manager(Kind::kMakeDirectory, wire::encode(wire::NewDirectory{"/d", 0755}));
    answered = true;
    STRIA_EXPECT_OK(reply.status());
  });
  std::this_thread::sleep_for(milliseconds(5000));
  EXPECT_FALSE(answered) << "the standby could take over without the directory";
  one_.start(manager_.address());
  client.join();
}

}  // namespace
}  // namespace stria::server
