#include "trace/format/trace_file.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <system_error>
#include <tuple>
#include <unordered_map>

#include "trace/format/clocks.hpp"
#include "trace/format/message_order.hpp"
#include "trace/format/part_reader.hpp"

namespace stria::trace {

namespace {

// A file may claim anything. These limits exceed any machine, and keep within the memory of any.
constexpr int32_t kRankCountMax = 1 << 18;
constexpr int64_t kTimeMaxNs = int64_t{1} << 61;
constexpr int64_t kValueMax = int64_t{1} << 56;  // the most of offsets, lengths and counters
constexpr size_t kCounterNamesMax = 1024;

bool is_time(int64_t ns) {
  return ns > -kTimeMaxNs && ns < kTimeMaxNs;
}

/// The indices of names, which several ranks use under numbers of their own.
class NameIndices {
 public:
  explicit NameIndices(std::vector<std::string>& names) : names_(names) {}
  int index(const std::string& name) {
    auto [found, inserted] = indices_.emplace(name, static_cast<int>(names_.size()));
    if (inserted) {
      names_.push_back(name);
    }
    return found->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, int> indices_;
};

using Ids = std::unordered_map<uint32_t, int>;

/// Holds what has been read so far of the current part.
struct Part {
  bool usable = false;
  int32_t rank = 0;
  /// Each maps this part's number of a name to its index in the trace.
  Ids kinds, files, datasets, counters;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes), files_(trace_.files), datasets_(trace_.datasets) {}

  Result<TraceFile> run() {
    if (!has_header(bytes_)) {
      return Status(ErrorCode::kFormat, "not a Stria trace of version " + std::to_string(kVersion));
    }
    size_t at = kHeaderBytes;
    while (at < bytes_.size()) {
      const auto section = section_at(bytes_, at);
      if (!section) {
        warn("cut off at byte " + std::to_string(at) + " of " + std::to_string(bytes_.size()));
        break;
      }
      at += kSectionHeaderBytes + section->payload.size();
      if (!section->intact || !take(*section)) {
        warn("the section at byte " + std::to_string(section->begin) + " is damaged and left out");
      }
    }
    if (root_ < 0) {
      return Status(ErrorCode::kFormat, "a trace without a single rank");
    }
    finish();
    return std::move(trace_);
  }

 private:
  void warn(std::string text) {
    constexpr size_t kWarningsMax = 100;
    if (trace_.warnings.size() < kWarningsMax) {
      trace_.warnings.push_back(std::move(text));
    }
  }

  bool take(const SectionView& section) {
    if (static_cast<Section>(section.type) == Section::kRank) {
      return begin_part(section.payload);
    }
    if (!part_.usable) {
      return true;  // was reported before
    }
    switch (static_cast<Section>(section.type)) {
      case Section::kNames:
        return take_names(section.payload);
      case Section::kEvents:
        return take_events(section.payload);
      case Section::kClock:
        return take_clock(section.payload);
      case Section::kCounters:
        return take_counters(section.payload);
      case Section::kFacts:
        return take_facts(section.payload);
      case Section::kEnd:
        return take_end(section.payload);
      default:
        return true;  // It comes from a later version.
    }
  }

  bool begin_part(std::span<const std::byte> payload) {
    part_ = Part();
    const auto header = decode_rank(payload);
    if (!header || header->rank_count < 1 || header->rank_count > kRankCountMax || header->rank < 0 ||
        header->rank >= header->rank_count || !is_time(header->clock_ns) || !is_time(header->unix_ns)) {
      return false;
    }
    if (root_ >= 0 && (header->run_id != run_id_ || header->rank_count != trace_.rank_count())) {
      warn("a part of another run is left out");
      return true;
    }
    trace_.ranks.resize(static_cast<size_t>(header->rank_count));
    clocks_.resize(trace_.ranks.size());
    RankInfo& info = trace_.ranks[static_cast<size_t>(header->rank)];
    if (info.present) {
      warn("a second part of rank " + std::to_string(header->rank) + " is left out");
      return true;
    }
    run_id_ = header->run_id;
    root_ = root_ < 0 ? header->rank : std::min(root_, header->rank);
    info.present = true;
    info.node = std::clamp(header->node, -1, kRankCountMax);
    info.host = header->host;
    info.begin_ns = header->clock_ns;
    info.end_ns = header->clock_ns;
    if (root_ == header->rank) {
      trace_.program = header->program;
      trace_.command = header->command;
    }
    trace_.level = std::max(trace_.level, header->level);
    RankClock& clock = clocks_[static_cast<size_t>(header->rank)];
    clock = {true, {}, header->clock_ns, header->unix_ns};
    part_.usable = true;
    part_.rank = header->rank;
    return true;
  }

