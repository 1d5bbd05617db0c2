// Another program cuts and lengthens a file while it is read. With every method, a rank's count
// ends at the first byte that it didn't get.
#include <gtest/gtest.h>

#include "access/alone/batches.hpp"
#include "access/move.hpp"
#include "access/random_case_test.hpp"
#include "access/together/two_phase/two_phase.hpp"
#include "storage/memory/memory_driver.hpp"

namespace stria::access::test {
namespace {

constexpr const char* kCutPath = "data";

/// A handle that finds the file cut at another place about every second request.
class RestlessFile : public storage::File {
 public:
  RestlessFile(std::unique_ptr<storage::File> file, uint64_t seed) : file_(std::move(file)), random_(seed) {}
  const std::string& path() const override { return file_->path(); }
  const storage::Capabilities& capabilities() const override { return file_->capabilities(); }
  Status write(std::span<const storage::WriteSegment> segments) override { return file_->write(segments); }
  Result<int64_t> read(std::span<const storage::ReadSegment> segments) override {
    STRIA_ASSIGN_OR_RETURN(int64_t end, file_->size());
    if (random_() % 2 == 0) {
      end = static_cast<int64_t>(random_() % static_cast<uint64_t>(end + 1));
    }
    std::vector<storage::ReadSegment> left(segments.begin(), segments.end());
    for (storage::ReadSegment& segment : left) {
      segment.bytes = std::clamp<int64_t>(end - segment.offset, 0, segment.bytes);
    }
    return file_->read(left);
  }
  Result<int64_t> size() override { return file_->size(); }
  Status resize(int64_t bytes) override { return file_->resize(bytes); }
  Status preallocate(int64_t bytes) override { return file_->preallocate(bytes); }
  Status sync() override { return file_->sync(); }
  Status close() override { return file_->close(); }

 private:
  std::unique_ptr<storage::File> file_;
  std::mt19937_64 random_;
};

/// Makes a case of several rounds without a 0 in the data; memory into which nothing was read is 0.
Case make_case_without_zeros(uint64_t seed) {
  Case c = make_case(seed);
  c.plan.buffer_bytes = 512;
  c.plan.unit_bytes = std::min<int64_t>(c.plan.unit_bytes, 512);
  for (RankCase& rank : c.ranks) {
    for (size_t s = 0; s < rank.packed.size(); ++s) {
      for (size_t i = 0; i < rank.packed[s].size(); ++i) {
        rank.packed[s][i] |= std::byte{1};
        c.after[static_cast<size_t>(rank.offsets[s][i])] = rank.packed[s][i];
      }
    }
  }
  return c;
}

// Counts reads that went through the windows of a node, so that they can't be left out by chance.
int windows_used = 0;

struct Way {
  const char* name;
  std::function<Moved(Context&, const Case&, const RankCase&, StreamSink&)> read;
};

Moved moved_of(const MoveReport& report) {
  return {report.status, report.bytes};
}

Way independent(const char* name, Method method) {
  return {name, [method](Context& context, const Case&, const RankCase& rank, StreamSink& sink) {
            ResolvedHints hints = context.hints;
            hints.method = method;
            Context own{context.comm, context.file, hints, context.times};
            return moved_of(move(own, rank.lanes, Endpoint::of_read(sink), Independently()));
          }};
}

std::vector<Way> ways() {
  return {independent("multiple", Method::kMultiple),
          independent("list_io", Method::kListIo),
          independent("data_sieving", Method::kDataSieving),
          independent("hybrid", Method::kHybrid),
          {"list of batches", [](Context& context, const Case&, const RankCase& rank,
                                 StreamSink& sink) { return read_batches(context, rank.lanes, sink); }},
          {"two_phase", [](Context& context, const Case& c, const RankCase& rank,
                           StreamSink& sink) { return read_two_phase(context, c.plan, rank.lanes, sink); }},
          {"collective", [](Context& context, const Case&, const RankCase& rank, StreamSink& sink) {
             Kept kept;
             const MoveReport report = move(context, rank.lanes, Endpoint::of_read(sink), Collectively{&kept});
             windows_used += report.reason.ends_with("windows that the node shares") ? 1 : 0;
             return moved_of(report);
           }}};
}

/// Runs a case. Returns how many ranks' counts are of some of their bytes, but not of all.
int run(const Case& c, const Way& way) {
  int partial = 0;
  storage::MemoryDriver memory;
  set_content(memory, kCutPath, c.after);
  const auto report = run_simulated(c.simulation, [&](Comm& comm) {
    const RankCase& rank = c.ranks[static_cast<size_t>(comm.rank())];
    RestlessFile file(memory.open(kCutPath, {}).value(), c.seed + static_cast<uint64_t>(comm.rank()));
    PhaseTimes times;
    Context context{comm, &file, c.hints, times};
    CaseSink sink(rank);
    const Moved moved = way.read(context, c, rank, sink);
    EXPECT_TRUE(moved.status.ok()) << moved.status.message();
    EXPECT_EQ(moved.bytes, prefix_received(rank, sink.received())) << "rank " << comm.rank();
    partial += moved.bytes > 0 && moved.bytes < total_bytes(rank.lanes) ? 1 : 0;
  });
  EXPECT_TRUE(report.ok()) << report.status().message();
  return partial;
}

TEST(CutFile, CountsAreOfWhatWasGot) {
  int partial = 0;
  for (int i = 0; i < case_count(150); ++i) {
    const uint64_t seed = first_seed() + 60'000'000 + static_cast<uint64_t>(i);
    Case c = make_case_without_zeros(seed);
    for (const Way& way : ways()) {
      SCOPED_TRACE("STRIA_TEST_SEED=" + std::to_string(seed - 60'000'000) + " STRIA_TEST_CASES=1: " + way.name);
      partial += run(c, way);
      ASSERT_FALSE(HasFailure());
    }
    if (c.ranks[0].lanes.size() == 1) {  // windows of a node may serve these
      c.simulation.ranks_per_node = c.simulation.ranks;
      c.hints.method = Method::kTwoPhase;
      c.hints.aggregator_count = 0;
      SCOPED_TRACE("STRIA_TEST_SEED=" + std::to_string(seed - 60'000'000) + " STRIA_TEST_CASES=1: windows");
      partial += run(c, ways().back());
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GT(partial, case_count(150));
  EXPECT_GT(windows_used, case_count(150) / 10);
}

}  // namespace
}  // namespace stria::access::test
