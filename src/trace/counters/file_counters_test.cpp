// The counters of random requests are those of a naive count over the list of all pieces.
#include "trace/counters/file_counters.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "trace/events/ticks.hpp"

namespace stria::trace {
namespace {

struct Segment {
  int64_t offset = 0;
  int64_t bytes = 0;
};

constexpr int64_t kUnit = 4096;

/// The pieces of one direction, counted one by one.
struct Naive {
  // The pieces are in the order of the requests; neighbours within a request are joined.
  std::vector<Segment> pieces;
  int64_t requests = 0;
  int64_t most_pieces = 0;

  void request(const std::vector<Segment>& segments) {
    std::vector<Segment> joined;
    for (const Segment& segment : segments) {
      if (!joined.empty() && joined.back().offset + joined.back().bytes == segment.offset) {
        joined.back().bytes += segment.bytes;
      } else {
        joined.push_back(segment);
      }
    }
    std::erase_if(joined, [](const Segment& piece) { return piece.bytes == 0; });
    ++requests;
    most_pieces = std::max(most_pieces, static_cast<int64_t>(joined.size()));
    pieces.insert(pieces.end(), joined.begin(), joined.end());
  }
};

std::map<int64_t, int64_t> counts_of(const std::vector<int64_t>& values) {
  std::map<int64_t, int64_t> counts;
  for (const int64_t value : values) {
    ++counts[value];
  }
  return counts;
}

// Makes a request of segments of a few sizes at a few distances, in random order, with empty
// segments and neighbours among them.
std::vector<Segment> random_request(std::mt19937& random, int64_t& at) {
  constexpr std::array<int64_t, 5> kSizes = {0, 100, 101, 4096, 1 << 20};
  constexpr std::array<int64_t, 4> kGaps = {0, 8, 4096, -6000};
  std::vector<Segment> segments(1 + random() % 6);
  for (Segment& segment : segments) {
    segment = {std::max<int64_t>(at, 0), kSizes[random() % kSizes.size()]};
    at = segment.offset + segment.bytes + kGaps[random() % kGaps.size()];
  }
  return segments;
}

TEST(FileCounters, AreThoseOfANaiveCount) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    FileCounters counters;
    counters.raise(Counter::kAlignmentBytes, kUnit);
    std::array<Naive, 2> naive;
    int64_t at = 0;
    for (int i = 0; i < 40; ++i) {
      const bool write = random() % 3 > 0;
      const std::vector<Segment> segments = random_request(random, at);
      counters.request(write ? Direction::kWrite : Direction::kRead, std::span<const Segment>(segments), i);
      naive[write ? 1 : 0].request(segments);
    }
    const auto values = counters.values();
    auto of = [&values](Counter counter) { return values[static_cast<size_t>(counter)]; };
    for (const bool write : {false, true}) {
      const Naive& own = naive[write ? 1 : 0];
      int64_t bytes = 0, end = 0, consecutive = 0, sequential = 0, strided = 0, unaligned = 0, stride = 0;
      std::array<int64_t, kSizeBinCount> sizes{};
      for (size_t i = 0; i < own.pieces.size(); ++i) {
        const Segment& piece = own.pieces[i];
        bytes += piece.bytes;
        end = std::max(end, piece.offset + piece.bytes);
        unaligned += piece.offset % kUnit != 0 ? 1 : 0;
        size_t bin = 0;
        while (bin < kSizeBinEnds.size() && piece.bytes > kSizeBinEnds[bin]) {
          ++bin;
        }
        ++sizes[bin];
        if (i > 0) {
          const Segment& before = own.pieces[i - 1];
          consecutive += piece.offset == before.offset + before.bytes ? 1 : 0;
          sequential += piece.offset >= before.offset + before.bytes ? 1 : 0;
          strided += piece.offset - before.offset == stride ? 1 : 0;
          stride = piece.offset - before.offset;
        }
      }
      EXPECT_EQ(of(write ? Counter::kWriteRequests : Counter::kReadRequests), own.requests);
      EXPECT_EQ(of(write ? Counter::kWritePieces : Counter::kReadPieces), static_cast<int64_t>(own.pieces.size()));
      EXPECT_EQ(of(write ? Counter::kBytesWritten : Counter::kBytesRead), bytes);
      EXPECT_EQ(of(write ? Counter::kMaxWriteEnd : Counter::kMaxReadEnd), end);
      EXPECT_EQ(of(write ? Counter::kConsecutiveWrites : Counter::kConsecutiveReads), consecutive);
      EXPECT_EQ(of(write ? Counter::kSequentialWrites : Counter::kSequentialReads), sequential);
      EXPECT_EQ(of(write ? Counter::kStridedWrites : Counter::kStridedReads), strided);
      EXPECT_EQ(of(write ? Counter::kUnalignedWrites : Counter::kUnalignedReads), unaligned);
      EXPECT_EQ(of(write ? Counter::kMaxPiecesOfWrite : Counter::kMaxPiecesOfRead), own.most_pieces);
      const auto first = static_cast<size_t>(write ? Counter::kWriteSizes0 : Counter::kReadSizes0);
      for (size_t bin = 0; bin < sizes.size(); ++bin) {
        EXPECT_EQ(values[first + bin], sizes[bin]) << size_bin_name(static_cast<int>(bin));
      }
    }
  }
}

