// Parts move to other servers while clients use them, and whatever ends in the midst of it: no byte
// that was acknowledged is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "store/moves/moving_store_test.hpp"
#include "store/moves/part_mover.hpp"
#include "wire/tree.hpp"

namespace stria::tool {
namespace {

using server::testing::Cluster;
using storage::OpenOptions;
using storage::StripedDriver;
using testing::Bytes;
using testing::difference;
using testing::kSame;
using testing::Mode;
using testing::Writer;

std::vector<int64_t> places_of(const std::string& address, uint64_t file) {
  std::vector<int64_t> places;
  const auto store = storage::Store::at(address).value();
  for (const wire::ServerPlace& slot : storage::ask_where(*store, file).value()) {
    places.push_back(wire::place_on(slot.index, slot.second));
  }
  return places;
}

Status move_once(PartMover& mover, uint64_t file, int64_t from, int64_t to) {
  const auto deadline = storage::Clock::now() + std::chrono::seconds(60);
  Status outcome = mover.move({file, from, to});
  while (outcome.code() == ErrorCode::kAborted && storage::Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    outcome = mover.move({file, from, to});
  }
  return outcome;
}

// All servers have a part of the file at first, so that each move gives one a second part, or
// brings it back.
TEST(Moves, ClientsWriteWhilePartsMove) {
  Cluster cluster(4);
  Writer one(cluster.url() + "/one", 1);
  Writer two(cluster.url() + "/two", 2);
  for (int i = 0; i < 20; ++i) {
    one.step();
    two.step();
  }
  std::atomic<bool> ends = false;
  std::thread first([&] { one.run(ends, 50); });
  std::thread second([&] { two.run(ends, 50); });
  Throttle throttle(0);
  int64_t bytes = 0;
  PartMover mover(storage::Store::at(cluster.address()).value(), throttle, [&](int64_t more) { bytes += more; });
  std::mt19937_64 random(3);
  int moves = 0;
  for (int i = 0; i < 30 && !::testing::Test::HasFailure(); ++i) {
    const uint64_t file = server::testing::known_file(cluster.address(), i % 2 == 0 ? "/one" : "/two").file;
    const auto places = places_of(cluster.address(), file);
    const int64_t from = wire::server_of(places[random() % places.size()]);
    const auto to = static_cast<int64_t>(random() % 4);
    const Status outcome = move_once(mover, file, from, to);
    // A server that has two parts of the file, or had others there.
    const bool has_no_place = outcome.code() == ErrorCode::kInvalidArgument;
    EXPECT_TRUE(outcome.ok() || has_no_place) << outcome.message();
    moves += outcome.ok() ? 1 : 0;
  }
  ends = true;
  first.join();
  second.join();
  EXPECT_GT(moves, 5);
  EXPECT_GT(bytes, 0);
  StripedDriver driver;
  for (const Writer* writer : {&one, &two}) {
    EXPECT_EQ(difference(server::testing::read_all(*driver.open(writer->url(), {}).value()), writer->model()), kSame);
  }
}

// What lies between a cut and what is written behind it later is zero. The server tells of either
// in a pass of its own.
TEST(Moves, APartIsCutAndThenGrowsWhileItMoves) {
  Cluster cluster(2);
  StripedDriver driver;
  const auto file = driver.open(cluster.url() + "/f", {.mode = Mode::kCreate, .striping = {.server_count = 1}}).value();
  Bytes content = server::testing::noise(6 << 20, 1);
  STRIA_EXPECT_OK(server::testing::write_all(*file, content));
  const auto known = server::testing::known_file(cluster.address(), "/f");
  const int64_t from = known.slots[0].index;
  const auto write = [&](size_t at) {
    const Bytes piece = server::testing::noise(10, at);
    content.resize(std::max(content.size(), at + piece.size()));
    std::copy(piece.begin(), piece.end(), content.begin() + static_cast<ptrdiff_t>(at));
    const storage::WriteSegment segment{static_cast<int64_t>(at), piece.data(), static_cast<int64_t>(piece.size())};
    STRIA_EXPECT_OK(file->write({&segment, 1}));
  };
  int copies = 0;
  const auto meanwhile = [&](int64_t) {
    ++copies;
    if (copies == 1) {  // within the first pass; the second one copies the piece before the cut
      content.resize(100000);
      STRIA_EXPECT_OK(file->resize(100000));
      write(5);
    } else if (copies == 3) {
      write(size_t{7} << 19);
    }
  };
  Throttle throttle(0);
  PartMover mover(storage::Store::at(cluster.address()).value(), throttle, meanwhile);
  STRIA_EXPECT_OK(mover.move({known.file, from, 1 - from}));
  EXPECT_GE(copies, 4);
  EXPECT_EQ(difference(server::testing::read_all(*file), content), kSame);
}

// A client that was promised space finds it where the part is afterwards.
TEST(Moves, APreallocatedPartKeepsItsSpace) {
  Cluster cluster(2);
  StripedDriver driver;
  const auto file = driver.open(cluster.url() + "/f", {.mode = Mode::kCreate, .striping = {.server_count = 1}}).value();
  const Bytes content = server::testing::noise(100000, 1);
  STRIA_EXPECT_OK(server::testing::write_all(*file, content));
  STRIA_EXPECT_OK(file->preallocate(3 << 20));
  const auto known = server::testing::known_file(cluster.address(), "/f");
  const int64_t from = known.slots[0].index;
  Throttle throttle(0);
  PartMover mover(storage::Store::at(cluster.address()).value(), throttle, [](int64_t) {});
  const auto allocated = [&] {
    const auto store = storage::Store::at(cluster.address()).value();
    const auto place = storage::ask_where(*store, known.file).value()[0];
    const wire::ExtentsOf question{{{wire::part_number(known.file, place.second), known.ticket}}};
    auto link = storage::Store::borrow(store, place.address).value();
    const auto deadline = storage::Clock::now() + std::chrono::seconds(10);
    STRIA_EXPECT_OK(link.link()->connect(deadline));
    const auto reply = link.link()->ask(wire::Kind::kExtents, wire::encode(question), deadline).value();
    return wire::decode<wire::Extents>(reply).value().entries.at(0).allocated_bytes;
  };
  EXPECT_GE(allocated(), 3 << 20);
  STRIA_EXPECT_OK(mover.move({known.file, from, 1 - from}));
  EXPECT_EQ(places_of(cluster.address(), known.file), std::vector<int64_t>{1 - from});
  EXPECT_GE(allocated(), 3 << 20);
  EXPECT_EQ(file->size().value(), 3 << 20);
}

// A client asks by the file's number where it knows the part: never may it get another part there.
TEST(Moves, APlaceGetsNoOtherPartOfTheFile) {
  Cluster cluster(3);
  Writer idle(cluster.url() + "/f", 5, {.mode = Mode::kCreate});
  for (int i = 0; i < 10; ++i) {
    idle.step();
  }
  const uint64_t file = server::testing::known_file(cluster.address(), "/f").file;
  const auto first = places_of(cluster.address(), file);
  Throttle throttle(0);
  PartMover mover(storage::Store::at(cluster.address()).value(), throttle, [](int64_t) {});
  // The first part leaves, and the second one comes to its server: not in its place.
  STRIA_EXPECT_OK(move_once(mover, file, first[0], first[2]));
  STRIA_EXPECT_OK(move_once(mover, file, first[1], first[0]));
  const auto now = places_of(cluster.address(), file);
  EXPECT_EQ(now, (std::vector<int64_t>{wire::place_on(first[2], true), wire::place_on(first[0], true), first[2]}));
  idle.check();
  STRIA_EXPECT_OK(move_once(mover, file, first[2], first[0]));
  EXPECT_EQ(places_of(cluster.address(), file)[0], first[0]) << "its own place again";
  idle.step();
  idle.check();
}

TEST(Moves, AFileWhoseBytesAreLockedMovesLater) {
  Cluster cluster(2);
  StripedDriver driver;
  const auto file = driver.open(cluster.url() + "/f", {.mode = Mode::kCreate, .striping = {.server_count = 1}}).value();
  const auto content = server::testing::noise(100000, 1);
  STRIA_EXPECT_OK(server::testing::write_all(*file, content));
  const auto known = server::testing::known_file(cluster.address(), "/f");
  const int64_t from = known.slots[0].index;
  auto lock = file->lock({0, 10}, storage::LockMode::kExclusive).value();
  const auto note = file->lock({int64_t{1} << 62, (int64_t{1} << 62) + 10}, storage::LockMode::kShared).value();
  Throttle throttle(0);
  PartMover mover(storage::Store::at(cluster.address()).value(), throttle, [](int64_t) {});
  const Status locked = mover.move({known.file, from, 1 - from});
  EXPECT_EQ(locked.code(), ErrorCode::kAborted);
  EXPECT_NE(locked.message().find("locked"), std::string::npos) << locked.message();
  STRIA_EXPECT_OK(server::testing::write_all(*file, content));
  lock.reset();
  STRIA_EXPECT_OK(move_once(mover, known.file, from, 1 - from));
  EXPECT_EQ(places_of(cluster.address(), known.file), std::vector<int64_t>{1 - from});
  // The note is taken again where the part is now, and others see it.
  STRIA_EXPECT_OK(server::testing::write_all(*file, content));
  const auto other = driver.open(cluster.url() + "/f", {.mode = Mode::kReadWrite}).value();
  EXPECT_TRUE(other->is_locked_elsewhere({int64_t{1} << 62, INT64_MAX}).value());
  EXPECT_EQ(server::testing::read_all(*other), content);
  STRIA_EXPECT_OK(file->close());
}

TEST(Moves, OnlyWhoRunsTheStoreMovesPartsAndNoMoveEndsTwice) {
  Cluster cluster(2);
  StripedDriver driver;
  const auto file = driver.open(cluster.url() + "/f", {.mode = Mode::kCreate, .striping = {.server_count = 1}}).value();
  STRIA_EXPECT_OK(server::testing::write_all(*file, server::testing::noise(1000, 1)));
  const auto known = server::testing::known_file(cluster.address(), "/f");
  const int64_t from = known.slots[0].index;
  const auto one = storage::Store::at(cluster.address()).value();
  storage::Store other({wire::Address::parse(cluster.address()).value()}, nullptr);
  const auto begin = wire::encode(wire::MoveBegin{known.file, from, 1 - from});
  const auto reply = one->ask_manager(wire::Kind::kMoveBegin, begin).value();
  const auto begun = wire::decode<wire::MoveBegun>(reply).value();
  EXPECT_EQ(other.ask_manager(wire::Kind::kMoveBegin, begin).status().code(), ErrorCode::kAlreadyExists);
  const auto move = wire::encode(wire::MoveOf{known.file, begun.ticket});
  STRIA_EXPECT_OK(one->ask_manager(wire::Kind::kMoveAbort, move).status());
  EXPECT_EQ(one->ask_manager(wire::Kind::kMoveCommit, move).status().code(), ErrorCode::kAborted);
  EXPECT_EQ(places_of(cluster.address(), known.file), std::vector<int64_t>{from});
  // Its ticket is good for nothing any more.
  auto link = storage::Store::borrow(one, known.slots[0].address).value();
  const auto extent = wire::encode(wire::LocalFile{known.file, begun.ticket, 0});
  const auto deadline = storage::Clock::now() + std::chrono::seconds(10);
  STRIA_EXPECT_OK(link.link()->connect(deadline));
  EXPECT_EQ(link.link()->ask(wire::Kind::kExtent, extent, deadline).status().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace stria::tool
