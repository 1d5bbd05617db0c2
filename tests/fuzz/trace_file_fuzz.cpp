// Reads arbitrary bytes as a trace: nothing may crash or hang, and what is read must be sound.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/hash.hpp"
#include "trace/format/part_reader.hpp"
#include "trace/format/trace_file.hpp"

namespace {

using namespace stria::trace;

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void check(std::span<const std::byte> bytes) {
  const auto trace = TraceFile::parse(bytes);
  if (!trace.ok()) {
    return;
  }
  for (const Event& event : trace->events) {
    require(event.end_ns >= event.begin_ns && event.kind < trace->kinds.size());
    require(event.rank >= 0 && event.rank < trace->rank_count() && event.peer < trace->rank_count());
    require(event.file < static_cast<int>(trace->files.size()) && event.dataset < static_cast<int>(trace->datasets.size()));
    require(trace->ranks[static_cast<size_t>(event.rank)].present);
  }
  for (const CounterSet& set : trace->counter_sets) {
    require(set.values.size() == trace->counters.size() && set.file < static_cast<int>(trace->files.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> bytes(first, first + size);
  check(bytes);
  // The same with checksums that fit, so that what lies behind them is reached.
  for (size_t at = kHeaderBytes; at < bytes.size();) {
    const auto section = section_at(bytes, at);
    if (!section) {
      break;
    }
    const uint64_t sum = stria::hash_bytes(section->payload);
    std::memcpy(bytes.data() + at + 16, &sum, sizeof sum);
    at += kSectionHeaderBytes + section->payload.size();
  }
  check(bytes);
  return 0;
}
