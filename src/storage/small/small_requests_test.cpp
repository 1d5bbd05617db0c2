// Ranks that gather small requests of one file, beside a file of bytes that is written at once.
#include "storage/small/small_requests.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>

#include "comm/private_memory.hpp"
#include "support/rounds.hpp"

namespace stria::storage {
namespace {

constexpr int64_t kMemoryBytes = SmallRequests::kLeastMemoryBytes;
constexpr int64_t kStripeBytes = 16 << 10;
constexpr int64_t kFetchedBytes = 512 << 10;  // the bytes of the node
constexpr int64_t kWindowBytes = 128 << 10;

/// Says what all ranks reach. A byte belongs to one rank, and no other may ever write it.
struct Store {
  std::vector<std::byte> bytes;
  int64_t requests = 0;
  int64_t fails_at = -1;  ///< the request that fails
  int failures = 0;

  bool fails() {
    const bool now = requests++ == fails_at;
    failures += now ? 1 : 0;
    return now;
  }
};

int owner_of(int64_t offset, int ranks) {
  return static_cast<int>((offset / 48 * 2654435761U >> 7) % static_cast<unsigned>(ranks));
}

struct Rank {
  int number;
  std::vector<std::byte> seen;  ///< the file as this rank must see its own bytes
  std::unique_ptr<SmallRequests> small;
};

/// Some ranks and their store.
class Job {
 public:
  explicit Job(int ranks) : fetched_(PrivateMemory::allocate(FetchedPages::memory_bytes(kShape)).value()) {
    FetchedPages::prepare(fetched_.bytes().data(), kShape);
    for (int number = 0; number < ranks; ++number) {
      ranks_.push_back({number, {}, nullptr});
      ranks_.back().small = std::make_unique<SmallRequests>(options_of(number));
    }
  }

  Store& store() { return store_; }
  int size() const { return static_cast<int>(ranks_.size()); }
  Rank& rank(int number) { return ranks_[static_cast<size_t>(number)]; }
  int64_t file_bytes() const { return static_cast<int64_t>(truth_.size()); }
  const std::vector<std::byte>& truth() const { return truth_; }
  int errors() const { return errors_; }

  /// Writes those bytes of a range that belong to the rank, piece by piece.
  void write(int number, ByteRange range, std::byte value) {
    for (int64_t begin = range.begin; begin < range.end;) {
      int64_t end = begin;
      while (end < range.end && owner_of(end, size()) == number) {
        ++end;
      }
      if (end > begin) {
        write_piece(number, {begin, end}, value);
      }
      begin = end + 1;
    }
  }

  /// Reads, and compares the bytes that the rank has written itself.
  void read(int number, ByteRange range) {
    std::vector<std::byte> data(static_cast<size_t>(range.size()), std::byte{0xEE});
    Status late;
    const auto bytes = rank(number).small->read(range.begin, data, late);
    note(late);
    note(bytes.status());
    if (store_.failures > 0 || !bytes.ok()) {
      return;
    }
    const std::vector<std::byte>& seen = rank(number).seen;
    const auto own_end = static_cast<int64_t>(seen.size());
    int64_t wrong = -1;
    EXPECT_GE(range.begin + *bytes, std::min(range.end, own_end));
    for (int64_t at = range.begin; at < range.begin + *bytes; ++at) {
      if (at < own_end && owner_of(at, size()) == number) {
        wrong = data[static_cast<size_t>(at - range.begin)] != seen[static_cast<size_t>(at)] ? at : wrong;
      }
    }
    ASSERT_EQ(wrong, -1) << "isn't what the rank has written";
    const auto is_untouched = [](std::byte value) { return value == std::byte{0xEE}; };
    ASSERT_TRUE(std::all_of(data.begin() + *bytes, data.end(), is_untouched)) << "memory past the end was touched";
  }

  /// Does what programs do: sync, barrier, sync. Afterwards every rank sees every byte.
  void sync() {
    for (Rank& rank : ranks_) {
      note(rank.small->write_out());
    }
    for (Rank& rank : ranks_) {
      rank.small->forget();
      EXPECT_FALSE(rank.small->keeps());
    }
    if (store_.failures == 0) {
      ASSERT_EQ(store_.bytes, truth_);
    }
  }

