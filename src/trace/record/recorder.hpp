// Describes what one rank records: spans in rings of its threads, names, counters and facts, and
// the part file for them.
//
// Problem: a span must cost tens of nanoseconds, and nothing when tracing is off. A crash must lose
// no more than the spans since the last commit.
// Method: each thread fills a ring of its own without locks. When the ring is full, at commits and
// at the end, it is drained into the part (part.hpp). This is a file once the run has a directory;
// until then it is memory (part_writer.hpp). Records for which there is no room are counted.
// Cost: see lab/compare/trace_overhead.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "stria/status.hpp"
#include "trace/counters/file_counters.hpp"
#include "trace/events/ticks.hpp"
#include "trace/format/part.hpp"
#include "trace/record/name_table.hpp"
#include "trace/record/part_writer.hpp"
#include "trace/record/ring.hpp"
#include "trace/record/run_clock.hpp"

namespace stria::trace {

class Recorder {
 public:
  Recorder();
  ~Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Returns the recorder of this process's spans. Never destroyed.
  static Recorder& instance();

  // Names (name_table.hpp). A number stays valid.
  uint16_t file(const std::string& path);
  int32_t dataset(const std::string& name);
  bool has_files() const;
  Kind define_kind(const std::string& name, Layer layer, Detail detail = Detail::kNone, bool overlaps = false);

  /// Returns the counters of a file; they live as long as the recorder.
  FileCounters& counters(uint16_t file);
  /// States a fact about a file, or about the run (file 0). It replaces an earlier one
  /// with the same key.
  void set_fact(uint16_t file, const std::string& key, const std::string& value);

  /// Makes a ring for the calling thread.
  Ring& make_ring();
  /// Gives a ring back for the next thread.
  void release_ring(Ring& ring);
  /// Reserves `count` ids for spans, and returns the first. A ring takes many at a time.
  uint32_t take_ids(uint32_t count) { return next_id_.fetch_add(count, std::memory_order_relaxed); }

  // Identifies the part. `header` identifies this rank. It may be given again, when ranks find each
  // other later.
  void identify(const RankHeader& header);
  RankHeader header() const;
  void add_clock_samples(std::span<const ClockSample> samples);
  /// The part is a file from now on.
  Status open_part(const std::string& path);
  /// Moves finished spans from all rings to the part.
  void drain();
  /// Does the same, with the counters and facts that have changed.
  void flush();
  /// Flushes where there is a part file; otherwise costs a comparison.
  void flush_to_file() {
    if (part_.has_file()) {
      flush();
    }
  }
  /// Flushes and ends the part, so that read_part() can read it whole. Further spans are dropped.
  void end_part();
  /// Reads at most `bytes` bytes of the ended part from `offset`, without the file's header; fewer
  /// only at its end.
  Result<std::vector<std::byte>> read_part(int64_t offset, int64_t bytes);
  /// Drops the part and removes its file.
  void discard_part();

  int64_t dropped() const { return part_.dropped(); }
  RunClock& clock() { return clock_; }
  /// Appends finished records as they are, with times of clock().
  void append_records(uint32_t thread, std::span<const Record> records);

 private:
  void write_names_locked();
  void drain_locked();

  mutable std::mutex mutex_;
  RunClock clock_;
  TickScale scale_;
  NameTable names_;
  std::vector<std::unique_ptr<FileCounters>> counters_;  ///< by file
  struct KnownFact {
    Fact fact;
    bool changed = true;
  };
  std::unordered_map<std::string, KnownFact> facts_;  ///< by file and key
  std::vector<std::unique_ptr<Ring>> rings_;
  std::vector<Ring*> free_rings_;
  std::atomic<uint32_t> next_id_{1};
  std::vector<Record> drained_;  ///< kept for its memory
  PartWriter part_;
};

}  // namespace stria::trace