  bool take_names(std::span<const std::byte> payload) {
    const auto names = decode_names(payload);
    if (!names) {
      return false;
    }
    for (const Name& name : *names) {
      switch (name.table) {
        case Table::kKind:
          part_.kinds[name.id] = kind_index(name);
          break;
        case Table::kFile:
          part_.files[name.id] = files_.index(name.text);
          break;
        case Table::kDataset:
          part_.datasets[name.id] = datasets_.index(name.text);
          break;
        case Table::kCounter:
          part_.counters[name.id] = counters_.index(name.text);
          break;
      }
    }
    return trace_.kinds.size() <= std::numeric_limits<uint16_t>::max() && trace_.counters.size() <= kCounterNamesMax;
  }

  int kind_index(const Name& name) {
    auto [found, inserted] =
        kinds_.emplace(std::tuple(name.text, name.layer, name.detail, name.overlaps), static_cast<int>(trace_.kinds.size()));
    if (inserted) {
      trace_.kinds.push_back({name.text, name.layer, name.detail, name.overlaps});
    }
    return found->second;
  }

  /// Finds the index for a number of this part; -1 for none. False when the number has no name.
  static bool find(const Ids& ids, uint32_t id, int& index) {
    const auto found = ids.find(id);
    index = found == ids.end() ? -1 : found->second;
    return found != ids.end() || id == kNoFile;
  }

  bool take_events(std::span<const std::byte> payload) {
    const auto records = decode_events(payload);
    if (!records || records->thread > std::numeric_limits<uint16_t>::max()) {
      return false;
    }
    bool good = true;
    for (size_t i = 0; i < records->count(); ++i) {
      good = take_event((*records)[i], static_cast<uint16_t>(records->thread)) && good;
    }
    return good;
  }

  bool take_event(const Record& record, uint16_t thread) {
    Event event;
    int kind = -1;
    if (!find(part_.kinds, record.kind, kind) || kind < 0 || kind > std::numeric_limits<uint16_t>::max() ||
        !find(part_.files, record.file, event.file) || !is_time(record.begin_ns) || !is_time(record.end_ns) ||
        record.end_ns < record.begin_ns || record.bytes < -1 || record.bytes > kValueMax || record.offset < -1 ||
        record.offset > kValueMax) {
      return false;
    }
    event.kind = static_cast<uint16_t>(kind);
    event.begin_ns = record.begin_ns;
    event.end_ns = record.end_ns;
    event.bytes = record.bytes;
    event.offset = record.offset;
    event.id = record.id;
    event.parent = record.parent;
    event.thread = thread;
    event.rank = part_.rank;
    switch (record.detail < 0 ? Detail::kNone : trace_.kinds[static_cast<size_t>(kind)].detail) {
      case Detail::kCount:
        event.count = static_cast<uint32_t>(record.detail);
        break;
      case Detail::kPeer:
        if (record.detail >= trace_.rank_count()) {
          return false;
        }
        event.peer = record.detail;
        break;
      case Detail::kDataset:
        find(part_.datasets, static_cast<uint32_t>(record.detail), event.dataset);
        break;
      case Detail::kNone:
        break;
    }
    trace_.events.push_back(event);
    RankInfo& info = trace_.ranks[static_cast<size_t>(part_.rank)];
    info.end_ns = std::max(info.end_ns, event.end_ns);
    return true;
  }