  /// Rank `number` ends without a word.
  void kill(int number) { rank(number).small = std::make_unique<SmallRequests>(options_of(number)); }

 private:
  static inline const FetchedPages::Shape kShape = FetchedPages::shape_for(kStripeBytes, kFetchedBytes);

  SmallRequests::Options options_of(int number) {
    return {.stripe_bytes = kStripeBytes,
            .memory_bytes = kMemoryBytes,
            .fetched =
                std::make_unique<FetchedPages>(FetchedPages::Options{.memory = fetched_.bytes().data(),
                                                                     .most_window_bytes = kWindowBytes,
                                                                     .read = [this](auto list) { return read_store(list); }}),
            .write = [this, number](auto list) { return write_store(number, list); },
            .read = [this](auto list) { return read_store(list); }};
  }

  Status write_store(int number, std::span<const WriteSegment> list) {
    if (store_.fails()) {
      return Status(ErrorCode::kNoSpace, "the store is full");
    }
    int64_t before = -1;
    for (const WriteSegment& segment : list) {
      EXPECT_GT(segment.offset, before) << "pieces are sorted, and don't touch";
      before = segment.offset + segment.bytes - 1;
      for (int64_t i = 0; i < segment.bytes; ++i) {
        EXPECT_EQ(owner_of(segment.offset + i, size()), number) << "a byte of another rank is written";
      }
      const auto end = static_cast<size_t>(segment.offset + segment.bytes);
      store_.bytes.resize(std::max(store_.bytes.size(), end));
      std::copy_n(segment.data, segment.bytes, store_.bytes.begin() + segment.offset);
    }
    return {};
  }

  Result<int64_t> read_store(std::span<const ReadSegment> list) {
    if (store_.fails()) {
      return Status(ErrorCode::kIo, "the store is gone");
    }
    int64_t all = 0;
    for (const ReadSegment& segment : list) {
      const int64_t left = static_cast<int64_t>(store_.bytes.size()) - segment.offset;
      const int64_t bytes = std::clamp<int64_t>(left, 0, segment.bytes);
      std::copy_n(store_.bytes.begin() + (bytes > 0 ? segment.offset : 0), bytes, segment.data);
      all += bytes;
    }
    return all;
  }

  static void put(std::vector<std::byte>& file, ByteRange range, std::byte value) {
    file.resize(std::max(file.size(), static_cast<size_t>(range.end)));
    std::fill(file.begin() + range.begin, file.begin() + range.end, value);
  }

  void write_piece(int number, ByteRange range, std::byte value) {
    const std::vector<std::byte> data(static_cast<size_t>(range.size()), value);
    put(truth_, range, value);
    put(rank(number).seen, range, value);
    Status late;
    note(rank(number).small->write(range.begin, data, late));
    note(late);
    EXPECT_LE(rank(number).small->memory_bytes(), kMemoryBytes);
  }

  void note(const Status& status) { errors_ += status.ok() ? 0 : 1; }

  Store store_;
  PrivateMemory fetched_;  // what one node has fetched
  std::deque<Rank> ranks_;
  std::vector<std::byte> truth_;
  int errors_ = 0;
};

/// Accesses in a row, at random places, of sizes around the limits.
class Schedule {
 public:
  explicit Schedule(unsigned seed) : random_(seed) {}

  void run(Job& job, int steps) {
    for (int step = 0; step < steps; ++step) {
      const int number = below(job.size());
      switch (below(20)) {
        case 0:
          job.sync();
          break;
        case 1:
          at_ = below(kFileBytes);
          break;
        case 2:
          job.write(number, {at_, at_ + below(2 * SmallRequests::kLargestBytes)}, value());
          break;
        case 3:
          job.read(number, {at_, at_ + below(2 * SmallRequests::kLargestBytes)});
          break;
        default:
          one(job, number);
      }
      if (::testing::Test::HasFatalFailure()) {
        return;
      }
    }
  }

