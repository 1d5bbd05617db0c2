#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "stria/status.hpp"
#include "tracing/exporters.hpp"
#include "tracing/lanes.hpp"

namespace stria::tool {

namespace {

using nlohmann::json;
using trace::Event;
using trace::TraceFile;

std::string json_text(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

/// A process is a rank; its tracks are numbered across its threads.
std::string metadata(const TraceFile& trace, const std::vector<Lane>& lanes) {
  std::string text;
  for (int rank = 0; rank < trace.rank_count(); ++rank) {
    const std::string name = fmt::format("rank {} on {}", rank, trace.ranks[static_cast<size_t>(rank)].host);
    text +=
        fmt::format(R"({{"ph":"M","pid":{0},"name":"process_name","args":{{"name":{1}}}}},{2})", rank, json_text(name), "\n");
    text += fmt::format(R"({{"ph":"M","pid":{0},"name":"process_sort_index","args":{{"sort_index":{0}}}}},{1})", rank, "\n");
  }
  for (size_t i = 0; i < lanes.size(); ++i) {
    const std::string name = lanes[i].number == 0
                                 ? fmt::format("thread {}", lanes[i].thread)
                                 : fmt::format("thread {}, in the background {}", lanes[i].thread, lanes[i].number);
    text += fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}},{})", lanes[i].rank, i + 1,
                        json_text(name), "\n");
  }
  return text;
}

std::string arguments(const TraceFile& trace, const Event& event) {
  std::string text = fmt::format(R"("id":{},"parent":{})", event.id, event.parent);
  if (event.bytes >= 0) {
    text += fmt::format(R"(,"bytes":{})", event.bytes);
  }
  if (event.offset >= 0) {
    text += fmt::format(R"(,"offset":{})", event.offset);
  }
  if (event.file >= 0) {
    text += fmt::format(R"(,"file":{})", json_text(trace.files[static_cast<size_t>(event.file)]));
  }
  if (event.dataset >= 0) {
    text += fmt::format(R"(,"dataset":{})", json_text(trace.datasets[static_cast<size_t>(event.dataset)]));
  }
  if (event.peer >= 0) {
    text += fmt::format(R"(,"peer":{})", event.peer);
  }
  if (event.count != 1) {
    text += fmt::format(R"(,"count":{})", event.count);
  }
  return text;
}

}  // namespace

void export_chrome(const TraceFile& trace, const std::string& path) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const std::vector<Lane> lanes = lay_out(trace);
  std::vector<std::string> names;
  for (const trace::KindInfo& kind : trace.kinds) {
    names.push_back(fmt::format(R"("name":{},"cat":"{}")", json_text(kind.name), trace::layer_name(kind.layer)));
  }
  file << "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":" << json_text(trace.program)
       << ",\"command\":" << json_text(trace.command) << "},\"traceEvents\":[\n"
       << metadata(trace, lanes);
  std::string text;
  for (size_t i = 0; i < lanes.size(); ++i) {
    text.clear();
    for (const size_t index : lanes[i].events) {
      const Event& event = trace.events[index];
      // Microseconds, with the nanoseconds behind the point.
      text +=
          fmt::format(R"({{"ph":"X",{},"pid":{},"tid":{},"ts":{}.{:03},"dur":{}.{:03},"args":{{{}}}}},{})", names[event.kind],
                      event.rank, i + 1, event.begin_ns / 1000, event.begin_ns % 1000, (event.end_ns - event.begin_ns) / 1000,
                      (event.end_ns - event.begin_ns) % 1000, arguments(trace, event), "\n");
    }
    file << text;
  }
  file << R"({"ph":"M","pid":0,"name":"process_labels","args":{"labels":"Stria"}}]})"
       << "\n";
  file.close();
  if (!file) {
    Status::from_errno(errno == 0 ? EIO : errno, fmt::format("write '{}'", path)).throw_if_error();
  }
}

}  // namespace stria::tool