  bool take_clock(std::span<const std::byte> payload) {
    const auto samples = decode_clock(payload);
    if (!samples) {
      return false;
    }
    for (const ClockSample& sample : *samples) {
      if (!is_time(sample.local_ns) || !is_time(sample.offset_ns) || !is_time(sample.round_trip_ns) ||
          sample.round_trip_ns < 0) {
        return false;
      }
    }
    auto& list = clocks_[static_cast<size_t>(part_.rank)].samples;
    if (samples->empty()) {
      list.clear();
    }
    list.insert(list.end(), samples->begin(), samples->end());
    return true;
  }

  bool take_counters(std::span<const std::byte> payload) {
    const auto sets = decode_counters(payload);
    if (!sets) {
      return false;
    }
    bool good = true;
    for (const CounterValues& set : *sets) {
      CounterSet counters;
      counters.rank = part_.rank;
      good = find(part_.files, set.file, counters.file) && good;
      for (const auto& [counter, value] : set.values) {
        int index = -1;
        find(part_.counters, counter, index);
        if (index < 0 || index >= static_cast<int>(kCounterNamesMax) || value < -kValueMax || value > kValueMax) {
          good = false;
          continue;
        }
        if (counters.values.size() <= static_cast<size_t>(index)) {
          counters.values.resize(static_cast<size_t>(index) + 1);
        }
        counters.values[static_cast<size_t>(index)] = value;
      }
      auto [place, first] = sets_.emplace(std::pair(counters.rank, counters.file), trace_.counter_sets.size());
      if (first) {
        trace_.counter_sets.push_back(std::move(counters));
      } else {
        trace_.counter_sets[place->second] = std::move(counters);
      }
    }
    return good;
  }

  bool take_facts(std::span<const std::byte> payload) {
    const auto facts = decode_facts(payload);
    if (!facts) {
      return false;
    }
    for (const Fact& fact : *facts) {
      NamedFact named{part_.rank, -1, fact.key, fact.value};
      if (!find(part_.files, fact.file, named.file)) {
        return false;
      }
      auto [place, first] = facts_.emplace(std::tuple(named.rank, named.file, named.key), trace_.facts.size());
      if (first) {
        trace_.facts.push_back(std::move(named));
      } else {
        trace_.facts[place->second] = std::move(named);
      }
    }
    return true;
  }

  bool take_end(std::span<const std::byte> payload) {
    const auto end = decode_end(payload);
    if (!end || !is_time(end->clock_ns) || end->dropped > static_cast<uint64_t>(kTimeMaxNs)) {
      return false;
    }
    RankInfo& info = trace_.ranks[static_cast<size_t>(part_.rank)];
    info.complete = true;
    info.end_ns = std::max(info.end_ns, end->clock_ns);
    info.dropped = static_cast<int64_t>(end->dropped);
    return true;
  }

  // Called when all parts are read: makes one time axis and one order.
  void finish() {
    const ClockCorrection correction(clocks_, root_);
    int64_t zero = std::numeric_limits<int64_t>::max();
    for (int rank = 0; rank < trace_.rank_count(); ++rank) {
      const RankInfo& info = trace_.ranks[static_cast<size_t>(rank)];
      zero = info.present ? std::min(zero, correction.corrected(rank, info.begin_ns)) : zero;
    }
    const RankClock& root = clocks_[static_cast<size_t>(root_)];
    trace_.start_unix_ns = since(root.unix_ns, since(root.clock_ns, zero));
    for (int rank = 0; rank < trace_.rank_count(); ++rank) {
      RankInfo& info = trace_.ranks[static_cast<size_t>(rank)];
      if (!info.present) {
        warn("no part of rank " + std::to_string(rank));
        continue;
      }
      info.begin_ns = since(correction.corrected(rank, info.begin_ns), zero);
      info.end_ns = std::max(since(correction.corrected(rank, info.end_ns), zero), info.begin_ns);
      info.clock_error_ns = correction.error_ns(rank);
      trace_.end_ns = std::max(trace_.end_ns, info.end_ns);
    }
    for (Event& event : trace_.events) {
      event.begin_ns = since(correction.corrected(event.rank, event.begin_ns), zero);
      event.end_ns = std::max(since(correction.corrected(event.rank, event.end_ns), zero), event.begin_ns);
      trace_.end_ns = std::max(trace_.end_ns, event.end_ns);
    }
    sort_events();
    shift_ranks(message_shifts(trace_));
    for (CounterSet& set : trace_.counter_sets) {
      set.values.resize(trace_.counters.size());
    }
  }

