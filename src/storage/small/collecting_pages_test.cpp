// Ranks of some nodes that write pages together, beside a file whose every byte belongs to a rank.
#include "storage/small/collecting_pages.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/byte_range.hpp"
#include "storage/small/fetched_pages.hpp"
#include "storage/small/shared_memory_test.hpp"
#include "storage/small/small_requests.hpp"

namespace stria::storage {
namespace {

constexpr int64_t kStripe = 4 << 10;
constexpr int64_t kCollectedBytes = 64 << 10;
constexpr int64_t kBytesOfFile = 300'000;

/// The table of a node.
class Node {
 public:
  explicit Node(int64_t ranks, int64_t bytes = kCollectedBytes)
      : shape_(PageTable::shape_for(kStripe, bytes, ranks)), memory_(PageTable::memory_bytes(shape_)) {
    EXPECT_LE(PageTable::memory_bytes(shape_), bytes);
    PageTable::prepare(memory_.get(), shape_);
  }
  std::byte* memory() const { return memory_.get(); }
  PageTable table() const { return PageTable(memory_.get()); }

 private:
  PageTable::Shape shape_;
  SharedMemory memory_;
};

/// Is what all processes write to.
class Store {
 public:
  explicit Store(int64_t bytes = kBytesOfFile) : memory_(bytes + 4096) {}

  std::byte* bytes() const { return memory_.get() + 4096; }
  std::atomic<int64_t>& requests() const { return *reinterpret_cast<std::atomic<int64_t>*>(memory_.get()); }
  Status write(std::span<const WriteSegment> list) const {
    const int64_t number = requests().fetch_add(1);
    if (number == fails_at) {
      return Status(ErrorCode::kNoSpace, "the store is full", ErrorReason::kOverQuota);
    }
    int64_t before = -1;
    for (const WriteSegment& segment : list) {
      EXPECT_GT(segment.offset, before) << "pieces are sorted, and don't overlap";
      before = segment.offset + segment.bytes - 1;
      std::copy_n(segment.data, segment.bytes, bytes() + segment.offset);
    }
    return {};
  }
  int64_t fails_at = -1;

