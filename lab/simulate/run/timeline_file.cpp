#include "run/timeline_file.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "run/engine.hpp"
#include "trace/format/part.hpp"
#include "trace/record/levels.hpp"

namespace stria::simulate {

namespace {

constexpr uint16_t kFile = 1;

int64_t in_ns(double seconds) {
  return std::llround(seconds * 1e9);
}

std::vector<trace::Name> names() {
  std::vector<trace::Name> all;
  uint32_t id = 0;
  for (const trace::KindInfo& kind : trace::built_in_kinds()) {
    all.push_back({trace::Table::kKind, id++, kind.name, kind.layer, kind.detail, kind.overlaps});
  }
  all.push_back({trace::Table::kFile, kFile, kFilePath});
  return all;
}

bool is_call(const TimelineSpan& span) {
  return trace::layer_of(span.kind) == trace::Layer::kApp;
}

// Calls before what lies inside them.
std::vector<trace::Record> records_of(std::vector<TimelineSpan>& spans) {
  std::stable_sort(spans.begin(), spans.end(), [](const TimelineSpan& a, const TimelineSpan& b) {
    return std::tuple(a.begin_s, !is_call(a)) < std::tuple(b.begin_s, !is_call(b));
  });
  std::vector<trace::Record> records;
  uint32_t call = 0;
  for (const TimelineSpan& span : spans) {
    trace::Record record{
        .begin_ns = in_ns(span.begin_s), .end_ns = in_ns(span.end_s), .bytes = span.bytes, .offset = span.offset};
    record.id = static_cast<uint32_t>(records.size()) + 1;
    record.kind = static_cast<uint16_t>(span.kind);
    record.file = kFile;
    record.parent = is_call(span) ? 0 : call;
    call = is_call(span) ? record.id : call;
    records.push_back(record);
  }
  return records;
}

}  // namespace

std::vector<std::byte> trace_file_of(const Machine& machine, const RunOptions& options, const RunOutcome& outcome,
                                     const std::string& command) {
  std::vector<std::vector<TimelineSpan>> by_rank(static_cast<size_t>(options.ranks));
  double end_s = 0;
  for (const TimelineSpan& span : outcome.timeline) {
    by_rank[static_cast<size_t>(span.rank)].push_back(span);
    end_s = std::max(end_s, span.end_s);
  }
  trace::RankHeader header;
  header.run_id = 1;
  header.rank_count = options.ranks;
  header.level = static_cast<uint32_t>(trace::Level::kFull);
  header.program = "stria simulate";
  header.command = command;
  std::vector<std::byte> bytes;
  trace::append_header(bytes);
  for (int rank = 0; rank < options.ranks; ++rank) {
    header.rank = rank;
    header.node = rank / machine.nodes.ranks_per_node;
    header.host = "node" + std::to_string(header.node);
    trace::append(bytes, header);
    trace::append(bytes, names());
    trace::append(bytes, 0, records_of(by_rank[static_cast<size_t>(rank)]));
    if (rank == 0) {
      const std::vector<trace::Fact> facts{{kFile, "method", outcome.method},
                                           {kFile, "reason", outcome.reason},
                                           {trace::kNoFile, "simulated machine", machine.title}};
      trace::append(bytes, facts);
    }
    trace::append(bytes, trace::EndOfPart{.clock_ns = in_ns(end_s), .dropped = 0});
  }
  return bytes;
}

}  // namespace stria::simulate
