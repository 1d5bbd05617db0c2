#include "trace/format/trace_file.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <random>

#include "trace/counters/counters.hpp"
#include "trace/format/part.hpp"

namespace stria::trace {
namespace {

using Bytes = std::vector<std::byte>;

RankHeader header(int rank, int ranks, int64_t clock_ns = 1000) {
  RankHeader header;
  header.run_id = 7;
  header.rank = rank;
  header.rank_count = ranks;
  header.node = rank / 2;
  header.clock_ns = clock_ns;
  header.unix_ns = 1'000'000'000;
  header.host = "node" + std::to_string(rank / 2);
  header.program = "program";
  header.command = "program --option";
  return header;
}

std::vector<Name> names(uint32_t first_id) {
  return {{Table::kKind, first_id, "put", Layer::kApp, Detail::kDataset, false},
          {Table::kKind, first_id + 1, "write", Layer::kStorage, Detail::kCount, true},
          {Table::kKind, first_id + 2, "send", Layer::kStorage, Detail::kPeer, false},
          {Table::kFile, first_id, "a.h5"},
          {Table::kDataset, first_id, "dens"},
          {Table::kCounter, first_id, "opens"}};
}

Record record(int64_t begin, int64_t end, uint32_t kind, uint32_t id, uint32_t parent, int32_t detail) {
  Record made;
  made.begin_ns = begin;
  made.end_ns = end;
  made.kind = static_cast<uint16_t>(kind);
  made.id = id;
  made.parent = parent;
  made.detail = detail;
  return made;
}

// Returns two ranks. The second numbers its names differently, and its clock is 5000 ns ahead of
// rank 0's.
Bytes two_ranks() {
  Bytes bytes;
  append_header(bytes);
  for (int rank = 0; rank < 2; ++rank) {
    const uint32_t first = rank == 0 ? 1 : 11;
    const int64_t skew = rank == 0 ? 0 : 5000;
    append(bytes, header(rank, 2, 1000 + skew));
    append(bytes, names(first));
    std::vector<Record> records = {record(skew + 1100, skew + 1200, first + 1, 2, 1, 3),
                                   record(skew + 1010, skew + 1500, first, 1, 0, static_cast<int32_t>(first)),
                                   record(skew + 1300, skew + 1300, first + 2, 3, 1, 1 - rank)};
    records[0].file = static_cast<uint16_t>(first);
    records[0].bytes = 80;
    records[0].offset = 4096;
    append(bytes, 0, records);
    if (rank == 1) {
      append(bytes, std::vector<ClockSample>{{0, 6000, -5000, 20}, {0, 7000, -5000, 10}});
    }
    append(bytes, std::vector<CounterValues>{{first, {{first, 2}}}});
    append(bytes, std::vector<Fact>{{first, "method", "list_io"}, {kNoFile, "level", "full"}});
    append(bytes, EndOfPart{2000 + skew, static_cast<uint64_t>(rank)});
  }
  return bytes;
}

TEST(TraceFile, UnitesNamesAndClocks) {
  auto trace = TraceFile::parse(two_ranks());
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  EXPECT_TRUE(trace->warnings.empty());
  ASSERT_EQ(trace->rank_count(), 2);
  EXPECT_EQ(trace->ranks[1].host, "node0");
  EXPECT_EQ(trace->ranks[1].dropped, 1);
  EXPECT_EQ(trace->ranks[1].clock_error_ns, 10);
  EXPECT_EQ(trace->ranks[0].clock_error_ns, 0);
  EXPECT_TRUE(trace->ranks[0].complete);
  EXPECT_EQ(trace->kinds.size(), 3U);
  EXPECT_EQ(trace->files, std::vector<std::string>{"a.h5"});
  EXPECT_EQ(trace->datasets, std::vector<std::string>{"dens"});
  EXPECT_EQ(trace->end_ns, 1000);
  ASSERT_EQ(trace->events.size(), 6U);
  for (size_t rank = 0; rank < 2; ++rank) {
    const Event* events = &trace->events[rank * 3];  // a parent before its children
    EXPECT_EQ(events[0].begin_ns, 10);
    EXPECT_EQ(events[0].end_ns, 500);
    EXPECT_EQ(events[0].dataset, 0);
    EXPECT_EQ(events[0].rank, static_cast<int>(rank));
    EXPECT_EQ(events[1].begin_ns, 100);
    EXPECT_EQ(events[1].parent, 1U);
    EXPECT_EQ(events[1].count, 3U);
    EXPECT_EQ(events[1].file, 0);
    EXPECT_EQ(events[1].bytes, 80);
    EXPECT_EQ(events[1].offset, 4096);
    EXPECT_EQ(events[2].peer, 1 - static_cast<int>(rank));
    EXPECT_EQ(events[2].file, -1);
  }
  ASSERT_EQ(trace->counter_sets.size(), 2U);
  EXPECT_EQ(trace->counter_sets[1].values[static_cast<size_t>(trace->counter_index("opens"))], 2);
  EXPECT_EQ(trace->fact(0, "method"), "list_io");
  EXPECT_EQ(trace->fact(-1, "level"), "full");
  EXPECT_EQ(trace->fact(0, "nothing"), "");
}

// What is left of a file is read up to its last whole section, and reported as incomplete.
TEST(TraceFile, ReadsWhatACrashLeft) {
  const Bytes whole = two_ranks();
  Bytes first_section;
  append_header(first_section);
  append(first_section, header(0, 2));
  size_t most_events = 0;
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    auto trace = TraceFile::parse(std::span(whole).first(bytes));
    if (bytes < first_section.size()) {
      EXPECT_FALSE(trace.ok()) << bytes;
      continue;
    }
    ASSERT_TRUE(trace.ok()) << bytes << " " << trace.status().message();
    EXPECT_FALSE(trace->ranks[1].complete && trace->ranks[0].complete) << bytes;
    EXPECT_GE(trace->events.size(), most_events) << bytes;
    most_events = std::max(most_events, trace->events.size());
  }
  EXPECT_EQ(most_events, 6U);
}

TEST(TraceFile, LeavesOutADamagedSection) {
  const Bytes whole = two_ranks();
  const auto good = TraceFile::parse(whole);
  size_t unnoticed = 0;
  for (size_t at = kHeaderBytes; at < whole.size(); ++at) {
    Bytes damaged = whole;
    damaged[at] ^= std::byte{0x40};
    auto trace = TraceFile::parse(damaged);
    unnoticed += trace.ok() && trace->warnings.empty() ? 1 : 0;
  }
  // Each section has four reserved bytes in its header, and a type that a later version may add.
  EXPECT_LE(unnoticed, 14U * 8U);
}

TEST(TraceFile, RefusesWhatIsNoTrace) {
  EXPECT_EQ(TraceFile::parse({}).status().code(), ErrorCode::kFormat);
  Bytes bytes;
  append_header(bytes);
  EXPECT_EQ(TraceFile::parse(bytes).status().code(), ErrorCode::kFormat);
  EXPECT_EQ(TraceFile::read("no/such.stria-trace").status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(TraceFile::read(".").status().code(), ErrorCode::kInvalidArgument);  // a directory
  bytes[8] = std::byte{2};                                                       // another version
  append(bytes, header(0, 1));
  EXPECT_EQ(TraceFile::parse(bytes).status().code(), ErrorCode::kFormat);
}

TEST(TraceFile, LeavesOutRecordsThatMakeNoSense) {
  Bytes bytes;
  append_header(bytes);
  append(bytes, header(0, 1));
  append(bytes, names(1));
  std::vector<Record> records(5, record(1000, 2000, 1, 1, 0, -1));
  records[0].kind = 9;  // no such kind
  records[1].end_ns = 500;
  records[2].file = 5;
  records[3] = record(1000, 2000, 3, 1, 0, 7);  // to a rank that doesn't exist
  append(bytes, 0, records);
  auto trace = TraceFile::parse(bytes);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->events.size(), 1U);
  EXPECT_EQ(trace->warnings.size(), 1U);
}

// docs/formats/trace.md, "Worked example".
TEST(TraceFile, WorkedExample) {
  Bytes bytes;
  append_header(bytes);
  RankHeader rank;
  rank.run_id = 7;
  rank.node = 0;
  rank.process = 12345;
  rank.clock_ns = 1000;
  rank.unix_ns = 1'000'000'000;
  rank.level = 4;
  rank.host = "n";
  rank.program = "p";
  rank.command = "p";
  append(bytes, rank);
  const size_t events_at = bytes.size();
  append(bytes, 0, std::vector<Record>{record(1000, 1500, 5, 1, 0, -1)});
  auto hex = [&bytes](size_t begin, size_t count) {
    std::string text;
    for (size_t i = begin; i < begin + count; ++i) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(bytes[i]));
      text += two;
    }
    return text;
  };
  EXPECT_EQ(hex(0, 32),
            "5354524941545243"
            "0100000000000000"
            "0100000000000000"
            "3b00000000000000");
  EXPECT_EQ(hex(40, 59),
            "0700000000000000"
            "0000000001000000"
            "0000000039300000"
            "e803000000000000"
            "00ca9a3b00000000"
            "04000000"
            "010000006e"
            "0100000070"
            "0100000070");
  EXPECT_EQ(hex(events_at, 16),
            "0300000000000000"
            "3800000000000000");
  EXPECT_EQ(hex(events_at + 24, 56),
            "0000000000000000"
            "e803000000000000"
            "dc05000000000000"
            "ffffffffffffffff"
            "ffffffffffffffff"
            "0100000000000000"
            "ffffffff05000000");
}

TEST(Counters, BinsAreDarshans) {
  EXPECT_EQ(size_bin(0), 0);
  EXPECT_EQ(size_bin(100), 0);
  EXPECT_EQ(size_bin(101), 1);
  EXPECT_EQ(size_bin(4'000'000), 5);
  EXPECT_EQ(size_bin(int64_t{1} << 40), 9);
  EXPECT_STREQ(counter_name(Counter::kOpens), "opens");
  EXPECT_STREQ(counter_name(Counter::kCommitNs), "commit_ns");
  EXPECT_STREQ(counter_name(static_cast<Counter>(static_cast<int>(Counter::kWriteSizes0) + 9)), "write_sizes_1G+");
  EXPECT_STREQ(counter_name(Counter::kCommonStride4Count), "common_stride_4_count");
}

}  // namespace
}  // namespace stria::trace
