// Whatever is killed, cut off or stopped while parts of files move, in an order by chance: no byte
// that was acknowledged is lost, and no old one comes back. STRIA_MOVE_ROUNDS says how often,
// STRIA_SEED in which order.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "server/standby_processes_test.hpp"
#include "store/moves/moving_store_test.hpp"
#include "stria/datatype.hpp"

namespace stria::tool {
namespace {

using std::chrono::milliseconds;
using storage::LockMode;
using storage::StripedDriver;
using testing::Bytes;
using testing::cut_connections;
using testing::difference;
using testing::kSame;
using testing::Mode;
using testing::ProcessStore;
using testing::Program;
using testing::run;
using testing::Writer;

uint64_t number_from(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

uint64_t seed() {
  return number_from("STRIA_SEED", 7);
}

int rounds(int otherwise) {
  return static_cast<int>(number_from("STRIA_MOVE_ROUNDS", static_cast<uint64_t>(otherwise)));
}

// One file that many use: its front has cells that take turns among the members, its back is the
// cutter's.
constexpr int64_t kCellBytes = 12007;
constexpr int64_t kMembers = 4;
constexpr int64_t kCellsEach = 60;
constexpr int64_t kFrontBytes = kCellBytes * kMembers * kCellsEach;
constexpr int64_t kMostBackBytes = int64_t{3} << 20;

/// The cells of one member, by a handle of its own.
class Member {
 public:
  Member(const std::string& url, int64_t number)
      : number_(number), random_(seed() * 100 + static_cast<uint64_t>(number)), model_(kCellBytes * kCellsEach) {
    file_ = driver_.open(url, {.mode = Mode::kReadWrite}).value();
    write_all();
  }
  void step() {
    switch (random_() % 6) {
      case 0:
        return write_stretch();
      case 1:
        return read_stretch();
      case 2:
        return read_list();
      default:
        return write_list();
    }
  }
  void check() {
    Bytes got(model_.size());
    const Datatype type = cells();
    ASSERT_EQ(file_->read_type({type, number_ * kCellBytes, {0, ssize(model_)}}, got.data()).value(), ssize(model_));
    ASSERT_EQ(difference(got, model_), kSame) << "member " << number_;
  }
  const Bytes& model() const { return model_; }

 private:
  static int64_t ssize(const Bytes& bytes) { return static_cast<int64_t>(bytes.size()); }
  static Datatype cells() {
    return Datatype::vector(kCellsEach, kCellBytes, kCellBytes * kMembers, Datatype::bytes(1)).value();
  }
  int64_t below(int64_t end) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(end)); }
  ByteRange stretch() {
    const int64_t begin = below(ssize(model_));
    return {begin, std::min(ssize(model_), begin + 1 + below(random_() % 4 == 0 ? 300000 : 20000))};
  }
  /// Returns where a range of its cells' bytes begins, as far as it lies in one cell.
  static int64_t offset_of(int64_t number, int64_t at) {
    return (at / kCellBytes * kMembers + number) * kCellBytes + at % kCellBytes;
  }
  void write_window(ByteRange window) {
    const Datatype type = cells();
    STRIA_EXPECT_OK(file_->write_type({type, number_ * kCellBytes, window}, model_.data() + window.begin));
  }
  void write_all() {
    model_ = server::testing::noise(model_.size(), random_());
    write_window({0, ssize(model_)});
  }
  void write_stretch() {
    const ByteRange window = stretch();
    const Bytes data = server::testing::noise(static_cast<size_t>(window.size()), random_());
    std::copy(data.begin(), data.end(), model_.begin() + window.begin);
    write_window(window);
  }
  void read_stretch() {
    const ByteRange window = stretch();
    Bytes got(static_cast<size_t>(window.size()));
    const Datatype type = cells();
    ASSERT_EQ(file_->read_type({type, number_ * kCellBytes, window}, got.data()).value(), window.size());
    ASSERT_EQ(difference(got, Bytes(model_.begin() + window.begin, model_.begin() + window.end)), kSame)
        << "member " << number_ << " from " << window.begin;
  }
  /// Returns pieces of some of its cells, in ascending order.
  std::vector<ByteRange> pieces() {
    std::vector<ByteRange> ranges;
    for (int64_t cell = below(8); cell < kCellsEach; cell += 1 + below(12)) {
      const int64_t begin = cell * kCellBytes + below(kCellBytes);
      ranges.push_back({begin, begin + 1 + below((cell + 1) * kCellBytes - begin)});
    }
    return ranges;
  }
  void write_list() {
    std::vector<storage::WriteSegment> segments;
    for (const ByteRange& range : pieces()) {
      const Bytes data = server::testing::noise(static_cast<size_t>(range.size()), random_());
      std::copy(data.begin(), data.end(), model_.begin() + range.begin);
      segments.push_back({offset_of(number_, range.begin), model_.data() + range.begin, range.size()});
    }
    STRIA_EXPECT_OK(file_->write(segments));
  }
  void read_list() {
    Bytes got = model_;
    std::vector<storage::ReadSegment> segments;
    for (const ByteRange& range : pieces()) {
      std::fill(got.begin() + range.begin, got.begin() + range.end, std::byte{0x5a});
      segments.push_back({offset_of(number_, range.begin), got.data() + range.begin, range.size()});
    }
    STRIA_EXPECT_OK(file_->read(segments).status());
    ASSERT_EQ(difference(got, model_), kSame) << "member " << number_;
  }

