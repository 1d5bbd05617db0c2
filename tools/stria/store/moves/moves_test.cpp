// Parts move to other servers while clients use them, and whatever ends in the midst of it: no byte
// that was acknowledged is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "base/hash.hpp"
#include "server/standby_processes_test.hpp"
#include "store/moves/moving_store_test.hpp"
#include "store/moves/part_mover.hpp"
#include "wire/region.hpp"
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

// A client that hasn't asked for the part since it has moved would lock others out where nobody is.
TEST(Moves, ALockIsTakenWhereThePartIsNow) {
  Cluster cluster(2);
  StripedDriver driver;
  const OpenOptions options{.mode = Mode::kCreate, .striping = {.server_count = 1}};
  const auto late = driver.open(cluster.url() + "/f", options).value();
  STRIA_EXPECT_OK(server::testing::write_all(*late, server::testing::noise(1000, 1)));
  const auto known = server::testing::known_file(cluster.address(), "/f");
  const int64_t from = known.slots[0].index;
  Throttle throttle(0);
  PartMover mover(storage::Store::at(cluster.address()).value(), throttle, [](int64_t) {});
  STRIA_EXPECT_OK(move_once(mover, known.file, from, 1 - from));
  // The old server tells clients that the part moves, until it has removed it.
  storage::ServerLink link(wire::Address::parse(known.slots[0].address).value(), nullptr);
  const auto question = wire::encode(wire::LockRange{.file = known.file, .ticket = known.ticket, .range = {0, 8}});
  ASSERT_TRUE(server::testing::comes_true([&] {
    const auto deadline = storage::Clock::now() + std::chrono::seconds(10);
    const Status connected = link.connected() ? Status() : link.connect(deadline);
    return connected.ok() && link.ask(wire::Kind::kIsLocked, question, deadline).status().code() != ErrorCode::kNotFound;
  }));
  const auto now = driver.open(cluster.url() + "/f", {.mode = Mode::kReadWrite}).value();
  auto lock = now->lock({0, 8}, storage::LockMode::kExclusive).value();
  EXPECT_TRUE(late->is_locked_elsewhere({0, 8}).value());
  EXPECT_EQ(late->try_lock({0, 8}, storage::LockMode::kExclusive).value(), nullptr);
  lock.reset();
  lock = late->try_lock({0, 8}, storage::LockMode::kExclusive).value();
  EXPECT_NE(lock, nullptr);
  EXPECT_TRUE(now->is_locked_elsewhere({0, 8}).value());
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

/// A file with one part, of which a move has begun.
struct Begun {
  uint64_t file = 0;
  wire::MoveBegun move;

  wire::MovePart step(wire::MoveStep step) const {
    return {wire::part_number(file, move.from.second), move.ticket, step, 0, 0};
  }
};

/// Is in the midst of a write to the part until it ends.
class SlowWriter {
 public:
  SlowWriter(const Begun& begun, const wire::Opened& opened)
      : link_(wire::Address::parse(begun.move.from.address).value(), nullptr), data_(server::testing::noise(10, 1)) {
    STRIA_EXPECT_OK(link_.connect(storage::Clock::now() + std::chrono::seconds(10)));
    std::vector<std::byte> body;
    wire::Writer writer(body);
    wire::Transfer{begun.file, opened.ticket, begun.move.layout, 0}.put(writer);
    wire::encode_range(writer, {0, static_cast<int64_t>(data_.size())});
    wire::Header header;
    header.version = link_.version();
    header.kind = wire::Kind::kWrite;
    header.request = link_.next_request();
    header.payload_bytes = static_cast<uint32_t>(data_.size());
    header.payload_sum = hash_bytes(data_);
    send_all(wire::encode_head(header, body));
  }
  void end() { send_all(data_); }

 private:
  void send_all(const std::vector<std::byte>& bytes) {
    EXPECT_EQ(send(link_.socket(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  storage::ServerLink link_;
  Bytes data_;
};

Result<std::vector<std::byte>> ask_step(storage::ServerLink& link, const wire::MovePart& step, int milliseconds) {
  const auto deadline = storage::Clock::now() + std::chrono::milliseconds(milliseconds);
  STRIA_RETURN_IF_ERROR(link.connected() ? Status() : link.connect(storage::Clock::now() + std::chrono::seconds(30)));
  return link.ask(wire::Kind::kMovePart, wire::encode(step), deadline);
}

// The first copy of a request to hold a part comes late, since the server waits for its disks. It
// finds the part in use, and gives it back to its clients. The second must not think it held.
TEST(Moves, AStepThatIsAskedForTwiceIsTakenOnceAtATime) {
  if (std::getenv("STRIA_LONG") == nullptr) {
    GTEST_SKIP() << "takes ten seconds: STRIA_LONG=1";
  }
  Cluster cluster(2);
  StripedDriver driver;
  const auto store = storage::Store::at(cluster.address()).value();
  std::vector<Begun> begun;
  std::vector<wire::Opened> opened;
  for (int i = 0; begun.size() < 9; ++i) {
    const std::string path = "/" + std::to_string(i);
    const auto file = driver.open(cluster.url() + path, {.mode = Mode::kCreate, .striping = {.server_count = 1}}).value();
    STRIA_EXPECT_OK(server::testing::write_all(*file, server::testing::noise(100, 1)));
    const auto known = server::testing::known_file(cluster.address(), path);
    if (known.slots[0].index == 1) {
      const auto body = wire::encode(wire::MoveBegin{known.file, 1, 0});
      const auto reply = store->ask_manager(wire::Kind::kMoveBegin, body).value();
      begun.push_back({known.file, wire::decode<wire::MoveBegun>(reply).value()});
      opened.push_back(known);
    }
  }
  const auto link_to = [&] {
    return std::make_unique<storage::ServerLink>(wire::Address::parse(cluster.address(1)).value(), nullptr);
  };
  const auto link = link_to();
  std::deque<SlowWriter> writers;
  for (size_t i = 0; i < begun.size(); ++i) {
    STRIA_EXPECT_OK(ask_step(*link, begun[i].step(wire::MoveStep::kFollow), 10000).status());
    writers.emplace_back(begun[i], opened[i]);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  // Four at a time wait for three seconds each.
  const auto from = storage::Clock::now();
  const auto at = [&](int milliseconds) { std::this_thread::sleep_until(from + std::chrono::milliseconds(milliseconds)); };
  std::vector<std::thread> others;
  for (size_t i = 1; i < begun.size(); ++i) {
    others.emplace_back([&, i] { static_cast<void>(ask_step(*link_to(), begun[i].step(wire::MoveStep::kHold), 20000)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_FALSE(ask_step(*link, begun[0].step(wire::MoveStep::kHold), 50).ok()) << "it waits for its turn";
  link->disconnect();
  Status held;
  std::thread again([&] { held = ask_step(*link, begun[0].step(wire::MoveStep::kHold), 20000).status(); });
  at(5600);  // a connection without a client has ended by now, where it does so at all
  writers[5].end();
  at(8800);  // the first copy has given up
  writers[0].end();
  again.join();
  for (std::thread& other : others) {
    other.join();
  }
  STRIA_EXPECT_OK(held);
  const auto extent = wire::encode(wire::LocalFile{begun[0].file, opened[0].ticket, 0});
  const auto client = link_to();
  const auto deadline = storage::Clock::now() + std::chrono::seconds(10);
  STRIA_EXPECT_OK(client->connect(deadline));
  EXPECT_EQ(client->ask(wire::Kind::kExtent, extent, deadline).status().code(), ErrorCode::kNotFound) << "it is held";
}

}  // namespace
}  // namespace stria::tool
