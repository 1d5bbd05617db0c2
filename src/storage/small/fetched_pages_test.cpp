// Ranks of a node that share what they fetch, beside a file whose every byte has a history.
#include "storage/small/fetched_pages.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <random>
#include <string>
#include <utility>

#include "base/byte_range.hpp"
#include "storage/small/shared_memory_test.hpp"
#include "support/rounds.hpp"

namespace stria::storage {
namespace {

constexpr int64_t kStripeBytes = 4 << 10;
constexpr int64_t kNodeBytes = 96 << 10;
constexpr int64_t kFileBytes = 300'000;

/// The empty table of a node.
class NodeMemory {
 public:
  explicit NodeMemory(FetchedPages::Shape shape) : memory_(FetchedPages::memory_bytes(shape)) {
    FetchedPages::prepare(memory_.get(), shape);
  }
  std::byte* get() const { return memory_.get(); }

 private:
  SharedMemory memory_;
};

FetchedPages::Shape shape() {
  return FetchedPages::shape_for(kStripeBytes, kNodeBytes);
}

/// A file that others change. Every byte knows what it was, and when; one without versions was
/// always 0.
class History {
 public:
  explicit History(int64_t bytes) : versions_(static_cast<size_t>(bytes)) {}

  void write(ByteRange range, std::byte value) {
    ++step_;
    for (int64_t at = range.begin; at < range.end; ++at) {
      if (at >= static_cast<int64_t>(versions_.size())) {
        versions_.resize(static_cast<size_t>(at + 1));
      }
      auto& all = versions_[static_cast<size_t>(at)];
      if (all.empty()) {
        all.emplace_back(0, std::byte{0});
      }
      all.emplace_back(step_, value);
    }
  }
  Result<int64_t> read(std::span<const ReadSegment> list) {
    if (requests_++ == fails_at_) {
      return Status(ErrorCode::kIo, "the store is gone");
    }
    int64_t all = 0;
    for (const ReadSegment& segment : list) {
      for (int64_t i = 0; i < segment.bytes && segment.offset + i < size(); ++i, ++all) {
        const auto& versions = versions_[static_cast<size_t>(segment.offset + i)];
        segment.data[i] = versions.empty() ? std::byte{0} : versions.back().second;
      }
    }
    read_bytes_ += all;
    return all;
  }
  /// Tells whether the byte has had the value since the step.
  bool had(int64_t at, std::byte value, int64_t since) const {
    const auto& all = versions_[static_cast<size_t>(at)];
    if (all.empty()) {
      return value == std::byte{0};
    }
    for (auto version = all.rbegin(); version != all.rend(); ++version) {
      if (version->second == value) {
        return true;
      }
      if (version->first <= since) {
        return false;
      }
    }
    return false;
  }

  int64_t size() const { return static_cast<int64_t>(versions_.size()); }
  int64_t step() const { return step_; }
  int64_t requests() const { return requests_; }
  int64_t read_bytes() const { return read_bytes_; }
  void fail_at(int64_t request) { fails_at_ = request; }

