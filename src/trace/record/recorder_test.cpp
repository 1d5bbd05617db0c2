// Tests what a recorder without a file keeps in memory, and how it reports the rest.
#include "trace/record/recorder.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "trace/events/kinds.hpp"
#include "trace/format/trace_file.hpp"

namespace stria::trace {
namespace {

TEST(Recorder, CountsWhatFindsNoRoom) {
  constexpr int64_t kBatch = 1000;
  constexpr int64_t kBatches = 1600;  // 77 MB, of which 64 MiB are kept
  Recorder recorder;
  RankHeader header;
  header.run_id = 1;
  header.rank_count = 1;
  header.clock_ns = recorder.clock().begin_ns();
  header.unix_ns = recorder.clock().begin_unix_ns();
  recorder.identify(header);
  std::vector<Record> records(kBatch);
  uint32_t id = 0;
  for (int64_t batch = 0; batch < kBatches; ++batch) {
    for (Record& record : records) {
      record.begin_ns = record.end_ns = recorder.clock().begin_ns();
      record.id = ++id;
      record.kind = kind(BuiltIn::kStorageWrite).id;
    }
    recorder.append_records(0, records);
  }
  recorder.set_fact(0, "method", "none");  // stated after the room was used up
  recorder.end_part();
  EXPECT_GT(recorder.dropped(), 0);
  EXPECT_EQ(recorder.dropped() % kBatch, 0);

  std::vector<std::byte> bytes;
  append_header(bytes);
  auto part = recorder.read_part(0, int64_t{1} << 30);
  ASSERT_TRUE(part.ok());
  bytes.insert(bytes.end(), part->begin(), part->end());
  auto trace = TraceFile::parse(bytes);
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  EXPECT_TRUE(trace->ranks[0].complete);
  EXPECT_EQ(trace->ranks[0].dropped, recorder.dropped());
  EXPECT_EQ(static_cast<int64_t>(trace->events.size()), kBatch * kBatches - recorder.dropped());
  EXPECT_EQ(trace->fact(-1, "method"), "none");
}

}  // namespace
}  // namespace stria::trace