 private:
  SharedMemory memory_;
};

std::unique_ptr<CollectingPages> rank_of(const Node& node, int64_t rank, const Store& store) {
  return std::make_unique<CollectingPages>(CollectingPages::Options{
      .memory = node.memory(), .rank = rank, .write = [&store](auto list) { return store.write(list); }});
}

void put(CollectingPages& pages, ByteRange range, std::byte value) {
  const std::vector<std::byte> data(static_cast<size_t>(range.size()), value);
  pages.put(range.begin, data);
}

void expect_all(const Store& store, ByteRange range, std::byte value) {
  for (int64_t at = range.begin; at < range.end; ++at) {
    ASSERT_EQ(store.bytes()[at], value) << at;
  }
}

int64_t owner_at(int64_t offset, int64_t ranks) {
  return static_cast<int64_t>((static_cast<uint64_t>(offset / 37) * 2654435761U >> 7) % static_cast<uint64_t>(ranks));
}

TEST(CollectingPages, WhatRanksWriteInTurnGoesAsWholePages) {
  const Store store;
  const Node node(4, 1 << 20);
  std::deque<std::unique_ptr<CollectingPages>> ranks;
  for (int64_t rank = 0; rank < 4; ++rank) {
    ranks.push_back(rank_of(node, rank, store));
  }
  constexpr int64_t kPieces = 280;
  for (int64_t piece = 0; piece < kPieces; ++piece) {
    put(*ranks[static_cast<size_t>(piece % 4)], {piece * 1000, (piece + 1) * 1000}, std::byte{3});
  }
  for (auto& rank : ranks) {
    rank->write_out();
    EXPECT_FALSE(rank->keeps());
    EXPECT_TRUE(rank->take_error().ok());
  }
  expect_all(store, {0, kPieces * 1000}, std::byte{3});
  EXPECT_LE(store.requests().load(), 8);
}

TEST(CollectingPages, ARankWritesOutItsOwnAndCarriesNothingElse) {
  const Store store;
  std::fill_n(store.bytes(), kBytesOfFile, std::byte{9});
  const Node node(2);
  auto first = rank_of(node, 0, store);
  auto second = rank_of(node, 1, store);
  put(*first, {100, 200}, std::byte{1});
  put(*second, {300, 400}, std::byte{2});
  put(*second, {kStripe + 10, kStripe + 20}, std::byte{2});
  first->write_out();
  expect_all(store, {0, 100}, std::byte{9});
  expect_all(store, {100, 200}, std::byte{1});
  expect_all(store, {200, 300}, std::byte{9});
  expect_all(store, {400, 2 * kStripe}, std::byte{9});
  EXPECT_TRUE(second->were_sent());
  EXPECT_FALSE(second->were_sent());
  EXPECT_TRUE(second->keeps());
  second->write_out();
  expect_all(store, {300, 400}, std::byte{2});
  expect_all(store, {kStripe + 10, kStripe + 20}, std::byte{2});
}

TEST(CollectingPages, AFailureIsToldToEachRankWhoseBytesItMet) {
  Store store;
  store.fails_at = 0;
  const Node node(70);  // more than fit one word
  auto first = rank_of(node, 0, store);
  auto second = rank_of(node, 69, store);
  auto third = rank_of(node, 3, store);
  put(*first, {100, 200}, std::byte{1});
  put(*second, {300, 400}, std::byte{2});
  put(*third, {2 * kStripe, 2 * kStripe + 1}, std::byte{3});
  first->write_out();
  for (auto* rank : {first.get(), second.get()}) {
    EXPECT_TRUE(rank->keeps());
    const Status error = rank->take_error();
    EXPECT_EQ(error.code(), ErrorCode::kNoSpace);
    EXPECT_EQ(error.message(), "the store is full");
    EXPECT_EQ(error.reason(), ErrorReason::kOverQuota);
    EXPECT_FALSE(rank->keeps());
    EXPECT_TRUE(rank->take_error().ok());
  }
  third->write_out();
  EXPECT_TRUE(third->take_error().ok());
}

TEST(CollectingPages, ReadsFindWhatThisRankHasPut) {
  const Store store;
  const Node node(2);
  auto first = rank_of(node, 0, store);
  auto second = rank_of(node, 1, store);
  put(*first, {4000, 4200}, std::byte{1});
  std::vector<std::byte> data(400);
  EXPECT_TRUE(first->copy_all({4050, 4150}, data.data()));
  EXPECT_EQ(data[99], std::byte{1});
  EXPECT_FALSE(first->copy_all({4050, 4201}, data.data()));
  EXPECT_FALSE(second->copy_all({4050, 4150}, data.data()));
  std::fill(data.begin(), data.end(), std::byte{7});
  first->put_over({3900, 4300}, data.data());
  EXPECT_EQ(data[99], std::byte{7});
  EXPECT_EQ(data[100], std::byte{1});
  EXPECT_EQ(data[299], std::byte{1});
  EXPECT_EQ(data[300], std::byte{7});
  EXPECT_TRUE(first->has_page_of({0, 4001}));
  EXPECT_FALSE(second->has_page_of({0, 4001}));
}

/// Ranks on nodes that make small requests, and what each must find.
class Job {
 public:
  Job(int64_t nodes, int64_t ranks_of_node) {
    for (int64_t number = 0; number < nodes; ++number) {
      nodes_.push_back(std::make_unique<NodeOfJob>(ranks_of_node));
      for (int64_t rank = 0; rank < ranks_of_node; ++rank) {
        ranks_.push_back(small_of(*nodes_.back(), rank));
      }
    }
  }

  Store& store() { return store_; }
  int64_t errors() const { return errors_; }

  /// Writes those bytes of a range that belong to the rank, piece by piece.
  void write(int64_t rank, ByteRange range, std::byte value) {
    for (int64_t begin = range.begin; begin < range.end;) {
      int64_t end = begin;
      while (end < range.end && owner_at(end, count()) == rank) {
        ++end;
      }
      if (end > begin) {
        const std::vector<std::byte> data(static_cast<size_t>(end - begin), value);
        std::fill(truth_.begin() + begin, truth_.begin() + end, value);
        Status late;
        note(ranks_[static_cast<size_t>(rank)]->write(begin, data, late));
        note(late);
      }
      begin = end + 1;
    }
  }
  /// Reads, and compares the bytes of this rank.
  void read(int64_t rank, ByteRange range) {
    std::vector<std::byte> data(static_cast<size_t>(range.size()));
    Status late;
    const auto bytes = ranks_[static_cast<size_t>(rank)]->read(range.begin, data, late);
    note(late);
    note(bytes.status());
    for (int64_t at = range.begin; at < range.end && bytes.ok() && store_.fails_at < 0; ++at) {
      if (owner_at(at, count()) == rank) {
        ASSERT_EQ(data[static_cast<size_t>(at - range.begin)], truth_[static_cast<size_t>(at)]) << at;
      }
    }
  }
  void sync_one(int64_t rank) {
    note(ranks_[static_cast<size_t>(rank)]->write_out());
    EXPECT_FALSE(ranks_[static_cast<size_t>(rank)]->keeps());
    for (int64_t at = 0; at < kBytesOfFile && store_.fails_at < 0; ++at) {
      if (owner_at(at, count()) == rank) {
        ASSERT_EQ(store_.bytes()[at], truth_[static_cast<size_t>(at)]) << at;
      }
    }
  }
  void sync() {
    for (int64_t rank = 0; rank < count(); ++rank) {
      sync_one(rank);
    }
    for (auto& rank : ranks_) {
      rank->forget();
    }
  }
  int64_t count() const { return static_cast<int64_t>(ranks_.size()); }