  int64_t number_;
  std::mt19937_64 random_;
  StripedDriver driver_;
  std::unique_ptr<storage::File> file_;
  Bytes model_;  // its cells, one behind the other
};

/// Cuts the file behind the members' cells, preallocates it, and writes there. Has the note that it
/// writes.
class Cutter {
 public:
  explicit Cutter(const std::string& url) : random_(seed() * 100 + 50) {
    file_ = driver_.open(url, {.mode = Mode::kReadWrite}).value();
    note_ = file_->lock({int64_t{1} << 62, (int64_t{1} << 62) + 1}, LockMode::kShared).value();
  }
  void step() {
    const auto kind = random_() % 8;
    if (kind == 0) {
      back_.resize(random_() % kMostBackBytes);
      STRIA_EXPECT_OK(file_->resize(kFrontBytes + static_cast<int64_t>(back_.size())));
    } else if (kind == 1) {
      const size_t bytes = random_() % kMostBackBytes;
      back_.resize(std::max(back_.size(), bytes));
      STRIA_EXPECT_OK(file_->preallocate(kFrontBytes + static_cast<int64_t>(bytes)));
    } else if (kind == 2) {
      check();
    } else {
      const size_t at = random_() % kMostBackBytes;
      const Bytes data = server::testing::noise(1 + random_() % 50000, random_());
      back_.resize(std::max(back_.size(), at + data.size()));
      std::copy(data.begin(), data.end(), back_.begin() + static_cast<ptrdiff_t>(at));
      const storage::WriteSegment segment{kFrontBytes + static_cast<int64_t>(at), data.data(),
                                          static_cast<int64_t>(data.size())};
      STRIA_EXPECT_OK(file_->write({&segment, 1}));
    }
  }
  void check() {
    const auto bytes = static_cast<int64_t>(back_.size());
    ASSERT_EQ(file_->size().value(), kFrontBytes + bytes);
    Bytes got(back_.size());
    const storage::ReadSegment segment{kFrontBytes, got.data(), bytes};
    ASSERT_EQ(file_->read({&segment, 1}).value(), bytes);
    ASSERT_EQ(difference(got, back_), kSame) << "behind the cells";
  }
  const Bytes& back() const { return back_; }

 private:
  std::mt19937_64 random_;
  StripedDriver driver_;
  std::unique_ptr<storage::File> file_;
  std::unique_ptr<storage::RangeLock> note_;
  Bytes back_;
};

/// Locks a number in a file of its own and counts it up, by two handles in turn. A lock that is
/// lost with its server or its connection is an error, after which handles are opened anew.
class Locker {
 public:
  explicit Locker(std::string url) : url_(std::move(url)) { open_files(Mode::kCreate); }
  void step() {
    if (const Status outcome = count(files_[static_cast<size_t>(counted_ % 2)].get()); !outcome.ok()) {
      ASSERT_NE(outcome.message().find("lost"), std::string::npos) << outcome.message();
      open_files(Mode::kReadWrite);
      sure_ = false;
    }
    std::this_thread::sleep_for(milliseconds(20));  // parts can't move while it is locked
  }
  int64_t counted() const { return counted_; }