 private:
  std::vector<std::vector<std::pair<int64_t, std::byte>>> versions_;
  int64_t step_ = 0;
  int64_t requests_ = 0;
  int64_t read_bytes_ = 0;
  int64_t fails_at_ = -1;
};

struct Rank {
  std::unique_ptr<FetchedPages> pages;
  int64_t since = 0;  ///< the step of its last forget()
  int64_t seen_end = 0;
};

std::unique_ptr<FetchedPages> rank_on(const NodeMemory& memory, History& history, int64_t alone_bytes = 0) {
  return std::make_unique<FetchedPages>(FetchedPages::Options{
      .memory = memory.get(), .most_window_bytes = 16 << 10, .alone_bytes = alone_bytes, .read = [&history](auto list) {
        return history.read(list);
      }});
}

/// Reads, and looks at every byte. False where the read failed.
bool read_and_compare(Rank& rank, const History& history, ByteRange range) {
  std::vector<std::byte> data(static_cast<size_t>(range.size()), std::byte{0xEE});
  const auto bytes = rank.pages->read(range, data.data());
  if (!bytes.ok()) {
    return false;
  }
  EXPECT_LE(range.begin + *bytes, std::max(range.begin, history.size()));
  EXPECT_GE(range.begin + *bytes, std::min(range.end, std::max(range.begin, rank.seen_end)));
  for (int64_t i = 0; i < *bytes; ++i) {
    if (!history.had(range.begin + i, data[static_cast<size_t>(i)], rank.since)) {
      ADD_FAILURE() << "byte " << range.begin + i << " is none that the file has had since";
      return true;
    }
  }
  const auto is_untouched = [](std::byte value) { return value == std::byte{0xEE}; };
  EXPECT_TRUE(std::all_of(data.begin() + *bytes, data.end(), is_untouched)) << "memory past the end was touched";
  return true;
}

/// Ranks of two nodes read and forget, while a file is written; the number of reads that failed.
int random_schedule(unsigned seed, int64_t fails_at) {
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); };
  History history(kFileBytes / 2);
  history.fail_at(fails_at);
  const NodeMemory first(shape());
  const NodeMemory second(shape());
  std::deque<Rank> ranks;
  for (int number = 0; number < 5; ++number) {
    ranks.push_back({rank_on(number < 3 ? first : second, history, number == 0 ? 8192 : 0), 0, 0});
  }
  int failures = 0;
  int64_t at = 0;
  for (int step = 0; step < 1500; ++step) {
    Rank& rank = ranks[static_cast<size_t>(below(5))];
    const int64_t what = below(30);
    if (what < 3) {
      const int64_t begin = below(kFileBytes);
      history.write({begin, begin + 1 + below(3000)}, static_cast<std::byte>(1 + below(200)));
    } else if (what == 3) {
      rank.pages->forget();
      rank.since = history.step();
      rank.seen_end = history.size();
    } else if (what == 4) {
      at = below(kFileBytes);
    } else {
      const ByteRange range{at, at + 1 + below(what == 5 ? 20'000 : 900)};
      failures += read_and_compare(rank, history, range) ? 0 : 1;
      at = (range.end + below(2) * below(300)) % kFileBytes;
    }
    if (testing::Test::HasFailure()) {
      break;
    }
  }
  return failures;
}

TEST(FetchedPages, RandomSchedulesSeeNothingThatWasForgotten) {
  for (unsigned seed = 0; seed < rounds(20u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    EXPECT_EQ(random_schedule(seed, -1), 0);
    ASSERT_FALSE(HasFailure());
  }
}

// A fetch that fails is followed by a read of what was asked for.
TEST(FetchedPages, AFailureAtAnyRequestLeavesNothingWrong) {
  for (int64_t request = 0; request < 60; request += 60 / rounds(30)) {
    SCOPED_TRACE("request " + std::to_string(request));
    EXPECT_LE(random_schedule(3, request), 1);
    ASSERT_FALSE(HasFailure());
  }
}

TEST(FetchedPages, WhatRanksOfANodeInterleaveIsFetchedOnce) {
  History history(kFileBytes);
  const NodeMemory memory(shape());
  std::deque<Rank> ranks;
  for (int number = 0; number < 4; ++number) {
    ranks.push_back({rank_on(memory, history), 0, history.size()});
  }
  for (int64_t at = 0; at + 500 <= kFileBytes; at += 500) {
    EXPECT_TRUE(read_and_compare(ranks[static_cast<size_t>(at / 500 % 4)], history, {at, at + 500}));
  }
  EXPECT_LE(history.read_bytes(), kFileBytes + kFileBytes / 20);
  EXPECT_LE(history.requests(), kFileBytes / (16 << 10) + 8);
}

TEST(FetchedPages, PagesThatAreTooOldAreFetchedAgain) {
  History history(kFileBytes);
  const NodeMemory memory(shape());
  FetchedPages pages(
      {.memory = memory.get(), .most_window_bytes = 16 << 10, .alone_bytes = 8192, .lifetime_ns = 1, .read = [&](auto list) {
         return history.read(list);
       }});
  std::byte byte{};
  for (int value = 1; value < 20; ++value) {
    history.write({10, 11}, static_cast<std::byte>(value));
    ASSERT_EQ(pages.read({10, 11}, &byte).value(), 1);
    EXPECT_EQ(byte, static_cast<std::byte>(value));
  }
}

// Runs in another process, which ends there without a word.
template <typename Body>
void die_in(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
}

TEST(FetchedPages, ARankThatDiesWithTheMutexStopsNoOther) {
  History history(kFileBytes);
  const NodeMemory memory(shape());
  Rank rank{rank_on(memory, history), 0, history.size()};
  EXPECT_TRUE(read_and_compare(rank, history, {0, 100}));
  EXPECT_TRUE(read_and_compare(rank, history, {100, 200}));
  // The mutex lies first.
  die_in([&] { pthread_mutex_lock(reinterpret_cast<pthread_mutex_t*>(memory.get())); });
  history.write({0, kFileBytes}, std::byte{7});
  rank.pages->forget();
  rank.since = history.step();
  for (int64_t at = 0; at < 50'000; at += 100) {
    ASSERT_TRUE(read_and_compare(rank, history, {at, at + 100}));
  }
}

TEST(FetchedPages, ARankThatDiesWhileItFetchesStopsNoOther) {
  History history(kFileBytes);
  const NodeMemory memory(shape());
  die_in([&] {
    FetchedPages pages(
        {.memory = memory.get(), .most_window_bytes = 16 << 10, .alone_bytes = 8192, .read = [](auto) -> Result<int64_t> {
           _exit(0);
         }});
    std::byte byte{};
    static_cast<void>(pages.read({10, 11}, &byte).ok());
  });
  Rank rank{rank_on(memory, history, 8192), 0, history.size()};
  for (int64_t at = 0; at < kFileBytes - 100; at += 100) {
    ASSERT_TRUE(read_and_compare(rank, history, {at, at + 100}));
  }
}

// Children read and are killed at any moment; what this process reads is right throughout.
TEST(FetchedPages, RanksThatAreKilledAnywhereLeaveNothingWrong) {
  History history(kFileBytes);
  history.write({0, kFileBytes}, std::byte{9});
  for (int round = 0; round < 8; ++round) {
    const NodeMemory memory(shape());
    const pid_t child = fork();
    if (child == 0) {
      const auto pages = rank_on(memory, history, 4096);
      std::vector<std::byte> data(700);
      for (int64_t at = 0;; at = (at + 700) % kFileBytes) {
        static_cast<void>(pages->read({at, at + 700}, data.data()).ok());
      }
    }
    Rank rank{rank_on(memory, history, 4096), history.step(), history.size()};
    int64_t at = 0;
    for (int read = 0; read < 400; ++read, at = (at + 900) % kFileBytes) {
      ASSERT_TRUE(read_and_compare(rank, history, {at, at + 900}));
      if (read == 40 * (round + 1)) {
        kill(child, SIGKILL);
      }
    }
    waitpid(child, nullptr, 0);
  }
}

}  // namespace
}  // namespace stria::storage
