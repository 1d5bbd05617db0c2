#include "tracing/imported_parts.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "base/check.hpp"
#include "report/run_digest.hpp"
#include "trace/events/kinds.hpp"
#include "trace/record/levels.hpp"

namespace stria::tool {

namespace {

using trace::Counter;
using Row = std::array<int64_t, trace::kCounterCount>;

constexpr int32_t kFirstCallKind = 2;  // a place in imported_kinds()
/// Counters whose sum a record of all ranks also knows for single ranks.
struct Group {
  std::vector<Counter> counters;
  int64_t KnownRank::*sum;
};

const std::vector<Group>& groups() {
  static const std::vector<Group> list = {{{Counter::kMetadataNs, Counter::kReadNs, Counter::kWriteNs}, &KnownRank::ns},
                                          {{Counter::kBytesRead, Counter::kBytesWritten}, &KnownRank::bytes},
                                          {{Counter::kBytesGot, Counter::kBytesPut}, &KnownRank::bytes}};
  return list;
}

/// Counts of common sizes and strides are shared out, the sizes and strides themselves are not.
bool is_shared_out(Counter counter) {
  if (counter < Counter::kCommonSize1) {
    return trace::counter_is_sum(counter);
  }
  return (static_cast<int>(counter) - static_cast<int>(Counter::kCommonSize1)) % 2 == 1;
}

Row row_of(const ImportedRecord& record) {
  Row row{};
  for (size_t i = 0; i < row.size(); ++i) {
    const auto found = record.values.find(trace::counter_name(static_cast<Counter>(i)));
    row[i] = found == record.values.end() ? 0 : found->second;
  }
  return row;
}

void add(Row& sum, const Row& row) {
  for (size_t i = 0; i < sum.size(); ++i) {
    const auto counter = static_cast<Counter>(i);
    sum[i] = is_shared_out(counter) ? sum[i] + row[i] : std::max(sum[i], row[i]);
  }
}

/// The shares of the ranks in a record of all ranks.
class Shares {
 public:
  Shares(const ImportedRecord& record, int32_t ranks) : whole_(row_of(record)), ranks_(ranks) {
    for (const KnownRank& known : record.known) {
      const bool is_new = std::none_of(known_.begin(), known_.end(), [&](const KnownRank& k) { return k.rank == known.rank; });
      // One rank remains that takes what the others leave.
      if (is_new && known.rank >= 0 && known.rank < ranks && static_cast<int32_t>(known_.size()) + 1 < ranks) {
        known_.push_back(known);
      }
    }
  }

  Row of(int32_t rank) const {
    Row row{};
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = is_shared_out(static_cast<Counter>(i)) ? even_part(rank, ranks_, whole_[i]) : whole_[i];
    }
    for (const Group& group : groups()) {
      const int64_t sum = sum_of(group);
      // What is said of single ranks must fit into the whole.
      if (sum > 0 && sum_known(group) <= sum) {
        for (const Counter counter : group.counters) {
          row[static_cast<size_t>(counter)] = part(rank, whole_[static_cast<size_t>(counter)], group, sum);
        }
      }
    }
    return row;
  }

 private:
  static int64_t even_part(int32_t place, int32_t places, int64_t whole) {
    return whole / places + (place < whole % places ? 1 : 0);
  }
  int64_t sum_of(const Group& group) const {
    int64_t sum = 0;
    for (const Counter counter : group.counters) {
      sum += whole_[static_cast<size_t>(counter)];
    }
    return sum;
  }
  int64_t sum_known(const Group& group) const {
    int64_t sum = 0;
    for (const KnownRank& known : known_) {
      sum += known.*group.sum;
    }
    return sum;
  }
  /// Returns the part of `whole`, which belongs to a group with this sum.
  int64_t part(int32_t rank, int64_t whole, const Group& group, int64_t sum) const {
    const auto part_of = [&](const KnownRank& known) {
      const double share = static_cast<double>(known.*group.sum) / static_cast<double>(sum);
      return static_cast<int64_t>(share * static_cast<double>(whole));
    };
    int32_t place = rank;
    int64_t left = whole;
    for (const KnownRank& known : known_) {
      if (known.rank == rank) {
        return part_of(known);
      }
      place -= known.rank < rank ? 1 : 0;
      left -= part_of(known);
    }
    return even_part(place, ranks_ - static_cast<int32_t>(known_.size()), left);
  }