 private:
  static constexpr int kFileBytes = 600'000;

  void one(Job& job, int number) {
    const int64_t bytes = 1 + below(1500);
    if (below(2) == 0) {
      job.write(number, {at_, at_ + bytes}, value());
    } else {
      job.read(number, {at_, at_ + bytes});
    }
    at_ = (at_ + bytes + below(3) * below(500)) % kFileBytes;
  }
  std::byte value() { return static_cast<std::byte>(1 + below(200)); }
  int below(int64_t end) { return static_cast<int>(random_() % static_cast<uint64_t>(end)); }

  std::mt19937_64 random_;
  int64_t at_ = 0;
};

TEST(SmallRequests, RandomSchedulesEndWithTheBytesOfAnOracle) {
  for (const int ranks : {1, 2, 3, 7}) {
    for (unsigned seed = 0; seed < rounds(6u); ++seed) {
      SCOPED_TRACE("ranks " + std::to_string(ranks) + ", seed " + std::to_string(seed));
      Job job(ranks);
      Schedule(seed).run(job, 1500);
      job.sync();
      ASSERT_FALSE(HasFailure());
      EXPECT_EQ(job.errors(), 0);
    }
  }
}

TEST(SmallRequests, NoFailureIsLost) {
  for (int64_t request = 0; request < 60; request += 60 / rounds(60)) {
    SCOPED_TRACE("request " + std::to_string(request));
    Job job(3);
    job.store().fails_at = request;
    Schedule(7).run(job, 600);
    job.sync();
    ASSERT_EQ(job.store().failures, 1);
    // A read ahead that fails is tried again, as long as it was asked for.
    const int read_again = job.errors() == 0 ? 1 : 0;
    EXPECT_EQ(job.errors() + read_again, 1);
    if (read_again == 1) {
      EXPECT_EQ(job.store().bytes, job.truth());
    }
  }
}

TEST(SmallRequests, AKilledRankLosesNothingThatWasSynced) {
  Job job(3);
  job.write(0, {0, 50'000}, std::byte{1});
  job.write(1, {0, 50'000}, std::byte{1});
  job.write(2, {0, 50'000}, std::byte{1});
  job.sync();
  job.write(0, {0, 50'000}, std::byte{2});
  job.write(1, {0, 50'000}, std::byte{2});
  job.kill(0);
  EXPECT_TRUE(job.rank(1).small->write_out().ok());
  for (int64_t at = 0; at < 50'000; ++at) {
    const std::byte expected{owner_of(at, 3) == 1 ? uint8_t{2} : uint8_t{1}};
    ASSERT_EQ(job.store().bytes[static_cast<size_t>(at)], expected) << at;
  }
}

TEST(SmallRequests, SequentialAccessesMakeFewRequests) {
  constexpr int64_t kBytes = 4 << 20;
  Job job(1);
  for (int64_t at = 0; at < kBytes; at += 1024) {
    job.write(0, {at, at + 1024}, std::byte{static_cast<uint8_t>(at >> 10)});
  }
  job.sync();
  EXPECT_LE(job.store().requests, kBytes / kMemoryBytes + 1);
  const int64_t written = job.store().requests;
  for (int64_t at = 0; at < kBytes; at += 1024) {
    job.read(0, {at, at + 1024});
  }
  EXPECT_LE(job.store().requests - written, kBytes / kWindowBytes + 2);
}

TEST(SmallRequests, HolesAndTheEndOfTheFileAreThoseOfTheStore) {
  Job job(1);
  job.write(0, {0, 100}, std::byte{1});
  job.read(0, {0, 50});
  job.read(0, {50, 200});
  job.write(0, {5000, 5010}, std::byte{2});
  std::vector<std::byte> data(6000, std::byte{9});
  Status late;
  EXPECT_EQ(job.rank(0).small->read(100, data, late).value(), 4910);
  EXPECT_EQ(data[0], std::byte{0});
  EXPECT_EQ(data[4909], std::byte{2});
  EXPECT_EQ(data[4910], std::byte{9});
}

}  // namespace
}  // namespace stria::storage
