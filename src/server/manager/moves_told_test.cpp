// Tests what the manager tells servers of parts that move: clients get at a part by it, so it
// lasts.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/clients_test.hpp"
#include "server/cluster_test.hpp"
#include "server/manager/database/database.hpp"
#include "server/manager/database/names_fields.hpp"
#include "server/manager/manager.hpp"
#include "storage/conformance_test.hpp"
#include "storage/striped/striped_driver.hpp"

namespace stria::server {
namespace {

using wire::PartMoves;

/// A manager without its server, which hears what the test says.
class MovesToldTest : public ::testing::Test {
 protected:
  MovesToldTest() { start(); }
  ~MovesToldTest() override {
    manager_.reset();
    std::filesystem::remove_all(directory_);
  }

  std::string names() const { return directory_ + "/names.sqlite"; }
  void start() {
    Manager::Options options;
    options.stream = stream_;
    manager_ = Manager::open(names(), options).value();
    for (int server = 0; server < 2; ++server) {
      wire::Pulse said;
      said.server = identity(server);
      said.address = "h:" + std::to_string(server + 1);
      STRIA_EXPECT_OK(ask(wire::Kind::kPulse, wire::encode(said)).status);
    }
  }
  Answer ask(wire::Kind kind, std::vector<std::byte> body) {
    const Caller itself{.user = {}, .trusted = true, .is_super = true};
    return manager_->answer({{}, kind, ++request_, std::move(body), itself});
  }
  static wire::Identity identity(int server) {
    wire::Identity identity{};
    identity[0] = static_cast<std::byte>(server + 1);
    return identity;
  }
  /// Makes a file with one part, and moves that to the other server. Returns where it was.
  int move_file(const std::string& path) {
    wire::Open request;
    request.path = path;
    request.mode = wire::OpenMode::kCreateNew;
    request.handle = request_ + 1;
    request.server_count = 1;
    const auto opened = wire::decode<wire::Opened>(ask(wire::Kind::kOpen, wire::encode(request)).body).value();
    file_ = opened.file;
    const int64_t from = opened.slots[0].index;
    const auto begun =
        wire::decode<wire::MoveBegun>(ask(wire::Kind::kMoveBegin, wire::encode(wire::MoveBegin{file_, from, 1 - from})).body)
            .value();
    STRIA_EXPECT_OK(ask(wire::Kind::kMoveCommit, wire::encode(wire::MoveOf{file_, begun.ticket})).status);
    return static_cast<int>(from);
  }
  PartMoves told(int server) {
    last_ = ask(wire::Kind::kMoving, wire::encode(wire::MovesAsked{identity(server), false, {{file_, false}}}));
    return wire::decode<wire::MovesTold>(last_.body).value().parts.at(0);
  }
  /// Returns how often the names were synced so far, of a manager that has ended.
  int64_t syncs() {
    manager_.reset();
    const auto database = Database::open(names()).value();
    Query query = database->query("SELECT value FROM meta WHERE key = 'syncs'");
    EXPECT_TRUE(query.next());
    return query.number(0);
  }

  std::string directory_ = testing::make_directory(testing::scratch_directory());
  std::shared_ptr<ChangeStream> stream_ = std::make_shared<ChangeStream>(std::chrono::milliseconds(100));
  std::unique_ptr<Manager> manager_;
  uint64_t request_ = 0;
  uint64_t file_ = 0;
  Answer last_;
};

// A loss of power may undo a commit that isn't synced, and not what a server has made of it.
TEST_F(MovesToldTest, WhereAPartIsSurvivesALossOfPower) {
  const int64_t at_first = syncs();
  start();
  move_file("/one");
  const int64_t after_one = syncs();
  start();
  const int from = move_file("/other");
  EXPECT_EQ(told(from), PartMoves::kElsewhere);
  EXPECT_EQ(told(1 - from), PartMoves::kHere) << "nothing has changed, and there is nothing to sync";
  EXPECT_EQ(syncs() - after_one, after_one - at_first + 1);
}

TEST_F(MovesToldTest, NothingIsToldThatAStandbyWouldUndo) {
  wire::Identity standby{std::byte{9}};
  const int from = move_file("/f");
  stream_->had_standby(standby);
  EXPECT_EQ(told(from), PartMoves::kUnderWay);
  EXPECT_FALSE(last_.after_change) << "a server that waits for it would keep the manager unsure";
  EXPECT_EQ(told(1 - from), PartMoves::kUnderWay);
  stream_->told_all();
  EXPECT_EQ(told(from), PartMoves::kElsewhere);
  EXPECT_TRUE(last_.after_change);
  EXPECT_EQ(told(1 - from), PartMoves::kHere);
}

/// Changes the names as if the part had moved from server 1 to server 0, with many others before
/// it.
void move_in_names(const std::string& path, uint64_t file) {
  constexpr int64_t kOthers = wire::kMaxListed + 100;
  const auto names = Database::open(path).value();
  Transaction transaction(*names);
  const auto id = static_cast<int64_t>(file);
  const std::vector<std::byte> there = encode_servers({0});
  STRIA_EXPECT_OK(names->run("UPDATE inodes SET servers = ? WHERE id = ?", std::span<const std::byte>(there), id));
  for (int64_t other = id - kOthers; other < id; ++other) {
    STRIA_EXPECT_OK(
        names->run("INSERT INTO inodes SELECT ?, directory, named, created_ns, uid, gid, mode, stripe_bytes, servers "
                   "FROM inodes WHERE id = ?",
                   other, id));
  }
  for (int64_t gone = id - kOthers; gone <= id; ++gone) {
    STRIA_EXPECT_OK(names->run("INSERT INTO dead VALUES (1, ?)", gone));
  }
  STRIA_EXPECT_OK(transaction.commit());
}

// A client that has the file open since before asks where the part was, and must not get old bytes.
TEST(PartsThatHaveGone, AreAllToldToAServerThatStarts) {
  testing::Cluster cluster(2);
  storage::StripedDriver driver;
  storage::OpenOptions there{.mode = storage::OpenOptions::Mode::kCreate};
  there.striping = {.server_count = 1, .first_server = 1};
  STRIA_EXPECT_OK(testing::write_all(*driver.open(cluster.url() + "/f", there).value(), testing::noise(5000, 1)));
  const wire::Opened place = testing::known_file(cluster.address(), "/f");
  ASSERT_EQ(place.slots.at(0).index, 1);
  const auto old_part = [&] {
    storage::ServerLink link(wire::Address::parse(cluster.address(1)).value(), nullptr);
    const auto deadline = storage::Clock::now() + std::chrono::seconds(10);
    STRIA_EXPECT_OK(link.connect(deadline));
    return link.ask(wire::Kind::kExtent, wire::encode(wire::LocalFile{place.file, place.ticket, 0}), deadline).status();
  };
  STRIA_EXPECT_OK(old_part());
  cluster.stop(1);
  cluster.stop(0);
  move_in_names(cluster.directory(0) + "/names.sqlite", place.file);
  cluster.start(0);
  cluster.start(1);
  EXPECT_EQ(old_part().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace stria::server
