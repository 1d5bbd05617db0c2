// stria_trace_synthetic: makes traces for tests, of any number of ranks, without running them.
//
// usage: stria_trace_synthetic --from DESCRIPTION.json -o FILE
//          the trace that the description gives, see below
//        stria_trace_synthetic --ranks R --events E [--seed S] -o FILE
//          a run of commits: R ranks with about E events each
//
// A description, in which everything is optional but "ranks":
//   {"program", "command", "level": 0 … 4, "start_unix_ns",
//    "ranks": [{"node", "host", "begin_ns", "end_ns", "dropped", "complete": true}, …],
//    "kinds": [{"name", "layer": "app|library|engine|storage",
//               "detail": "none|count|peer|dataset", "overlaps"}, …],
//    "events": [{"rank", "kind", "begin_ns", "end_ns", "bytes", "offset", "file", "dataset",
//                "peer", "count", "thread", "id", "parent"}, …],
//    "counters": [{"rank", "file", "values": {"opens": 1, …}}, …],
//    "facts": [{"rank", "file", "key", "value"}, …]}
// "ranks" may also be a number of ranks. "kinds" are those besides Stria's own.
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>

#include "trace/counters/counters.hpp"
#include "trace/events/kinds.hpp"
#include "trace/format/part.hpp"

namespace {

using namespace stria::trace;
using nlohmann::json;
using stria::Phase;

constexpr int64_t kRunBeginNs = 1'000'000'000;

/// One rank's part under construction.
struct PartBuilder {
  RankHeader header;
  std::vector<Name> names;
  std::map<uint32_t, std::vector<Record>> records;  ///< by thread
  std::vector<CounterValues> counters;
  std::vector<Fact> facts;
  EndOfPart end;
  bool complete = true;
  std::map<std::pair<Table, std::string>, uint32_t> ids;
  uint32_t next_id = 1;

  uint32_t name(Table table, const std::string& text) {
    auto [found, inserted] = ids.emplace(std::pair(table, text), static_cast<uint32_t>(ids.size()) + 1);
    if (inserted) {
      names.push_back({table, found->second, text});
    }
    return found->second;
  }

