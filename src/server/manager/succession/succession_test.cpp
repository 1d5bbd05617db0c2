// The parts of which a standby is made: recorded changes and the copy that they are applied to,
// which answers may be given, and what a server keeps of managers.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "server/cluster_test.hpp"
#include "server/manager/succession/change_recorder.hpp"
#include "server/manager/succession/change_stream.hpp"
#include "server/objects/role_record.hpp"
#include "server/standby/names_copy.hpp"
#include "server/standby/role_calls.hpp"
#include "storage/conformance_test.hpp"

namespace stria::server {
namespace {

using std::chrono::milliseconds;
using State = ChangeStream::State;

class SuccessionTest : public ::testing::Test {
 protected:
  ~SuccessionTest() override { std::filesystem::remove_all(directory_); }
  std::string directory_ = testing::make_directory(testing::scratch_directory());
};

std::vector<std::byte> content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// Returns all rows of the tables that these tests make.
std::multiset<std::string> rows_in(Database& database) {
  std::multiset<std::string> rows;
  for (const char* sql : {"SELECT key || ' ' || value FROM pairs", "SELECT id || ' ' || length(text) FROM late"}) {
    Query query = database.query(sql);
    while (query.next()) {
      rows.insert(query.text(0));
    }
    EXPECT_TRUE(query.status().ok()) << query.status().message();
  }
  return rows;
}

TEST_F(SuccessionTest, WhatIsRecordedIsAppliedOnce) {
  const std::string path = directory_ + "/names.sqlite";
  auto database = Database::open(path).value();
  STRIA_EXPECT_OK(
      database->script("CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;"
                       "CREATE TABLE pairs (key TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;"
                       "INSERT INTO pairs VALUES ('a', 1), ('b', 2); PRAGMA wal_checkpoint(TRUNCATE);"));
  NamesCopy copy(directory_ + "/copy");
  EXPECT_FALSE(copy.exists());
  STRIA_EXPECT_OK(copy.begin());
  STRIA_EXPECT_OK(copy.add(content_of(path)));
  EXPECT_FALSE(copy.exists()) << "it isn't whole";
  STRIA_EXPECT_OK(copy.take());
  EXPECT_TRUE(copy.exists());
  Unsynced unsynced(*database);
  ChangeRecorder recorder(*database, unsynced);
  EXPECT_TRUE(recorder.take().value().empty()) << "it doesn't record yet";
  STRIA_EXPECT_OK(recorder.start());
  EXPECT_TRUE(recorder.take().value().empty());
  STRIA_EXPECT_OK(
      database->script("BEGIN; DELETE FROM pairs WHERE key = 'a'; INSERT INTO pairs VALUES ('lost', 1); ROLLBACK;"));
  EXPECT_TRUE(recorder.take().value().empty()) << "it was undone";
  STRIA_EXPECT_OK(database->script(
      "CREATE TABLE late (id INTEGER PRIMARY KEY, text TEXT);"
      "CREATE TRIGGER gone AFTER DELETE ON pairs BEGIN DELETE FROM late WHERE id = old.value; END;"
      "INSERT INTO late VALUES (1, 'one'), (2, hex(zeroblob(400000))); UPDATE pairs SET value = 7 WHERE key = 'b';"));
  auto first = recorder.take().value();
  ASSERT_EQ(first.size(), 3U) << "a table, a trigger, rows";
  EXPECT_EQ(first[0].form, wire::ChangeForm::kSchema);
  EXPECT_EQ(first[2].form, wire::ChangeForm::kRows);
  // What the trigger does is among the changes, and isn't done again.
  STRIA_EXPECT_OK(database->script("DELETE FROM pairs WHERE key = 'a'; INSERT INTO pairs VALUES ('c', 3);"));
  const auto second = recorder.take().value();
  ASSERT_EQ(second.size(), 1U);
  for (const Change& change : first) {
    STRIA_EXPECT_OK(copy.apply(change));
  }
  STRIA_EXPECT_OK(copy.apply(second[0]));
  EXPECT_EQ(copy.apply(second[0]).code(), ErrorCode::kCorrupted) << "it doesn't fit what is there";
  const auto expected = rows_in(*database);
  EXPECT_EQ(expected, (std::multiset<std::string>{"b 7", "c 3", "2 800000"}));
  STRIA_EXPECT_OK(copy.become(directory_ + "/of_manager", 5));
  EXPECT_FALSE(copy.exists());
  EXPECT_EQ(epoch_of_names(directory_ + "/of_manager").value(), 5U);
  EXPECT_EQ(epoch_of_names(directory_ + "/none").value(), std::nullopt);
  const auto opened = Database::open(directory_ + "/of_manager").value();
  EXPECT_EQ(rows_in(*opened), expected);
}

Change change_of(size_t bytes, int seed) {
  Change change;
  change.bytes.resize(bytes, static_cast<std::byte>(seed));
  return change;
}

TEST(ChangeStream, AnswersWaitForTheStandby) {
  ChangeStream stream(milliseconds(100));
  int rung = 0;
  const auto ring = [&] { ++rung; };
  const wire::Identity standby{std::byte{1}};
  EXPECT_TRUE(stream.may_answer(stream.last(), ring)) << "there is no standby";
  stream.begin(9, standby);
  EXPECT_TRUE(stream.may_answer(0, ring)) << "it has yet to take its copy";
  stream.add({change_of(10, 1), change_of(20, 2)});
  EXPECT_EQ(stream.last(), 2U);
  wire::Follow request{.standby = standby, .number = 9, .whole = true};
  const auto told = stream.follow(request, ring).value();
  ASSERT_EQ(told.pieces.size(), 2U);
  EXPECT_EQ(stream.state(), State::kInStep);
  EXPECT_FALSE(stream.may_answer(1, ring));
  EXPECT_FALSE(stream.may_answer(2, ring));
  request.applied = 1;
  EXPECT_EQ(stream.follow(request, ring)->pieces.size(), 1U);
  EXPECT_EQ(rung, 1);
  EXPECT_TRUE(stream.may_answer(1, ring));
  EXPECT_FALSE(stream.wait(2, milliseconds(5)));
  // It is lost: nothing is answered, not even what it had, before the servers know.
  EXPECT_FALSE(stream.tidy());
  std::this_thread::sleep_for(milliseconds(150));
  EXPECT_TRUE(stream.tidy());
  EXPECT_EQ(stream.state(), State::kUnsure);
  EXPECT_FALSE(stream.may_answer(1, ring));
  request.applied = 2;
  EXPECT_EQ(stream.follow(request, ring).status().code(), ErrorCode::kAborted) << "it needs another copy";
  stream.told_all();
  EXPECT_EQ(stream.state(), State::kAlone);
  EXPECT_TRUE(stream.may_answer(2, ring));
  EXPECT_TRUE(stream.wait(2, milliseconds(0)));
  EXPECT_GE(rung, 3);
}

TEST(ChangeStream, LongChangesComeInPieces) {
  ChangeStream stream(milliseconds(10000));
  const wire::Identity standby{};
  stream.begin(9, standby);
  const std::vector<size_t> sizes{1'000'000, 0, 5, 400'000};
  for (size_t i = 0; i < sizes.size(); ++i) {
    stream.add({change_of(sizes[i], static_cast<int>(i) + 1)});
  }
  wire::Follow request{.standby = standby, .number = 9, .whole = true};
  std::vector<std::byte> bytes;
  while (request.applied < sizes.size()) {
    request.offset = static_cast<int64_t>(bytes.size());
    const auto told = stream.follow(request, [] {}).value();
    ASSERT_FALSE(told.pieces.empty());
    EXPECT_LE(wire::encode(told).size(), wire::kMaxBodyBytes);
    for (const auto& piece : told.pieces) {
      ASSERT_EQ(piece.sequence, request.applied + 1);
      bytes.insert(bytes.end(), piece.bytes.begin(), piece.bytes.end());
      if (piece.last) {
        EXPECT_EQ(bytes, change_of(sizes[request.applied], static_cast<int>(request.applied) + 1).bytes);
        bytes.clear();
        ++request.applied;
      }
    }
  }
  EXPECT_EQ(stream.behind(), 1) << "it has yet to say that it has the last one";
  EXPECT_TRUE(stream.follow(request, [] {})->pieces.empty());
  EXPECT_EQ(stream.behind(), 0);
  for (int i = 0; i < 70 && stream.is_followed(); ++i) {
    stream.add({change_of(1 << 20, 1)});
  }
  EXPECT_FALSE(stream.is_followed()) << "memory for it is bounded";
  EXPECT_EQ(stream.state(), State::kUnsure);
}

TEST_F(SuccessionTest, AServerKeepsTheNewestOfManagers) {
  const std::string path = directory_ + "/role";
  const wire::Identity standby{std::byte{1}};
  {
    RoleRecord role(path);
    STRIA_EXPECT_OK(role.load());
    EXPECT_EQ(role.epoch(), 0U);
    STRIA_EXPECT_OK(role.note({0, 6, standby}, "a:1"));
    STRIA_EXPECT_OK(role.note({0, 5, {}}, "a:1"));
    EXPECT_EQ(role.mark(), (wire::Mark{0, 6, standby}));
    wire::Role fence{.step = wire::RoleStep::kFence, .mark = {.epoch = 1}, .manager = "b:1", .seen = {0, 5, {}}};
    EXPECT_EQ(role.fence(fence).code(), ErrorCode::kAborted) << "the manager has said more since";
    fence.seen.number = 6;
    STRIA_EXPECT_OK(role.fence(fence));
    STRIA_EXPECT_OK(role.fence(fence));
    fence.manager = "c:1";
    EXPECT_EQ(role.fence(fence).code(), ErrorCode::kAborted) << "another has that epoch";
    fence.mark.epoch = 2;
    fence.seen = {0, 6, {}};
    EXPECT_EQ(role.fence(fence).code(), ErrorCode::kAborted);
    fence.forced = true;
    STRIA_EXPECT_OK(role.fence(fence));
    STRIA_EXPECT_OK(role.note({1, 99, standby}, "b:1"));
  }
  RoleRecord role(path);
  STRIA_EXPECT_OK(role.load());
  EXPECT_EQ(role.epoch(), 2U);
  EXPECT_EQ(role.manager(), "c:1");
  EXPECT_EQ(role.mark(), (wire::Mark{2, 0, {}}));
  std::filesystem::resize_file(path, 20);
  EXPECT_EQ(RoleRecord(path).load().code(), ErrorCode::kCorrupted);
}

TEST(RoleCalls, OneServerIsInEveryTwoGroups) {
  for (size_t servers = 1; servers < 100; ++servers) {
    EXPECT_GT(enough_to_go_on(servers) + enough_to_take_over(servers), servers);
    EXPECT_LE(enough_to_go_on(servers), servers);
    EXPECT_GT(2 * enough_to_go_on(servers), servers) << "two halves can't both go on";
  }
}

}  // namespace
}  // namespace stria::server