  Row whole_;
  int32_t ranks_;
  std::vector<KnownRank> known_;
};

/// One rank's part under construction.
class Part {
 public:
  explicit Part(const ImportedRun& run) : run_(run) {}

  void count(int32_t file, const Row& row) { add(rows_[file], row); }
  void span(const ImportedSpan& span) { spans_.push_back(&span); }

  /// True where the times in phases were longer than the run.
  bool fit_times() {
    constexpr auto kFirst = static_cast<size_t>(Counter::kOpenNs), kLast = static_cast<size_t>(Counter::kCommitNs);
    double sum_ns = 0;
    for (const auto& [file, row] : rows_) {
      sum_ns += std::accumulate(row.begin() + kFirst, row.begin() + kLast + 1, 0.0);
    }
    const double factor = static_cast<double>(run_.run_ns) / sum_ns;
    if (sum_ns <= static_cast<double>(run_.run_ns)) {
      return false;
    }
    for (auto& [file, row] : rows_) {
      for (size_t i = kFirst; i <= kLast; ++i) {
        row[i] = static_cast<int64_t>(factor * static_cast<double>(row[i]));
      }
    }
    return true;
  }

  void append_to(std::vector<std::byte>& bytes, trace::RankHeader header) {
    trace::append(bytes, header);
    name_kinds();
    const std::vector<trace::Record> records = make_records();
    const std::vector<trace::CounterValues> counters = make_counters();
    std::vector<trace::Fact> facts;
    if (header.rank == 0) {
      facts.push_back({0, kImportedFrom, "a log of Darshan"});
    }
    for (const ImportedFact& fact : header.rank == 0 ? run_.facts : std::vector<ImportedFact>()) {
      facts.push_back({file_id(fact.file), fact.key, fact.value});
    }
    trace::append(bytes, names_);
    trace::append(bytes, 0, records);
    trace::append(bytes, counters);
    trace::append(bytes, facts);
    trace::append(bytes, trace::EndOfPart{.clock_ns = run_.run_ns, .dropped = 0});
  }

 private:
  void name_kinds() {
    uint32_t id = 0;
    for (const trace::KindInfo& kind : imported_kinds()) {
      names_.push_back({trace::Table::kKind, id++, kind.name, kind.layer, kind.detail, kind.overlaps});
    }
    for (int counter = 0; counter < trace::kCounterCount; ++counter) {
      names_.push_back(
          {trace::Table::kCounter, static_cast<uint32_t>(counter) + 1, trace::counter_name(static_cast<Counter>(counter))});
    }
  }

  uint32_t file_id(int32_t file) {
    const auto [found, inserted] = ids_.emplace(file, static_cast<uint32_t>(ids_.size()) + 1);
    if (inserted) {
      names_.push_back({trace::Table::kFile, found->second, run_.files[static_cast<size_t>(file)]});
    }
    return found->second;
  }

  /// The records come in order of file and begin, the calls of a file before its requests.
  std::vector<trace::Record> make_records() {
    std::stable_sort(spans_.begin(), spans_.end(), [](const ImportedSpan* a, const ImportedSpan* b) {
      return std::tuple(a->file, a->begin_ns, a->kind < kFirstCallKind) <
             std::tuple(b->file, b->begin_ns, b->kind < kFirstCallKind);
    });
    std::vector<trace::Record> records;
    const ImportedSpan* call = nullptr;  // the last that began
    uint32_t call_id = 0;
    for (const ImportedSpan* span : spans_) {
      trace::Record record{.begin_ns = span->begin_ns, .end_ns = span->end_ns, .bytes = span->bytes, .offset = span->offset};
      record.id = static_cast<uint32_t>(records.size()) + 1;
      record.kind = static_cast<uint16_t>(span->kind);
      const uint32_t file = file_id(span->file);
      record.file = file <= std::numeric_limits<uint16_t>::max() ? static_cast<uint16_t>(file) : 0;
      if (span->kind >= kFirstCallKind) {
        call = span;
        call_id = record.id;
      } else if (call != nullptr && call->file == span->file && call->end_ns >= span->end_ns) {
        record.parent = call_id;
      }
      records.push_back(record);
    }
    return records;
  }

