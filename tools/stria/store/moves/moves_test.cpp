// Parts move to other servers while clients use them, and whatever ends in the midst of it: no byte
// that was acknowledged is lost.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "server/clients_test.hpp"
#include "server/cluster_test.hpp"
#include "server/disk_image_test.hpp"
#include "server/server_processes_test.hpp"
#include "storage/striped/striped_driver.hpp"
#include "store/moves/evacuate.hpp"
#include "store/moves/part_mover.hpp"

namespace stria::tool {
namespace {

using server::testing::Cluster;
using storage::OpenOptions;
using storage::StripedDriver;
using Mode = OpenOptions::Mode;
using Bytes = std::vector<std::byte>;

constexpr std::pair<int64_t, int64_t> kSame{-1, 0};
constexpr int64_t kMostBytes = int64_t{6} << 20;

/// Where they begin to differ, and how many bytes of that 64 KiB do; -1 where they are the same.
std::pair<int64_t, int64_t> difference(const Bytes& got, const Bytes& expected) {
  const auto [a, b] = std::mismatch(got.begin(), got.end(), expected.begin(), expected.end());
  if (a == got.end() && b == expected.end()) {
    return {-1, 0};
  }
  const auto begin = static_cast<size_t>(a - got.begin());
  const size_t end = std::min({got.size(), expected.size(), begin + (64 << 10)});
  int64_t differ = 0;
  for (size_t i = begin; i < end; ++i) {
    differ += got[i] != expected[i] ? 1 : 0;
  }
  return {static_cast<int64_t>(begin), differ};
}

/// Writes to a file, cuts it and reads it, beside a copy in memory.
class Writer {
 public:
  Writer(const std::string& url, uint64_t seed, OpenOptions options = {.mode = Mode::kCreate}) : url_(url), random_(seed) {
    options.striping.unit_bytes = 64 << 10;
    file_ = driver_.open(url, options).value();
  }
  /// Until the flag is set, and at least so many times.
  void run(const std::atomic<bool>& ends, int least) {
    for (int i = 0; (!ends || i < least) && !::testing::Test::HasFailure(); ++i) {
      step();
    }
    check();
  }
  void step() {
    const auto kind = random_() % 16;
    if (kind == 0) {
      model_.resize(random_() % kMostBytes);
      STRIA_EXPECT_OK(file_->resize(static_cast<int64_t>(model_.size())));
    } else if (kind == 1) {
      check();
    } else if (kind == 2) {
      STRIA_EXPECT_OK(file_->sync());
    } else {
      write();
    }
  }
  void check() {
    ASSERT_EQ(file_->size().value(), static_cast<int64_t>(model_.size())) << url_;
    ASSERT_EQ(difference(server::testing::read_all(*file_), model_), kSame) << url_;
  }
  const Bytes& model() const { return model_; }
  const std::string& url() const { return url_; }

 private:
  void write() {
    std::vector<storage::WriteSegment> segments;
    const size_t piece_bytes = 1 + random_() % (random_() % 2 == 0 ? 300 : 200000);
    const Bytes data = server::testing::noise(piece_bytes, random_());
    auto at = static_cast<int64_t>(random_() % (kMostBytes - 200000));
    for (size_t left = 1 + random_() % 12; left > 0 && at + 200000 < kMostBytes; --left) {
      segments.push_back({at, data.data(), static_cast<int64_t>(piece_bytes)});
      at += static_cast<int64_t>(piece_bytes + random_() % 100000);
    }
    const Status written = file_->write(segments);
    STRIA_EXPECT_OK(written);
    for (const auto& segment : segments) {
      model_.resize(std::max(model_.size(), static_cast<size_t>(segment.offset + segment.bytes)));
      std::memcpy(model_.data() + segment.offset, segment.data, static_cast<size_t>(segment.bytes));
    }
  }