  void append_to(std::vector<std::byte>& bytes) const {
    append(bytes, header);
    append(bytes, names);
    for (const auto& [thread, list] : records) {
      append(bytes, thread, list);
    }
    if (header.rank > 0) {
      append(bytes, std::vector<ClockSample>{{0, header.clock_ns, 0, 1000}});
    }
    append(bytes, counters);
    append(bytes, facts);
    if (complete) {
      append(bytes, end);
    }
  }
};

PartBuilder make_part(int rank, int rank_count) {
  PartBuilder part;
  part.header.run_id = 1;
  part.header.rank = rank;
  part.header.rank_count = rank_count;
  part.header.clock_ns = kRunBeginNs;
  part.header.unix_ns = int64_t{1'700'000'000} * 1'000'000'000;
  part.header.level = 4;
  part.header.host = "node0";
  part.header.node = 0;
  part.header.program = "synthetic";
  part.header.command = "synthetic";
  part.end.clock_ns = kRunBeginNs;
  uint32_t id = 0;
  for (const KindInfo& kind : built_in_kinds()) {
    part.names.push_back({Table::kKind, id++, kind.name, kind.layer, kind.detail, kind.overlaps});
  }
  return part;
}

template <typename Enum>
Enum choose(const json& entry, const char* key, std::initializer_list<const char*> names) {
  const std::string text = entry.value(key, *names.begin());
  int number = 0;
  for (const char* name : names) {
    if (text == name) {
      return static_cast<Enum>(number);
    }
    ++number;
  }
  throw std::runtime_error(std::string(key) + " can't be '" + text + "'");
}

std::map<std::string, uint16_t> define_kinds(const json& description, std::vector<PartBuilder>& parts) {
  std::map<std::string, uint16_t> ids;
  uint16_t next = 0;
  for (const KindInfo& kind : built_in_kinds()) {
    ids[kind.name] = next++;
  }
  for (const json& kind : description.value("kinds", json::array())) {
    Name name{Table::kKind, next, kind.at("name").get<std::string>()};
    name.layer = choose<Layer>(kind, "layer", {"app", "library", "engine", "storage"});
    name.detail = choose<Detail>(kind, "detail", {"none", "count", "peer", "dataset"});
    name.overlaps = kind.value("overlaps", false);
    for (PartBuilder& part : parts) {
      part.names.push_back(name);
    }
    ids[name.text] = next++;
  }
  return ids;
}

void add_event(const json& event, const std::map<std::string, uint16_t>& kinds, PartBuilder& part) {
  Record record;
  record.kind = kinds.at(event.at("kind").get<std::string>());
  record.begin_ns = kRunBeginNs + event.at("begin_ns").get<int64_t>();
  record.end_ns = kRunBeginNs + event.at("end_ns").get<int64_t>();
  record.bytes = event.value("bytes", int64_t{-1});
  record.offset = event.value("offset", int64_t{-1});
  record.id = event.value("id", part.next_id);
  part.next_id = record.id + 1;
  record.parent = event.value("parent", 0U);
  record.detail = event.value("peer", event.value("count", -1));
  if (event.contains("dataset")) {
    record.detail = static_cast<int32_t>(part.name(Table::kDataset, event["dataset"].get<std::string>()));
  }
  if (event.contains("file")) {
    record.file = static_cast<uint16_t>(part.name(Table::kFile, event["file"].get<std::string>()));
  }
  part.end.clock_ns = std::max(part.end.clock_ns, record.end_ns);
  part.records[event.value("thread", 0U)].push_back(record);
}

std::vector<PartBuilder> make_parts(const json& description) {
  const json& ranks = description.at("ranks");
  const int count = ranks.is_number() ? ranks.get<int>() : static_cast<int>(ranks.size());
  std::vector<PartBuilder> parts;
  for (int rank = 0; rank < count; ++rank) {
    PartBuilder part = make_part(rank, count);
    const json one = ranks.is_number() ? json::object() : ranks[static_cast<size_t>(rank)];
    part.header.program = description.value("program", part.header.program);
    part.header.command = description.value("command", part.header.command);
    part.header.level = description.value("level", part.header.level);
    part.header.unix_ns = description.value("start_unix_ns", part.header.unix_ns);
    part.header.node = one.value("node", 0);
    part.header.host = one.value("host", "node" + std::to_string(part.header.node));
    part.header.clock_ns += one.value("begin_ns", int64_t{0});
    part.header.unix_ns += one.value("begin_ns", int64_t{0});
    part.end.clock_ns = kRunBeginNs + one.value("end_ns", int64_t{0});
    part.end.dropped = one.value("dropped", uint64_t{0});
    part.complete = one.value("complete", true);
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<PartBuilder> from_description(const json& description) {
  std::vector<PartBuilder> parts = make_parts(description);
  auto part_of = [&parts](const json& entry) -> PartBuilder& { return parts.at(entry.value("rank", size_t{0})); };
  auto file_of = [](const json& entry, PartBuilder& part) {
    return entry.contains("file") ? part.name(Table::kFile, entry["file"].get<std::string>()) : kNoFile;
  };
  const std::map<std::string, uint16_t> kinds = define_kinds(description, parts);
  for (const json& event : description.value("events", json::array())) {
    add_event(event, kinds, part_of(event));
  }
  for (const json& counters : description.value("counters", json::array())) {
    PartBuilder& part = part_of(counters);
    CounterValues set{file_of(counters, part), {}};
    for (const auto& [name, value] : counters.at("values").items()) {
      set.values.emplace_back(part.name(Table::kCounter, name), value.get<int64_t>());
    }
    part.counters.push_back(std::move(set));
  }
  for (const json& fact : description.value("facts", json::array())) {
    PartBuilder& part = part_of(fact);
    part.facts.push_back({file_of(fact, part), fact.at("key").get<std::string>(), fact.at("value").get<std::string>()});
  }
  return parts;
}

/// Adds nested spans of one commit: pack and write, round by round. Returns when it ends.
int64_t add_commit(PartBuilder& part, std::mt19937_64& random, int64_t begin, int rounds) {
  auto draw = [&random](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  auto make = [&part](BuiltIn kind, int64_t from, int64_t to, uint32_t parent) {
    Record record;
    record.begin_ns = from;
    record.end_ns = to;
    record.kind = static_cast<uint16_t>(kind);
    record.file = static_cast<uint16_t>(part.name(Table::kFile, "run_chk_0000"));
    record.id = part.next_id++;
    record.parent = parent;
    return record;
  };
  Record commit = make(BuiltIn::kFileCommit, begin, begin, 0);
  int64_t now = begin + draw(1000, 5000);
  for (int round = 0; round < rounds; ++round) {
    const int64_t packed = now + draw(20'000, 80'000);
    const int64_t written = packed + draw(50'000, 400'000);
    const auto phase = [](Phase which) { return static_cast<BuiltIn>(kind(which).id); };
    part.records[0].push_back(make(phase(Phase::kPack), now, packed, commit.id));
    Record write = make(phase(Phase::kWrite), packed, written, commit.id);
    Record request = make(BuiltIn::kStorageWrite, packed + 500, written - 500, write.id);
    request.bytes = draw(1, 64) << 14;
    request.offset = (static_cast<int64_t>(part.header.rank) * rounds + round) << 20;
    request.detail = static_cast<int32_t>(draw(1, 32));
    part.records[0].push_back(request);
    part.records[0].push_back(write);
    now = written + draw(500, 5000);
  }
  commit.end_ns = now;
  part.records[0].push_back(commit);
  part.end.clock_ns = now;
  return now;
}

std::vector<PartBuilder> made_up(int rank_count, int events, uint64_t seed) {
  constexpr int kRounds = 33;  // with three spans each and their commit: 100 spans
  std::vector<PartBuilder> parts;
  for (int rank = 0; rank < rank_count; ++rank) {
    PartBuilder part = make_part(rank, rank_count);
    part.header.node = rank / 16;
    part.header.host = "node" + std::to_string(part.header.node);
    std::mt19937_64 random(seed * 1'000'003 + static_cast<uint64_t>(rank));
    int64_t now = kRunBeginNs;
    for (int made = 0; made < events; made += 3 * kRounds + 1) {
      now = add_commit(part, random, now + 20'000'000, std::min(kRounds, std::max(1, (events - made - 1) / 3)));
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

int run(const std::map<std::string, std::string>& options) {
  std::vector<PartBuilder> parts;
  if (options.contains("--from")) {
    std::ifstream file(options.at("--from"));
    parts = from_description(json::parse(file));
  } else {
    const auto seed = options.find("--seed");
    parts = made_up(std::stoi(options.at("--ranks")), std::stoi(options.at("--events")),
                    seed == options.end() ? 1 : std::stoull(seed->second));
  }
  std::vector<std::byte> bytes;
  append_header(bytes);
  for (const PartBuilder& part : parts) {
    part.append_to(bytes);
  }
  std::ofstream out(options.at("-o"), std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  out.close();
  return out ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::map<std::string, std::string> options;
    for (int i = 1; i + 1 < argc; i += 2) {
      options[argv[i]] = argv[i + 1];
    }
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stria_trace_synthetic: %s\n", error.what());
    return 2;
  }
}
