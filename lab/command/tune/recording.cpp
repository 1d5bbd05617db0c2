#include "tune/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "stria/status.hpp"
#include "viewer/moving_kinds.hpp"

namespace stria::tool {

namespace {

using trace::Event;
using trace::TraceFile;

/// Calls of ranks that interleave overlap, because a call tells only its first byte and its length.
constexpr double kMostOverlap = 0.1;

enum class Source { kCalls, kStorage };

/// Each file has the events of all ranks, in the order of each rank's time.
using EventsOfFiles = std::map<int32_t, std::vector<const Event*>>;

bool is_of(const trace::KindInfo& kind, Source source) {
  if (source == Source::kStorage) {
    return kind.layer == trace::Layer::kStorage;
  }
  return kind.layer <= trace::Layer::kLibrary && kind.name.rfind("MPI_File_", 0) == 0;
}

EventsOfFiles events_of(const TraceFile& trace, Source source, Moves moves) {
  EventsOfFiles files;
  for (const Event& event : trace.events) {
    const trace::KindInfo& kind = trace.kinds[event.kind];
    if (event.offset >= 0 && event.bytes > 0 && is_of(kind, source) && moves_of(kind.name) == moves) {
      files[event.file].push_back(&event);
    }
  }
  for (auto& [file, events] : files) {
    std::stable_sort(events.begin(), events.end(), [](const Event* a, const Event* b) { return a->begin_ns < b->begin_ns; });
  }
  return files;
}

int64_t bytes_of(const std::vector<const Event*>& events) {
  int64_t bytes = 0;
  for (const Event* event : events) {
    bytes += event->bytes;
  }
  return bytes;
}

int32_t heaviest(const EventsOfFiles& files) {
  return std::max_element(files.begin(), files.end(),
                          [](const auto& a, const auto& b) { return bytes_of(a.second) < bytes_of(b.second); })
      ->first;
}

bool interleave(std::vector<const Event*> events) {
  std::sort(events.begin(), events.end(), [](const Event* a, const Event* b) { return a->offset < b->offset; });
  int64_t overlap = 0;
  int64_t end = 0;
  int32_t rank = -1;
  for (const Event* event : events) {
    if (event->rank != rank) {
      overlap += std::clamp<int64_t>(end - event->offset, 0, event->bytes);
    }
    if (event->offset + event->bytes > end) {
      end = event->offset + event->bytes;
      rank = event->rank;
    }
  }
  return static_cast<double>(overlap) > kMostOverlap * static_cast<double>(bytes_of(events));
}

/// Tells whether each of these files has just one rank, and several files have one.
bool is_file_a_rank(const EventsOfFiles& files) {
  std::map<int32_t, int> files_of_rank;
  for (const auto& [file, events] : files) {
    const int32_t rank = events[0]->rank;
    if (std::any_of(events.begin(), events.end(), [rank](const Event* event) { return event->rank != rank; })) {
      return false;
    }
    ++files_of_rank[rank];
  }
  return files_of_rank.size() > 1;
}

/// Returns what is to be played: files whose requests count.
EventsOfFiles chosen(const EventsOfFiles& files) {
  if (!is_file_a_rank(files)) {
    const int32_t file = heaviest(files);
    return {{file, files.at(file)}};
  }
  std::map<int32_t, EventsOfFiles> by_rank;
  for (const auto& [file, events] : files) {
    by_rank[events[0]->rank][file] = events;
  }
  EventsOfFiles all;
  for (const auto& [rank, of_rank] : by_rank) {
    const int32_t file = heaviest(of_rank);
    all[file] = of_rank.at(file);
  }
  return all;
}

bool are_collective(const TraceFile& trace, const EventsOfFiles& files) {
  int64_t together = 0, all = 0;
  for (const auto& [file, events] : files) {
    for (const Event* event : events) {
      const std::string& name = trace.kinds[event->kind].name;
      together += name.find("_all") != std::string::npos || name.find("_ordered") != std::string::npos ? 1 : 0;
      ++all;
    }
  }
  return 2 * together > all;
}

// Traces of Darshan's logs don't name the call, but count them.
bool are_counted_as_collective(const TraceFile& trace, int32_t file) {
  int64_t together = 0;
  const int two_phase = trace.counter_index("transfers_two_phase"), other = trace.counter_index("transfers_other");
  for (const trace::CounterSet& set : trace.counter_sets) {
    if (set.file == file && two_phase >= 0 && other >= 0) {
      together += set.values[static_cast<size_t>(two_phase)] - set.values[static_cast<size_t>(other)];
    }
  }
  return together > 0;
}

RecordedRun run_of(const TraceFile& trace, const EventsOfFiles& files, Source source, Moves moves) {
  auto recording = std::make_shared<bench::Recording>();
  recording->ranks.resize(trace.ranks.size());
  recording->is_file_a_rank = files.size() > 1;
  int64_t count = 0, bytes = 0;
  for (const auto& [file, events] : files) {
    for (const Event* event : events) {
      recording->ranks[static_cast<size_t>(event->rank)].push_back({event->offset, event->bytes});
      ++count;
      bytes += event->bytes;
    }
  }
  const int32_t file = files.begin()->first;
  RecordedRun run;
  run.requests = recording;
  run.writes = moves == Moves::kWrite;
  run.collective = are_collective(trace, files) || are_counted_as_collective(trace, file);
  const std::string name = file < 0 ? "no file" : trace.files[static_cast<size_t>(file)];
  run.told = fmt::format("{} {} {} of {} ranks, {:.1f} MB, {} '{}'", count, run.writes ? "writing" : "reading",
                         source == Source::kCalls ? (run.collective ? "collective calls" : "independent calls") : "requests",
                         trace.ranks.size(), static_cast<double>(bytes) / 1e6,
                         files.size() > 1 ? fmt::format("{} files, as", files.size()) : "of", name);
  return run;
}

}  // namespace

RecordedRun recorded_run(const TraceFile& trace) {
  for (const Moves moves : {Moves::kWrite, Moves::kRead}) {
    for (const Source source : {Source::kCalls, Source::kStorage}) {
      const EventsOfFiles files = events_of(trace, source, moves);
      if (files.empty()) {
        continue;
      }
      const EventsOfFiles played = chosen(files);
      if (source == Source::kCalls && moves == Moves::kWrite && interleave(played.begin()->second)) {
        continue;
      }
      return run_of(trace, played, source, moves);
    }
  }
  throw Error(ErrorCode::kNotFound, "the trace has no requests with their places: record with STRIA_TRACE=full");
}

}  // namespace stria::tool
