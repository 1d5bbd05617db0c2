#include "access/alone/read_ahead.hpp"

#include <gtest/gtest.h>

#include <random>

namespace stria::access {
namespace {

/// Hears only what will be read.
class ListeningFile : public storage::File {
 public:
  std::vector<ByteRange> asked;

  void will_read(ByteRange range) override { asked.push_back(range); }
  const std::string& path() const override { return path_; }
  const storage::Capabilities& capabilities() const override { return capabilities_; }
  Status write(std::span<const storage::WriteSegment>) override { return {}; }
  Result<int64_t> read(std::span<const storage::ReadSegment>) override { return int64_t{0}; }
  Result<int64_t> size() override { return int64_t{0}; }
  Status resize(int64_t) override { return {}; }
  Status preallocate(int64_t) override { return {}; }
  Status sync() override { return {}; }
  Status close() override { return {}; }

 private:
  std::string path_;
  storage::Capabilities capabilities_;
};

// Each byte of a stream in several batches is asked for once, before its batch is read; what is
// asked for and not read yet is bounded.
TEST(ReadAhead, AsksForEachByteOnceAndNotTooEarly) {
  constexpr int64_t kMiB = 1 << 20;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const int64_t streams = 1 + random() % 30;
    const int64_t bytes = 1 + random() % (2 * ReadAhead::kAheadBytes / streams);
    std::vector<Lane> lanes;
    for (int64_t s = 0; s < streams; ++s) {
      Lane lane;
      lane.streams.push_back({static_cast<int>(s), Datatype::bytes(bytes), s * 2 * bytes});
      lanes.push_back(std::move(lane));
    }
    const int64_t batch_bytes = 1 + random() % (4 * kMiB);
    ListeningFile file;
    ReadAhead ahead(file);
    int64_t read_bytes = 0;
    const Status status = for_each_batch(lanes, BatchSizes::all_alike(batch_bytes), [&](std::span<const BatchPart> batch) {
      ahead.before(batch);
      int64_t asked_bytes = 0;
      for (const ByteRange& range : file.asked) {
        asked_bytes += range.size();
      }
      for (const BatchPart& part : batch) {
        const bool whole = part.begin == 0 && part.end == bytes;
        int64_t covered = 0;
        for (const ByteRange& range : file.asked) {
          const int64_t from = part.stream->displacement;
          covered += std::max<int64_t>(std::min(range.end, from + part.end) - std::max(range.begin, from + part.begin), 0);
        }
        EXPECT_EQ(covered, whole ? 0 : part.end - part.begin) << "seed " << seed;
        read_bytes += part.end - part.begin;
      }
      const int64_t bound = std::max(ReadAhead::kAheadBytes, 2 * streams * ReadAhead::kLeastStretchBytes);
      EXPECT_LE(asked_bytes - read_bytes, bound) << "seed " << seed;
      return Status();
    });
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(read_bytes, streams * bytes);
  }
}

TEST(ReadAhead, LeavesOutStretchesThatAreMostlyGaps) {
  for (const int64_t stride : {100, 190, 300}) {
    Lane lane;
    lane.streams.push_back({0, Datatype::vector(10'000, 100, stride, Datatype::bytes(1)).value(), 0});
    ListeningFile file;
    ReadAhead ahead(file);
    const BatchPart part{lane.streams.data(), 0, 1000};
    ahead.before(std::span(&part, 1));
    EXPECT_EQ(file.asked.empty(), stride == 300) << stride;
  }
}

}  // namespace
}  // namespace stria::access