 private:
  void open_files(Mode mode) {
    for (auto& file : files_) {
      file = driver_.open(url_, {.mode = mode}).value();
    }
  }
  Status count(storage::File* file) {
    STRIA_ASSIGN_OR_RETURN(auto lock, file->lock({0, 8}, LockMode::kExclusive));
    int64_t number = -1;
    const storage::ReadSegment whole{0, reinterpret_cast<std::byte*>(&number), sizeof number};
    STRIA_RETURN_IF_ERROR(count_ < 0 ? Status() : file->read({&whole, 1}).status());
    // The last write may have been made where it is not known.
    EXPECT_TRUE(number == count_ || (!sure_ && number == count_ + 1)) << number << " under a lock, not " << count_;
    const int64_t next = number + 1;
    const storage::WriteSegment segment{0, reinterpret_cast<const std::byte*>(&next), sizeof next};
    STRIA_RETURN_IF_ERROR(file->write({&segment, 1}));
    lock.reset();
    count_ = next;  // before it is known that the lock was held to the end
    sure_ = true;
    ++counted_;
    return file->size().status();
  }

  std::string url_;
  StripedDriver driver_;
  std::unique_ptr<storage::File> files_[2];
  int64_t count_ = -1;
  bool sure_ = true;  // the file has that number
  int64_t counted_ = 0;
};

/// All those who use the store meanwhile, each in a thread.
class Clients {
 public:
  explicit Clients(const std::string& url) : url_(url) {
    for (uint64_t i = 0; i < 6; ++i) {
      storage::OpenOptions options{.mode = Mode::kCreate};
      options.striping.server_count = i == 1 ? 1 : 0;
      writers_.emplace_back(url + "/" + std::to_string(i), seed() * 100 + 60 + i, options);
      writers_.back().step();
    }
    storage::OpenOptions options{.mode = Mode::kCreate};
    options.striping.unit_bytes = 64 << 10;
    STRIA_EXPECT_OK(driver_.open(url + "/shared", options).value()->resize(kFrontBytes));
    for (int64_t i = 0; i < kMembers; ++i) {
      members_.emplace_back(url + "/shared", i);
    }
    cutter_ = std::make_unique<Cutter>(url + "/shared");
    locker_ = std::make_unique<Locker>(url + "/locked");
  }
  void start() {
    for (size_t i = 0; i < 3; ++i) {  // the others are open, and not written meanwhile
      work([this, i] { writers_[i].step(); });
    }
    for (Member& member : members_) {
      work([&member] { member.step(); });
    }
    work([this] { cutter_->step(); });
    work([this] { locker_->step(); });
  }
  void end() {
    ends_ = true;
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
    EXPECT_GT(locker_->counted(), 0);
  }
  /// Checks by the handles that were open all the time, and by others.
  void check() {
    for (Writer& writer : writers_) {
      writer.check();
      ASSERT_EQ(difference(server::testing::read_all(*driver_.open(writer.url(), {}).value()), writer.model()), kSame);
    }
    Bytes whole(static_cast<size_t>(kFrontBytes));
    for (int64_t i = 0; i < kMembers; ++i) {
      members_[static_cast<size_t>(i)].check();
      for (int64_t cell = 0; cell < kCellsEach; ++cell) {
        std::memcpy(whole.data() + (cell * kMembers + i) * kCellBytes,
                    members_[static_cast<size_t>(i)].model().data() + cell * kCellBytes, kCellBytes);
      }
    }
    cutter_->check();
    whole.insert(whole.end(), cutter_->back().begin(), cutter_->back().end());
    ASSERT_EQ(difference(server::testing::read_all(*driver_.open(url_ + "/shared", {}).value()), whole), kSame);
  }

 private:
  void work(const std::function<void()>& step) {
    threads_.emplace_back([this, step] {
      for (int i = 0; (!ends_ || i < 10) && !::testing::Test::HasFailure(); ++i) {
        step();
      }
    });
  }

