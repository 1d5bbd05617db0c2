// The columns of a trace go to a Python process that has pyarrow. This program contains its script
// (trace_parquet.py).
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>

#include "stria/status.hpp"
#include "tracing/exporters.hpp"
#include "tracing/python_process.hpp"

namespace stria::tool {

extern const char* const kParquetScript;

namespace {

using nlohmann::json;
using trace::Event;
using trace::TraceFile;

template <typename Number, typename Get>
bool send_column(PythonProcess& python, const TraceFile& trace, Get get) {
  std::vector<Number> values;
  values.reserve(trace.events.size());
  for (const Event& event : trace.events) {
    values.push_back(static_cast<Number>(get(event)));
  }
  return python.send(std::as_bytes(std::span(values)));
}

json metadata_of(const TraceFile& trace) {
  return {{"program", trace.program},
          {"command", trace.command},
          {"ranks", trace.rank_count()},
          {"start_unix_ns", trace.start_unix_ns},
          {"end_ns", trace.end_ns}};
}

json describe(const TraceFile& trace) {
  std::vector<std::string> kinds, layers, hosts;
  for (const trace::KindInfo& kind : trace.kinds) {
    kinds.push_back(kind.name);
    layers.emplace_back(trace::layer_name(kind.layer));
  }
  json columns = json::array();
  for (const char* name : {"begin_ns", "end_ns", "bytes", "offset"}) {
    columns.push_back({{"name", name}, {"dtype", "<i8"}});
  }
  columns.push_back({{"name", "id"}, {"dtype", "<u4"}});
  columns.push_back({{"name", "parent"}, {"dtype", "<u4"}});
  columns.push_back({{"name", "rank"}, {"dtype", "<i4"}});
  columns.push_back({{"name", "thread"}, {"dtype", "<u2"}});
  columns.push_back({{"name", "peer"}, {"dtype", "<i4"}});
  columns.push_back({{"name", "count"}, {"dtype", "<u4"}});
  columns.push_back({{"name", "kind"}, {"dtype", "<i4"}, {"names", kinds}});
  columns.push_back({{"name", "layer"}, {"dtype", "<i4"}, {"names", {"app", "library", "engine", "storage"}}});
  columns.push_back({{"name", "file"}, {"dtype", "<i4"}, {"names", trace.files}});
  columns.push_back({{"name", "dataset"}, {"dtype", "<i4"}, {"names", trace.datasets}});
  return {{"rows", trace.events.size()}, {"columns", columns}, {"metadata", metadata_of(trace)}};
}

/// The columns are in the order of describe().
bool send_columns(PythonProcess& python, const TraceFile& trace) {
  return send_column<int64_t>(python, trace, [](const Event& e) { return e.begin_ns; }) &&
         send_column<int64_t>(python, trace, [](const Event& e) { return e.end_ns; }) &&
         send_column<int64_t>(python, trace, [](const Event& e) { return e.bytes; }) &&
         send_column<int64_t>(python, trace, [](const Event& e) { return e.offset; }) &&
         send_column<uint32_t>(python, trace, [](const Event& e) { return e.id; }) &&
         send_column<uint32_t>(python, trace, [](const Event& e) { return e.parent; }) &&
         send_column<int32_t>(python, trace, [](const Event& e) { return e.rank; }) &&
         send_column<uint16_t>(python, trace, [](const Event& e) { return e.thread; }) &&
         send_column<int32_t>(python, trace, [](const Event& e) { return e.peer; }) &&
         send_column<uint32_t>(python, trace, [](const Event& e) { return e.count; }) &&
         send_column<int32_t>(python, trace, [](const Event& e) { return e.kind; }) &&
         send_column<int32_t>(python, trace, [&](const Event& e) { return trace.kinds[e.kind].layer; }) &&
         send_column<int32_t>(python, trace, [](const Event& e) { return e.file; }) &&
         send_column<int32_t>(python, trace, [](const Event& e) { return e.dataset; });
}

/// Starts Python, describes the columns to it, lets `send_all` send them to its input, and waits
/// for its outcome.
template <typename SendAll>
void write_table(const json& header, const std::string& path, SendAll send_all) {
  const std::string line = header.dump(-1, ' ', true, json::error_handler_t::replace) + "\n";
  PythonProcess python(kParquetScript, path, PythonProcess::Pipe::kToInput);
  const bool sent = python.send(std::as_bytes(std::span(line))) && send_all(python);
  if (!python.finish("pyarrow") || !sent) {
    throw Error(ErrorCode::kIo, fmt::format("{} did not write '{}'; what it said is above", python.program(), path));
  }
}

}  // namespace

void export_parquet(const TraceFile& trace, const std::string& path) {
  write_table(describe(trace), path, [&trace](PythonProcess& python) { return send_columns(python, trace); });
}

void export_counters_parquet(const TraceFile& trace, const std::string& path) {
  json columns = json::array();
  columns.push_back({{"name", "rank"}, {"dtype", "<i4"}});
  columns.push_back({{"name", "file"}, {"dtype", "<i4"}, {"names", trace.files}});
  for (const std::string& counter : trace.counters) {
    columns.push_back({{"name", counter}, {"dtype", "<i8"}, {"all", true}});
  }
  const json header = {{"rows", trace.counter_sets.size()}, {"columns", columns}, {"metadata", metadata_of(trace)}};
  write_table(header, path, [&trace](PythonProcess& python) {
    const auto send_values = [&](auto get) {
      std::vector<decltype(get(trace.counter_sets.front()))> values;
      for (const trace::CounterSet& set : trace.counter_sets) {
        values.push_back(get(set));
      }
      return python.send(std::as_bytes(std::span(values)));
    };
    bool sent = send_values([](const trace::CounterSet& set) { return set.rank; }) &&
                send_values([](const trace::CounterSet& set) { return set.file; });
    for (size_t counter = 0; sent && counter < trace.counters.size(); ++counter) {
      sent = send_values([counter](const trace::CounterSet& set) { return set.values[counter]; });
    }
    return sent;
  });
}

}  // namespace stria::tool