 private:
  struct NodeOfJob {
    explicit NodeOfJob(int64_t ranks)
        : collected(ranks), shape(FetchedPages::shape_for(kStripe, 96 << 10)), fetched(FetchedPages::memory_bytes(shape)) {
      FetchedPages::prepare(fetched.get(), shape);
    }
    Node collected;
    FetchedPages::Shape shape;
    SharedMemory fetched;
  };

  std::unique_ptr<SmallRequests> small_of(const NodeOfJob& node, int64_t rank) {
    const auto write = [this](std::span<const WriteSegment> list) { return store_.write(list); };
    const auto read = [this](std::span<const ReadSegment> list) { return read_store(list); };
    return std::make_unique<SmallRequests>(
        SmallRequests::Options{.stripe_bytes = kStripe,
                               .memory_bytes = SmallRequests::kLeastMemoryBytes,
                               .fetched = std::make_unique<FetchedPages>(FetchedPages::Options{
                                   .memory = node.fetched.get(), .most_window_bytes = 16 << 10, .read = read}),
                               .together = std::make_unique<CollectingPages>(
                                   CollectingPages::Options{.memory = node.collected.memory(), .rank = rank, .write = write}),
                               .write = write,
                               .read = read});
  }
  Result<int64_t> read_store(std::span<const ReadSegment> list) {
    int64_t all = 0;
    for (const ReadSegment& segment : list) {
      const int64_t bytes = std::clamp<int64_t>(kBytesOfFile - segment.offset, 0, segment.bytes);
      std::copy_n(store_.bytes() + (bytes > 0 ? segment.offset : 0), bytes, segment.data);
      all += bytes;
    }
    return all;
  }
  void note(const Status& status) { errors_ += status.ok() ? 0 : 1; }

  Store store_;
  std::vector<std::byte> truth_ = std::vector<std::byte>(kBytesOfFile);
  std::deque<std::unique_ptr<NodeOfJob>> nodes_;
  std::deque<std::unique_ptr<SmallRequests>> ranks_;
  int64_t errors_ = 0;
};

void run_schedule(Job& job, unsigned seed, int steps) {
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); };
  int64_t at = 0;
  for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
    const int64_t rank = below(job.count());
    const int64_t what = below(100);
    const int64_t longest = what < 8 ? 70'000 : 1500;
    const ByteRange range{at, std::min(kBytesOfFile, at + 1 + below(longest))};
    if (what == 0) {
      job.sync();
    } else if (what == 1) {
      job.sync_one(rank);
    } else if (what == 2) {
      at = below(kBytesOfFile - 1);
    } else if (what < 60) {
      job.write(rank, range, static_cast<std::byte>(1 + below(200)));
    } else {
      job.read(rank, range);
    }
    at = what % 3 == 0 ? range.end % (kBytesOfFile - 1) : at;
  }
}

TEST(CollectingPages, RandomSchedulesOnSeveralNodesEndWithTheBytesOfAnOracle) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Job job(1 + seed % 3, 1 + seed % 4);
    run_schedule(job, seed, 900);
    job.sync();
    EXPECT_EQ(job.errors(), 0);
    ASSERT_FALSE(HasFailure());
  }
}

TEST(CollectingPages, AFailureAtAnyRequestIsTold) {
  for (int64_t request = 0; request < 60; ++request) {
    SCOPED_TRACE("request " + std::to_string(request));
    Job job(2, 3);
    job.store().fails_at = request;
    run_schedule(job, 5, 400);
    job.sync();
    ASSERT_GT(job.store().requests().load(), request) << "the schedule is too short";
    EXPECT_GE(job.errors(), 1);
    EXPECT_LE(job.errors(), 3) << "no more ranks than have bytes in a page";
    ASSERT_FALSE(HasFailure());
  }
}