TEST(FileCounters, CommonSizesAreExactWhileTheyAreFew) {
  FileCounters counters;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t at = 0;
  for (int i = 0; i < 1000; ++i) {
    const Segment segment{at, i % 10 == 0 ? 4096 : i % 3 == 0 ? 512 : 8};
    counters.request(Direction::kRead, std::span<const Segment>(&segment, 1), 0);
    sizes.push_back(segment.bytes);
    const int64_t stride = i % 2 == 0 ? 5000 : 10'000;
    if (i + 1 < 1000) {
      strides.push_back(stride);
    }
    at += stride;
  }
  const auto values = counters.values();
  auto pairs = [&values](Counter first) {
    std::map<int64_t, int64_t> found;
    for (size_t i = 0; i < 4; ++i) {
      const size_t slot = static_cast<size_t>(first) + 2 * i;
      if (values[slot + 1] > 0) {
        found[values[slot]] = values[slot + 1];
      }
    }
    return found;
  };
  EXPECT_EQ(pairs(Counter::kCommonSize1), counts_of(sizes));
  EXPECT_EQ(pairs(Counter::kCommonStride1), counts_of(strides));
}

TEST(FileCounters, KeepTheSlowestRequest) {
  FileCounters counters;
  const Segment segment{0, 8};
  const int64_t begin = ticks();
  const int64_t begin_ns = monotonic_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  counters.request(Direction::kWrite, std::span<const Segment>(&segment, 1), ticks() - begin);
  counters.request(Direction::kWrite, std::span<const Segment>(&segment, 1), 1);
  const int64_t passed_ns = monotonic_ns() - begin_ns;
  auto slowest = [&](Counter counter) { return counters.values()[static_cast<size_t>(counter)]; };
  EXPECT_GE(slowest(Counter::kMaxWriteNs), 19'900'000);
  EXPECT_LE(slowest(Counter::kMaxWriteNs), passed_ns + passed_ns / 100);
  EXPECT_EQ(slowest(Counter::kMaxReadNs), 0);
  const int64_t before = slowest(Counter::kMaxWriteNs);
  counters.finish_request(Direction::kWrite, 2 * (ticks() - begin));
  EXPECT_GT(slowest(Counter::kMaxWriteNs), before);
  EXPECT_EQ(slowest(Counter::kWriteRequests), 2);
}

TEST(FileCounters, ThreadsLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 5000;
  FileCounters counters;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&counters] {
      const Segment segment{0, 10};
      for (int call = 0; call < kCalls; ++call) {
        counters.request(Direction::kWrite, std::span<const Segment>(&segment, 1), 1);
        counters.call(Direction::kWrite, 10);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const auto values = counters.values();
  EXPECT_EQ(values[static_cast<size_t>(Counter::kWriteRequests)], kThreads * kCalls);
  EXPECT_EQ(values[static_cast<size_t>(Counter::kBytesWritten)], kThreads * kCalls * 10);
  EXPECT_EQ(values[static_cast<size_t>(Counter::kPuts)], kThreads * kCalls);
  EXPECT_EQ(values[static_cast<size_t>(Counter::kBytesPut)], kThreads * kCalls * 10);
  EXPECT_TRUE(counters.take_changed());
  EXPECT_FALSE(counters.take_changed());
}

}  // namespace
}  // namespace stria::trace
