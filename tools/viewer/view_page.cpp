#include "viewer/view_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string_view>
#include <vector>

#include "trace/format/counter_view.hpp"
#include "viewer/background_threads.hpp"
#include "viewer/base64.hpp"
#include "viewer/moving_kinds.hpp"
#include "viewer/parents.hpp"
#include "viewer/viewer_page.hpp"

namespace stria::tool {

namespace {

using nlohmann::json;
using trace::Event;
using trace::TraceFile;

// Returns the events in order of rank and begin; a span comes before those inside it. Threads don't
// matter, but for those that commit in the background: their events come behind the others of the
// rank.
std::vector<uint32_t> page_order(const TraceFile& trace) {
  const std::vector<Event>& events = trace.events;
  const std::vector<bool> in_background = events_in_background(trace);
  std::vector<uint32_t> order(events.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const Event& x = events[a];
    const Event& y = events[b];
    const int strand_of_x = in_background[a] ? 1 + x.thread : 0;
    const int strand_of_y = in_background[b] ? 1 + y.thread : 0;
    return std::tuple(x.rank, strand_of_x, x.begin_ns, -x.end_ns) < std::tuple(y.rank, strand_of_y, y.begin_ns, -y.end_ns);
  });
  return order;
}

// Returns, for each position in `order`, the position of its parent, or -1.
std::vector<int64_t> parent_positions(const std::vector<Event>& events, const std::vector<uint32_t>& order) {
  const std::vector<int64_t> parents = parent_indices(events);
  std::vector<int64_t> position_of(events.size());
  for (size_t position = 0; position < order.size(); ++position) {
    position_of[order[position]] = static_cast<int64_t>(position);
  }
  std::vector<int64_t> positions;
  positions.reserve(order.size());
  for (uint32_t index : order) {
    positions.push_back(parents[index] < 0 ? -1 : position_of[static_cast<size_t>(parents[index])]);
  }
  return positions;
}

// Writes columns as script elements and remembers their types.
class ColumnWriter {
 public:
  explicit ColumnWriter(size_t count) : count_(count) {}

  template <typename Value>
  void add(const char* name, Value value) {
    int64_t low = 0;
    int64_t high = 0;
    for (size_t i = 0; i < count_; ++i) {
      const int64_t v = value(i);
      low = std::min(low, v);
      high = std::max(high, v);
    }
    write_narrowest(name, value, low, high);
  }

  const std::string& html() const { return html_; }
  const json& columns() const { return columns_; }

 private:
  template <typename T>
  static bool holds(int64_t low, int64_t high) {
    return low >= static_cast<int64_t>(std::numeric_limits<T>::min()) &&
           high <= static_cast<int64_t>(std::numeric_limits<T>::max());
  }

  template <typename Value>
  void write_narrowest(const char* name, Value value, int64_t low, int64_t high) {
    if (low < 0) {
      holds<int8_t>(low, high)    ? write<int8_t>(name, "i8", value)
      : holds<int16_t>(low, high) ? write<int16_t>(name, "i16", value)
      : holds<int32_t>(low, high) ? write<int32_t>(name, "i32", value)
                                  : write<double>(name, "f64", value);
    } else {
      holds<uint8_t>(low, high)    ? write<uint8_t>(name, "u8", value)
      : holds<uint16_t>(low, high) ? write<uint16_t>(name, "u16", value)
      : holds<uint32_t>(low, high) ? write<uint32_t>(name, "u32", value)
                                   : write<double>(name, "f64", value);
    }
  }

  template <typename T, typename Value>
  void write(const char* name, const char* type, Value value) {
    std::vector<T> column(count_);
    for (size_t i = 0; i < count_; ++i) {
      column[i] = static_cast<T>(value(i));
    }
    html_ += fmt::format("<script type=\"text/plain\" id=\"column-{}\">", name);
    append_base64(std::as_bytes(std::span(column)), html_);
    html_ += "</script>\n";
    columns_.push_back({{"name", name}, {"type", type}});
  }

