// What one rank records: spans in rings of its threads, names, counters and facts, and the part file that they go to.
//
// Problem: a span must cost tens of nanoseconds, and nothing when tracing is off; a crash must cost no more than the spans
// since the last commit. Method: a thread fills a ring of its own without locks; when the ring is full, at commits and at the
// end it is drained into the part (part.hpp): a file once the run has a directory, memory until then. What finds no room is
// counted. Cost: see bench/trace_bench.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "stria/status.hpp"
#include "trace/file_counters.hpp"
#include "trace/part.hpp"
#include "trace/ring.hpp"
#include "trace/ticks.hpp"

namespace stria::trace {

class Recorder {
 public:
  Recorder();
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// The one that spans of this process go to. Never destroyed.
  static Recorder& instance();

  // Names. Numbers stay valid; what exceeds 65,534 files goes under one name.
  uint16_t file(const std::string& path);
  int32_t dataset(const std::string& name);
  bool has_files() const;
  Kind define_kind(const std::string& name, Layer layer, Detail detail = Detail::kNone, bool overlaps = false);

  /// The counters of a file; lives as long as this.
  FileCounters& counters(uint16_t file);
  /// States a fact about a file, or about the run (file 0); replaces what was said under this key.
  void set_fact(uint16_t file, const std::string& key, const std::string& value);

  /// A new ring for the calling thread.
  Ring& make_ring();
  /// Gives a ring back for the next thread.
  void release_ring(Ring& ring);
  /// Numbers for spans, as many as one ring takes at a time.
  uint32_t take_ids(uint32_t count) { return next_id_.fetch_add(count, std::memory_order_relaxed); }

  // The part. `header` says who this rank is; it may be told again when ranks find each other later.
  void identify(const RankHeader& header);
  RankHeader header() const;
  void add_clock_samples(std::span<const ClockSample> samples);
  /// Puts the part into a file from now on, made anew, or renamed where there is one; what was recorded before goes first.
  Status open_part(const std::string& path);
  /// Moves finished spans from all rings to the part.
  void drain();
  /// The same, and what changed of counters and facts.
  void flush();
  /// Flushes where there is a part file; costs a comparison otherwise.
  void flush_to_file() {
    if (has_file_.load(std::memory_order_relaxed)) {
      flush();
    }
  }
  /// Flushes and ends the part, which then is whole for read_part(). Further spans are dropped.
  void end_part();
  /// Bytes of the ended part, without the file's header: up to `bytes` from `offset`; fewer only where it ends.
  Result<std::vector<std::byte>> read_part(int64_t offset, int64_t bytes);
  /// Forgets the part and removes its file.
  void discard_part();

  int64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  int64_t now_ns() const { return clock_(); }
  /// When recording could begin first: now_ns(), and the time of day then.
  int64_t begin_ns() const { return begin_ns_; }
  int64_t begin_unix_ns() const { return begin_unix_ns_; }
  /// Tests: a clock of a rank's own, for records appended directly and for comparing clocks.
  void set_clock(std::function<int64_t()> clock);
  /// Adds finished records as they are, times in now_ns().
  void append_records(uint32_t thread, std::span<const Record> records);

 private:
  void write_names_locked();
  void drain_locked();
  void append_locked(uint32_t thread, std::span<const Record> records);
  void write_locked(std::span<const std::byte> bytes, int64_t record_count);

  mutable std::mutex mutex_;
  RankHeader header_;
  std::function<int64_t()> clock_ = monotonic_ns;
  int64_t begin_ns_ = 0;
  int64_t begin_unix_ns_ = 0;
  TickScale scale_;
  std::unordered_map<std::string, uint16_t> files_;
  std::unordered_map<std::string, int32_t> datasets_;
  std::unordered_map<std::string, Kind> kinds_;          ///< by layer and name
  std::vector<Name> new_names_;                          ///< not in the part yet
  std::vector<std::unique_ptr<FileCounters>> counters_;  ///< by file
  struct KnownFact {
    Fact fact;
    bool changed = true;
  };
  std::unordered_map<std::string, KnownFact> facts_;  ///< by file and key
  std::vector<std::unique_ptr<Ring>> rings_;
  std::vector<Ring*> free_rings_;
  std::atomic<uint32_t> next_id_{1};
  std::vector<Record> drained_;     ///< kept for its memory
  std::vector<std::byte> encoded_;  ///< likewise
  std::vector<std::byte> pending_;  ///< of the part, not in its file
  std::string part_path_;
  int part_file_ = -1;
  std::atomic<bool> has_file_{false};
  int64_t part_bytes_ = 0;  ///< of the file
  bool ended_ = false;
  std::atomic<int64_t> dropped_{0};
};

}  // namespace stria::trace