  std::string url_;
  StripedDriver driver_;
  std::deque<Writer> writers_;
  std::deque<Member> members_;
  std::unique_ptr<Cutter> cutter_;
  std::unique_ptr<Locker> locker_;
  std::atomic<bool> ends_ = false;
  std::vector<std::thread> threads_;
};

void sleep_below(std::mt19937_64& random, int most_ms) {
  std::this_thread::sleep_for(milliseconds(random() % static_cast<uint64_t>(most_ms)));
}

/// Does something to the servers, the command that moves parts, or the clients.
void do_mischief(ProcessStore& store, Program& command, std::mt19937_64& random) {
  const auto kind = random() % 8;
  if (kind < 4) {
    const int victim = static_cast<int>(kind);
    store.kill_server(victim);
    if (random() % 3 == 0) {
      sleep_below(random, 1200);
    }
    store.start(victim);
  } else if (kind == 4) {
    command.end();
  } else if (kind == 5) {
    kill(command.process(), SIGSTOP);
    // A part that is held for ten seconds is given back to its clients.
    sleep_below(random, rounds(0) > 10 && random() % 4 == 0 ? 13000 : 400);
    kill(command.process(), SIGCONT);
  } else {
    for (int i = 0; i < 4; ++i) {
      cut_connections(kind == 6 ? command.process() : getpid(), random);
      sleep_below(random, 100);
    }
  }
}

void expect_whole(const std::string& url) {
  const auto deadline = storage::Clock::now() + std::chrono::seconds(60);
  int checked = 1;
  while ((checked = run({"fsck", url})) != 0 && storage::Clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(500));
  }
  EXPECT_EQ(checked, 0);
}

// The servers begin as processes before this one has threads.
TEST(MovesRandom, WhateverIsKilledNoByteIsLost) {
  setenv("STRIA_SERVER_TIMEOUT", "10", 1);
  SCOPED_TRACE("STRIA_SEED=" + std::to_string(seed()));
  ProcessStore store(5);
  // A place gets no other part of a file. So after many moves only a server that had none has room.
  EXPECT_EQ(run({"server", "no-new-files", store.url(), "4"}), 0);
  Clients clients(store.url());
  clients.start();
  std::mt19937_64 random(seed());
  for (int round = 0; round < rounds(4) && !::testing::Test::HasFailure(); ++round) {
    const std::string drained = std::to_string(1 + round % 3);
    {
      Program drain({"server", "drain", store.url(), drained, "--rate", "40", "--wait", "2"});
      sleep_below(random, 700);
      do_mischief(store, drain, random);
    }  // This ends the command where it still runs.
    EXPECT_EQ(run({"server", "new-files", store.url(), drained}), 0);
    // Brings parts back, also to where they were before.
    Program rebalance({"server", "rebalance", store.url(), "--rate", "80"});
    if (round % 2 == 0) {
      sleep_below(random, 300);
      do_mischief(store, rebalance, random);
    } else {
      rebalance.wait();
    }
  }
  clients.end();
  EXPECT_EQ(run({"server", "new-files", store.url(), "4"}), 0);
  // A manager that has just started has not heard of the other servers yet.
  store.kill_server(0);
  store.start(0);
  EXPECT_EQ(run({"server", "drain", store.url(), "2"}), 0);
  expect_whole(store.url());
  EXPECT_EQ(run({"retire", store.url(), "2"}), 0);
  store.kill_server(2);
  clients.check();
}

// The old manager becomes the standby of the new one, and the other way round.
TEST(MovesRandom, AStandbyTakesOverWhilePartsMove) {
  setenv("STRIA_SERVER_TIMEOUT", "100", 1);
  SCOPED_TRACE("STRIA_SEED=" + std::to_string(seed()));
  ProcessStore store(5, true);
  Clients clients(store.both());
  clients.start();
  std::mt19937_64 random(seed() + 1);
  for (int round = 0; round < rounds(1) && !::testing::Test::HasFailure(); ++round) {
    const int old = store.manager();
    const int next = 1 - old;
    ASSERT_TRUE(server::testing::comes_in_step(store.address(old)));
    for (int other = 2; other < 5; ++other) {
      ASSERT_TRUE(server::testing::comes_true(
          [&] { return server::testing::figure(store.address(other), "standby_marks_in_step") == 1; }));
    }
    const std::string drained = std::to_string(2 + round % 3);
    Program drain({"server", "drain", store.both(), drained, "--rate", "40", "--wait", "5"});
    sleep_below(random, 700);
    store.kill_server(old);
    STRIA_EXPECT_OK(server::testing::promote_soon(store.address(next)));
    store.set_manager(next);
    // One that was promoted once has to hear from others that it is the manager no more.
    store.start(old, true);
    ASSERT_TRUE(server::testing::comes_true([&] {
      return server::testing::figure(store.address(old), "epoch") == server::testing::figure(store.address(next), "epoch");
    }));
    store.kill_server(old);
    store.start(old, true);
    drain.wait();
    EXPECT_EQ(run({"server", "new-files", store.both(), drained}), 0);
    run({"server", "rebalance", store.both(), "--rate", "80"});
  }
  clients.end();
  expect_whole(store.both());
  clients.check();
}

}  // namespace
}  // namespace stria::tool