// Each thread is a rank. Pages are few, so that ranks wait for each other's.
TEST(CollectingPages, RanksAtTheSameTimeLoseNothing) {
  constexpr int64_t kRanks = 4;
  const Store store;
  const Node node(kRanks);
  const auto body = [&](int64_t rank) {
    auto pages = rank_of(node, rank, store);
    for (int round = 1; round < 6; ++round) {
      for (int64_t at = 0; at < kBytesOfFile; ++at) {
        int64_t end = at;
        while (end < kBytesOfFile && owner_at(end, kRanks) == rank) {
          ++end;
        }
        if (end > at) {
          put(*pages, {at, end}, static_cast<std::byte>(round));
        }
        at = end;
      }
      pages->write_out();
      EXPECT_FALSE(pages->keeps());
      for (int64_t at = 0; at < kBytesOfFile; ++at) {
        if (owner_at(at, kRanks) == rank && store.bytes()[at] != static_cast<std::byte>(round)) {
          ADD_FAILURE() << at << " in round " << round;
          return;
        }
      }
    }
  };
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back(body, rank);
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

// Runs in another process.
template <typename Body>
pid_t start(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  return child;
}

TEST(CollectingPages, ARankThatDiesWithTheMutexStopsNoOther) {
  const Store store;
  const Node node(2);
  auto pages = rank_of(node, 0, store);
  put(*pages, {10, 5000}, std::byte{4});
  waitpid(start([&] { pthread_mutex_lock(reinterpret_cast<pthread_mutex_t*>(node.memory())); }), nullptr, 0);
  put(*pages, {5000, 9000}, std::byte{4});
  pages->write_out();
  EXPECT_TRUE(pages->take_error().ok());
  expect_all(store, {10, 9000}, std::byte{4});
}

TEST(CollectingPages, PagesOfARankThatDiesWhileItSendsAreSentByOthers) {
  const Store store;
  const Node node(2);
  auto pages = rank_of(node, 0, store);
  put(*pages, {10, 2000}, std::byte{4});
  waitpid(start([&] {
            CollectingPages dying({.memory = node.memory(), .rank = 1, .write = [](auto) -> Status { _exit(0); }});
            put(dying, {2000, 3000}, std::byte{5});
            dying.write_out();
          }),
          nullptr, 0);
  put(*pages, {3000, 4000}, std::byte{4});
  pages->write_out();
  EXPECT_TRUE(pages->take_error().ok());
  expect_all(store, {10, 2000}, std::byte{4});
  expect_all(store, {3000, 4000}, std::byte{4});
}

// A child writes every other piece and is killed at any moment. What it has synced is there, and so
// is all that this process writes.
TEST(CollectingPages, RanksThatAreKilledAnywhereLeaveTheOthersWhole) {
  constexpr int64_t kPiece = 500;
  for (int round = 0; round < 30; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const Store store;
    const SharedMemory synced_memory(4096);
    auto& synced = *new (synced_memory.get()) std::atomic<int64_t>{0};  // pieces of the child
    const Node node(2);
    const pid_t child = start([&] {
      auto pages = rank_of(node, 1, store);
      for (int64_t piece = 0;; ++piece) {
        const int64_t at = piece * 2 * kPiece % kBytesOfFile + kPiece;
        put(*pages, {at, at + kPiece}, std::byte{5});
        if (piece % 40 == 39) {
          pages->write_out();
          synced = piece + 1;
        }
      }
    });
    auto pages = rank_of(node, 0, store);
    for (int pass = 1; pass < 4; ++pass) {
      for (int64_t at = 0; at < kBytesOfFile; at += 2 * kPiece) {
        put(*pages, {at, at + kPiece}, static_cast<std::byte>(pass));
        if (pass == 2 && at == round * 8 * kPiece) {
          kill(child, SIGKILL);
        }
      }
    }
    pages->write_out();
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(pages->take_error().ok());
    EXPECT_FALSE(pages->keeps());
    for (int64_t at = 0; at < kBytesOfFile; at += 2 * kPiece) {
      expect_all(store, {at, at + kPiece}, std::byte{3});
      if (at / (2 * kPiece) < synced) {
        expect_all(store, {at + kPiece, at + 2 * kPiece}, std::byte{5});
      }
    }
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace stria::storage