  size_t count_;
  std::string html_;
  json columns_ = json::array();
};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

json kinds_json(const TraceFile& trace) {
  static constexpr const char* kMoves[] = {"", "read", "write"};
  const std::vector<Moves> moves = moving_kinds(trace);
  json kinds = json::array();
  for (size_t kind = 0; kind < trace.kinds.size(); ++kind) {
    const trace::KindInfo& info = trace.kinds[kind];
    kinds.push_back({{"name", info.name},
                     {"level", trace::layer_name(info.layer)},
                     {"moves", kMoves[static_cast<size_t>(moves[kind])]},
                     {"overlaps", info.overlaps}});
  }
  return kinds;
}

// Returns the counters of each rank over all files, without those that are zero everywhere.
json counters_json(const TraceFile& trace) {
  json counters = json::array();
  const trace::CounterView view(trace);
  for (int number = 0; number < static_cast<int>(trace::Counter::kReadSizes0); ++number) {
    const auto counter = static_cast<trace::Counter>(number);
    std::vector<int64_t> values(trace.ranks.size(), 0);
    for (const trace::CounterSet& set : trace.counter_sets) {
      int64_t& value = values[static_cast<size_t>(set.rank)];
      const int64_t more = view.value(set, counter);
      value = trace::counter_is_sum(counter) ? value + more : std::max(value, more);
    }
    if (std::any_of(values.begin(), values.end(), [](int64_t value) { return value != 0; })) {
      std::string name = trace::counter_name(counter);
      const char* unit = name.ends_with("_ns") ? "ns" : contains(name, "bytes") ? "bytes" : "";
      std::replace(name.begin(), name.end(), '_', ' ');
      counters.push_back({{"name", name}, {"unit", unit}, {"values", values}});
    }
  }
  return counters;
}

std::vector<int> aggregator_ranks(const TraceFile& trace) {
  std::set<int> ranks;
  const trace::CounterView view(trace);
  for (const trace::CounterSet& set : trace.counter_sets) {
    if (view.value(set, trace::Counter::kAggregated) > 0) {
      ranks.insert(set.rank);
    }
  }
  return {ranks.begin(), ranks.end()};
}

void add_nodes(const TraceFile& trace, json& header) {
  std::map<int, size_t> numbers;
  json nodes = json::array();
  json of_ranks = json::array();
  for (const trace::RankInfo& rank : trace.ranks) {
    const auto [found, is_new] = numbers.emplace(rank.node, numbers.size());
    if (is_new) {
      nodes.push_back(!rank.host.empty() ? rank.host : rank.node < 0 ? "node not known" : fmt::format("node {}", rank.node));
    }
    of_ranks.push_back(found->second);
  }
  header["nodes"] = std::move(nodes);
  header["rank_nodes"] = std::move(of_ranks);
}

std::string time_of_day(int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm parts{};
  char text[64];
  if (unix_ns <= 0 || gmtime_r(&seconds, &parts) == nullptr || std::strftime(text, sizeof text, "%F %H:%M UTC", &parts) == 0) {
    return "";
  }
  return text;
}

json header_json(const TraceFile& trace) {
  json header = {{"program", trace.program},
                 {"command", trace.command},
                 {"start", time_of_day(trace.start_unix_ns)},
                 {"duration_ns", trace.end_ns},
                 {"ranks", trace.rank_count()},
                 {"events", trace.events.size()},
                 {"kinds", kinds_json(trace)},
                 {"files", trace.files},
                 {"datasets", trace.datasets},
                 {"counters", counters_json(trace)},
                 {"aggregators", aggregator_ranks(trace)},
                 {"background", background_threads(trace)},
                 {"notices", trace_notices(trace)}};
  add_nodes(trace, header);
  return header;
}

// Returns JSON inside a script element: "</" would end it.
std::string script_json(const json& value) {
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  std::string safe;
  for (char c : text) {
    if (c == '/' && !safe.empty() && safe.back() == '<') {
      safe += '\\';
    }
    safe += c;
  }
  return safe;
}

}  // namespace

std::vector<std::string> trace_notices(const TraceFile& trace) {
  std::vector<std::string> notices;
  int64_t dropped = 0;
  std::string dropping;
  std::string unfinished;
  for (size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    const trace::RankInfo& info = trace.ranks[rank];
    dropped += info.dropped;
    if (info.dropped > 0 && dropping.size() < 60) {
      dropping += fmt::format("{}rank {}: {}", dropping.empty() ? "" : ", ", rank, info.dropped);
    }
    if (!info.complete && unfinished.size() < 60) {
      unfinished += fmt::format("{}{}", unfinished.empty() ? "" : ", ", rank);
    }
  }
  if (dropped > 0) {
    notices.push_back(
        fmt::format("{} records were dropped because buffers were full ({}{}). What they recorded is missing here.", dropped,
                    dropping, dropping.size() < 60 ? "" : ", …"));
  }
  if (!unfinished.empty()) {
    notices.push_back(fmt::format("The record of these ranks has no end, as after a crash: {}{}.", unfinished,
                                  unfinished.size() < 60 ? "" : ", …"));
  }
  notices.insert(notices.end(), trace.warnings.begin(), trace.warnings.end());
  if (trace.events.empty()) {
    notices.emplace_back("This trace holds counters but no spans: record with STRIA_TRACE=full to see a timeline.");
  }
  return notices;
}

std::string view_page(const TraceFile& trace) {
  const std::vector<Event>& events = trace.events;
  const std::vector<uint32_t> order = page_order(trace);
  const std::vector<int64_t> parents = parent_positions(events, order);
  ColumnWriter writer(order.size());
  auto at = [&events, &order](size_t i) -> const Event& { return events[order[i]]; };
  writer.add("begin", [at](size_t i) { return at(i).begin_ns; });
  writer.add("duration", [at](size_t i) { return at(i).end_ns - at(i).begin_ns; });
  writer.add("rank", [at](size_t i) { return at(i).rank; });
  writer.add("thread", [at](size_t i) { return at(i).thread; });
  writer.add("kind", [at](size_t i) { return at(i).kind; });
  writer.add("parent", [&parents](size_t i) { return parents[i]; });
  writer.add("bytes", [at](size_t i) { return at(i).bytes; });
  writer.add("offset", [at](size_t i) { return at(i).offset; });
  writer.add("file", [at](size_t i) { return at(i).file; });
  writer.add("dataset", [at](size_t i) { return at(i).dataset; });
  writer.add("peer", [at](size_t i) { return at(i).peer; });
  writer.add("count", [at](size_t i) { return at(i).count; });
  writer.add("id", [at](size_t i) { return at(i).id; });

  json header = header_json(trace);
  header["columns"] = writer.columns();
  std::string page = kViewerPage;
  const std::string_view place = "@data@";
  page.replace(page.find(place), place.size(),
               fmt::format("<script type=\"application/json\" id=\"run\">{}</script>\n{}", script_json(header), writer.html()));
  return page;
}

}  // namespace stria::tool
