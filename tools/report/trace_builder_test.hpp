// Traces for the tests of the report, and what the report says of them.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "report/findings.hpp"
#include "report/storage_limit.hpp"
#include "trace/events/kinds.hpp"
#include "trace/format/part.hpp"

namespace stria::tool {

using trace::Counter;
using trace::TraceFile;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kMiB = 1 << 20;

// Builds a run of `ranks` ranks that takes a second.
class TraceBuilder {
 public:
  explicit TraceBuilder(int ranks) : ranks_(ranks), dropped_(static_cast<size_t>(ranks), 0) {}

  TraceBuilder& count(int rank, Counter counter, int64_t value, uint32_t file = 1) {
    counters_[{rank, file}].emplace_back(static_cast<uint32_t>(counter) + 1, value);
    most_files_ = std::max(most_files_, file);
    return *this;
  }
  // Counts the same on every rank.
  TraceBuilder& count_all(Counter counter, int64_t value, uint32_t file = 1) {
    for (int rank = 0; rank < ranks_; ++rank) {
      count(rank, counter, value, file);
    }
    return *this;
  }
  TraceBuilder& fact(const std::string& key, const std::string& value) {
    facts_.push_back({1, key, value});
    return *this;
  }
  TraceBuilder& span(int rank, trace::BuiltIn kind, int64_t begin_ms, int64_t end_ms, int64_t bytes = -1) {
    trace::Record record;
    record.begin_ns = kBegin + begin_ms * kMs;
    record.end_ns = kBegin + end_ms * kMs;
    record.kind = static_cast<uint16_t>(kind);
    record.id = next_id_++;
    record.bytes = bytes;
    records_[rank].push_back(record);
    return *this;
  }
  // Adds a kind that is not Stria's.
  TraceBuilder& kind(const std::string& name, trace::Layer layer) {
    const auto id = static_cast<uint32_t>(trace::kBuiltInCount) + static_cast<uint32_t>(kinds_.size());
    kinds_.push_back({.table = trace::Table::kKind, .id = id, .text = name, .layer = layer});
    return *this;
  }
  trace::BuiltIn added(size_t index) const { return static_cast<trace::BuiltIn>(kinds_[index].id); }
  // Puts rank 0's span number `index` inside the one with `id`.
  TraceBuilder& inside(size_t index, uint32_t id) {
    records_[0][index].parent = id;
    return *this;
  }
  // Puts the last span of a rank inside the one `before` it.
  TraceBuilder& last_inside(int rank, size_t before) {
    std::vector<trace::Record>& records = records_[rank];
    records.back().parent = records[records.size() - 1 - before].id;
    return *this;
  }
  // Puts the last span of a rank on its other thread, as that which commits in the background.
  TraceBuilder& last_on_other_thread(int rank) {
    others_[rank].push_back(records_[rank].back());
    records_[rank].pop_back();
    return *this;
  }
  TraceBuilder& dropped(int rank, uint64_t records) {
    dropped_[static_cast<size_t>(rank)] = records;
    return *this;
  }

  TraceFile build() const {
    std::vector<std::byte> bytes;
    trace::append_header(bytes);
    for (int rank = 0; rank < ranks_; ++rank) {
      append_part(rank, bytes);
    }
    return TraceFile::parse(bytes).value();
  }

 private:
  static constexpr int64_t kBegin = 1000 * kMs;

  void append_part(int rank, std::vector<std::byte>& bytes) const {
    trace::RankHeader header;
    header.run_id = 1;
    header.rank = rank;
    header.rank_count = ranks_;
    header.node = 0;
    header.clock_ns = kBegin;
    header.unix_ns = 1'700'000'000'000 * kMs;
    header.level = 4;
    header.host = "node0";
    header.program = "program";
    trace::append(bytes, header);
    std::vector<trace::Name> names;
    uint32_t id = 0;
    for (const trace::KindInfo& kind : trace::built_in_kinds()) {
      names.push_back({trace::Table::kKind, id++, kind.name, kind.layer, kind.detail, kind.overlaps});
    }
    names.insert(names.end(), kinds_.begin(), kinds_.end());
    for (uint32_t counter = 0; counter < trace::kCounterCount; ++counter) {
      names.push_back({trace::Table::kCounter, counter + 1, trace::counter_name(static_cast<Counter>(counter))});
    }
    for (uint32_t file = 1; file <= most_files_; ++file) {
      names.push_back({trace::Table::kFile, file, "file" + std::to_string(file)});
    }
    trace::append(bytes, names);
    if (records_.contains(rank)) {
      trace::append(bytes, 0, records_.at(rank));
    }
    if (others_.contains(rank)) {
      trace::append(bytes, 1, others_.at(rank));
    }
    std::vector<trace::CounterValues> sets;
    for (const auto& [key, values] : counters_) {
      if (key.first == rank) {
        sets.push_back({key.second, values});
      }
    }
    trace::append(bytes, sets);
    if (rank == 0) {
      trace::append(bytes, facts_);
    }
    trace::append(bytes, trace::EndOfPart{kBegin + 1000 * kMs, dropped_[static_cast<size_t>(rank)]});
  }

  int ranks_;
  uint32_t most_files_ = 1;
  uint32_t next_id_ = 1;
  std::map<std::pair<int, uint32_t>, std::vector<std::pair<uint32_t, int64_t>>> counters_;
  std::map<int, std::vector<trace::Record>> records_, others_;
  std::vector<trace::Name> kinds_;
  std::vector<trace::Fact> facts_;
  std::vector<uint64_t> dropped_;
};

inline Counter bin(Counter first, int number) {
  return static_cast<Counter>(static_cast<int>(first) + number);
}

// Makes four ranks that write 64 MiB each in requests of 16 MiB, with one commit and in balance:
// there is nothing to find.
inline TraceBuilder good_run() {
  return TraceBuilder(4)
      .count_all(Counter::kOpens, 1)
      .count_all(Counter::kPuts, 24)
      .count_all(Counter::kCommits, 1)
      .count_all(Counter::kBytesPut, 64 * kMiB)
      .count_all(Counter::kBytesWritten, 64 * kMiB)
      .count_all(Counter::kWriteRequests, 4)
      .count_all(Counter::kWritePieces, 4)
      .count_all(Counter::kSequentialWrites, 4)
      .count_all(bin(Counter::kWriteSizes0, 7), 4)
      .count_all(Counter::kAlignmentBytes, kMiB)
      .count_all(Counter::kPackNs, 20 * kMs)
      .count_all(Counter::kWriteNs, 60 * kMs)
      .count_all(Counter::kSyncNs, 10 * kMs);
}

inline std::string advice_of(const TraceBuilder& builder, const std::string& rule) {
  const TraceFile trace = builder.build();
  for (const Finding& finding : find(RunDigest(trace), StorageLimit())) {
    if (finding.rule == rule) {
      return finding.advice;
    }
  }
  return "";
}

inline std::set<std::string> rules_of(const TraceBuilder& builder, std::vector<Finding>* findings = nullptr) {
  const TraceFile trace = builder.build();
  const RunDigest run(trace);
  const std::vector<Finding> found = find(run, given_limit(3000));
  std::set<std::string> names;
  for (const Finding& finding : found) {
    names.insert(finding.rule);
  }
  if (findings != nullptr) {
    *findings = found;
  }
  return names;
}

inline std::map<std::string, double> parts_of(const TraceFile& trace) {
  std::map<std::string, double> seconds;
  for (const TimeShare& share : RunDigest(trace).breakdown()) {
    seconds[share.name] = share.seconds;
  }
  return seconds;
}

}  // namespace stria::tool