  std::string url_;
  std::mt19937_64 random_;
  StripedDriver driver_;
  std::unique_ptr<storage::File> file_;
  Bytes model_;
};

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

std::string program() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().string() + "/stria";
}

/// A command of the program, which can be killed.
class Program {
 public:
  explicit Program(std::vector<std::string> words) {
    words.insert(words.begin(), program());
    std::vector<char*> arguments;
    for (std::string& word : words) {
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&process_, arguments[0], nullptr, nullptr, arguments.data(), environ), 0);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { end(); }
  void end() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      wait();
    }
  }
  int wait() {
    int status = 0;
    waitpid(std::exchange(process_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t process_ = -1;
};

int run(const std::vector<std::string>& words) {
  return Program(words).wait();
}

/// Five servers in processes of their own.
class ProcessStore {
 public:
  ProcessStore() : directory_(server::testing::make_directory(server::testing::scratch_directory())) {
    for (int i = 0; i < 5; ++i) {
      const std::string directory = directory_ + "/" + std::to_string(i);
      servers_.push_back(std::make_unique<server::testing::ServerProcess>(directory));
    }
    for (int i = 0; i < 5; ++i) {
      start(i);
    }
  }
  ProcessStore(const ProcessStore&) = delete;
  ProcessStore& operator=(const ProcessStore&) = delete;
  ~ProcessStore() {
    // The later ones have the channels of those before them, too, and would keep these waiting.
    while (!servers_.empty()) {
      servers_.pop_back();
    }
    std::filesystem::remove_all(directory_);
  }
  std::string url() const { return "stria://" + address(); }
  const std::string& address(size_t server = 0) const { return servers_[server]->address(); }
  void start(int server) { servers_[static_cast<size_t>(server)]->start(server == 0 ? "" : address()); }
  void kill_server(int server) { servers_[static_cast<size_t>(server)]->kill_server(); }

 private:
  std::string directory_;
  std::vector<std::unique_ptr<server::testing::ServerProcess>> servers_;
};

// The servers begin as processes before this one has threads.
TEST(Moves, WhateverIsKilledNoByteIsLost) {
  setenv("STRIA_SERVER_TIMEOUT", "10", 1);
  ProcessStore store;
  // A place gets no other part of a file. So after many moves only a server that had none has room.
  EXPECT_EQ(run({"server", "no-new-files", store.url(), "4"}), 0);
  std::vector<std::unique_ptr<Writer>> writers;
  for (uint64_t i = 0; i < 6; ++i) {
    writers.push_back(std::make_unique<Writer>(store.url() + "/" + std::to_string(i), i));
    writers.back()->step();
  }
  std::atomic<bool> ends = false;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 3; ++i) {  // the others are open, and not written meanwhile
    threads.emplace_back([&, i] { writers[i]->run(ends, 20); });
  }
  std::mt19937_64 random(7);
  for (int round = 0; round < 8 && !::testing::Test::HasFailure(); ++round) {
    const int drained = 1 + round % 3;
    Program drain({"server", "drain", store.url(), std::to_string(drained), "--rate", "20", "--wait", "5"});
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 700));
    const int victim = static_cast<int>(random() % 5);  // 4: the command itself
    if (victim < 4) {
      store.kill_server(victim);
      store.start(victim);
      drain.wait();
    } else {
      drain.end();
    }
    EXPECT_EQ(run({"server", "new-files", store.url(), std::to_string(drained)}), 0);
  }
  ends = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(run({"server", "new-files", store.url(), "4"}), 0);
  // A manager that has just started has not heard of the other servers yet.
  store.kill_server(0);
  store.start(0);
  EXPECT_EQ(run({"server", "drain", store.url(), "2"}), 0);
  const auto deadline = storage::Clock::now() + std::chrono::seconds(60);
  int checked = 1;
  while ((checked = run({"fsck", store.url()})) != 0 && storage::Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  EXPECT_EQ(checked, 0);
  EXPECT_EQ(run({"retire", store.url(), "2"}), 0);
  store.kill_server(2);
  StripedDriver driver;
  for (const auto& writer : writers) {
    writer->check();
    EXPECT_EQ(difference(server::testing::read_all(*driver.open(writer->url(), {}).value()), writer->model()), kSame);
  }
}

}  // namespace
}  // namespace stria::tool