  void sort_events() {
    std::sort(trace_.events.begin(), trace_.events.end(), [](const Event& a, const Event& b) {
      return std::tie(a.rank, a.thread, a.begin_ns, b.end_ns, a.id) < std::tie(b.rank, b.thread, b.begin_ns, a.end_ns, b.id);
    });
  }

  /// Shifts all times of each rank, which keeps their order.
  void shift_ranks(const std::vector<int64_t>& shifts) {
    for (Event& event : trace_.events) {
      event.begin_ns += shifts[static_cast<size_t>(event.rank)];
      event.end_ns += shifts[static_cast<size_t>(event.rank)];
    }
    for (size_t rank = 0; rank < shifts.size(); ++rank) {
      trace_.ranks[rank].begin_ns += shifts[rank];
      trace_.ranks[rank].end_ns += shifts[rank];
      trace_.end_ns = std::max(trace_.end_ns, trace_.ranks[rank].end_ns);
    }
  }

  /// Returns a - b, limited to the range of the result.
  static int64_t since(int64_t a, int64_t b) {
    int64_t difference = 0;
    if (__builtin_sub_overflow(a, b, &difference)) {
      difference = a > b ? kTimeMaxNs : -kTimeMaxNs;
    }
    return std::clamp(difference, -kTimeMaxNs, kTimeMaxNs);
  }

  std::span<const std::byte> bytes_;
  TraceFile trace_;
  NameIndices files_, datasets_, counters_{trace_.counters};
  std::map<std::tuple<std::string, Layer, Detail, bool>, int> kinds_;
  /// Rank, file -> place of its counters.
  std::map<std::pair<int32_t, int32_t>, size_t> sets_;
  /// Rank, file, key -> place of the fact.
  std::map<std::tuple<int32_t, int32_t, std::string>, size_t> facts_;
  std::vector<RankClock> clocks_;
  Part part_;
  uint64_t run_id_ = 0;
  int root_ = -1;  ///< lowest rank with a part
};

}  // namespace

Result<TraceFile> TraceFile::parse(std::span<const std::byte> bytes) {
  return Reader(bytes).run();
}

Result<TraceFile> TraceFile::read(const std::string& path) {
  std::error_code trouble;
  const uintmax_t size = std::filesystem::file_size(path, trouble);
  if (trouble) {
    return Status::from_errno(trouble.value(), "open '" + path + "'");
  }
  std::vector<std::byte> bytes(size);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size))) {
    return Status::from_errno(errno == 0 ? EIO : errno, "read '" + path + "'");
  }
  auto trace = parse(bytes);
  return trace.ok() ? std::move(trace) : Result<TraceFile>(trace.status().with_context("'" + path + "'"));
}

int TraceFile::node_count() const {
  int count = 0;
  for (const RankInfo& rank : ranks) {
    count = std::max(count, rank.node + 1);
  }
  return count;
}

int TraceFile::counter_index(const std::string& name) const {
  const auto found = std::find(counters.begin(), counters.end(), name);
  return found == counters.end() ? -1 : static_cast<int>(found - counters.begin());
}

std::string TraceFile::fact(int32_t file, const std::string& key) const {
  for (const NamedFact& fact : facts) {
    if (fact.file == file && fact.key == key) {
      return fact.value;
    }
  }
  return {};
}

}  // namespace stria::trace