  std::vector<trace::CounterValues> make_counters() {
    std::vector<trace::CounterValues> counters;
    for (const auto& [file, row] : rows_) {
      trace::CounterValues set{.file = file_id(file), .values = {}};
      for (size_t i = 0; i < row.size(); ++i) {
        if (row[i] != 0) {
          set.values.emplace_back(static_cast<uint32_t>(i) + 1, row[i]);
        }
      }
      counters.push_back(std::move(set));
    }
    return counters;
  }

  const ImportedRun& run_;
  std::map<int32_t, Row> rows_;  ///< by file
  std::vector<const ImportedSpan*> spans_;
  std::map<int32_t, uint32_t> ids_;
  std::vector<trace::Name> names_;
};

/// Returns a number for each host, in the order of their names.
std::map<std::string, int32_t> nodes_of(const ImportedRun& run) {
  std::map<std::string, int32_t> nodes;
  for (const auto& [rank, host] : run.hosts) {
    nodes.emplace(host, 0);
  }
  int32_t next = 0;
  for (auto& [host, node] : nodes) {
    node = next++;
  }
  return nodes;
}

void count_all(const ImportedRun& run, std::vector<Part>& parts) {
  for (const ImportedRecord& record : run.records) {
    if (record.rank != kAllRanks) {
      parts[static_cast<size_t>(record.rank)].count(record.file, row_of(record));
      continue;
    }
    const Shares shares(record, run.rank_count);
    for (int32_t rank = 0; rank < run.rank_count; ++rank) {
      parts[static_cast<size_t>(rank)].count(record.file, shares.of(rank));
    }
  }
}

}  // namespace

std::vector<trace::KindInfo> imported_kinds() {
  const auto built_in = trace::built_in_kinds();
  return {built_in[trace::kind(trace::BuiltIn::kStorageWrite).id], built_in[trace::kind(trace::BuiltIn::kStorageRead).id],
          trace::KindInfo{.name = "MPI_File_write*"}, trace::KindInfo{.name = "MPI_File_read*"}};
}

ImportedTrace trace_of(const ImportedRun& run) {
  STRIA_ASSERT(std::all_of(run.spans.begin(), run.spans.end(),
                           [&](const ImportedSpan& s) { return s.rank >= 0 && s.rank < run.rank_count; }));
  std::vector<Part> parts(static_cast<size_t>(run.rank_count), Part(run));
  count_all(run, parts);
  for (const ImportedSpan& span : run.spans) {
    parts[static_cast<size_t>(span.rank)].span(span);
  }
  const std::map<std::string, int32_t> nodes = nodes_of(run);
  trace::RankHeader header;
  header.run_id = 1;
  header.rank_count = run.rank_count;
  header.unix_ns = run.start_unix_ns;
  header.level = static_cast<uint32_t>(run.spans.empty() ? trace::Level::kCounters : trace::Level::kFull);
  header.command = run.command;
  header.program = std::filesystem::path(run.command.substr(0, run.command.find(' '))).filename();
  ImportedTrace trace;
  trace::append_header(trace.bytes);
  for (int32_t rank = 0; rank < run.rank_count; ++rank) {
    const auto host = run.hosts.find(rank);
    header.rank = rank;
    header.host = host == run.hosts.end() ? "" : host->second;
    header.node = host == run.hosts.end() ? -1 : nodes.at(host->second);
    trace.overlapping_ranks += parts[static_cast<size_t>(rank)].fit_times() ? 1 : 0;
    parts[static_cast<size_t>(rank)].append_to(trace.bytes, header);
  }
  return trace;
}

}  // namespace stria::tool
