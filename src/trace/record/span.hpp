// Records a span as long as the object lives. This costs a branch when its layer is not recorded;
// otherwise two readings of the clock, and 48 bytes in the thread's ring.
//
//   // A call on a file; the spans within it are about that file.
//   trace::FileSpan span(trace::kind(trace::BuiltIn::kFileCommit), file);
//   trace::Span inner(trace::kind(Phase::kPack));
//   inner.set_bytes(n);
#pragma once

#include <atomic>
#include <cstdint>

#include "trace/events/kinds.hpp"
#include "trace/events/ticks.hpp"
#include "trace/record/ring.hpp"

namespace stria::trace {

/// It has a bit for each layer that is recorded, and kCountersBit.
extern std::atomic<uint32_t> recorded_layers;
inline constexpr uint32_t kCountersBit = 1U << kLayerCount;

inline bool is_recorded(Layer layer) {
  return ((recorded_layers.load(std::memory_order_relaxed) >> static_cast<unsigned>(layer)) & 1U) != 0;
}
inline bool is_counting() {
  return (recorded_layers.load(std::memory_order_relaxed) & kCountersBit) != 0;
}

/// This is the thread's ring; it is made by ring() at its first call.
extern constinit thread_local Ring* thread_ring __attribute__((tls_model("initial-exec")));
Ring& make_thread_ring();
inline Ring& ring() {
  return thread_ring != nullptr ? *thread_ring : make_thread_ring();
}

class Span {
 public:
  explicit Span(Kind kind) {
    if (is_recorded(kind.layer)) {
      begin(kind);
    }
  }
  ~Span() {
    if (id_ != 0) {
      end();
    }
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  /// False when the span is not recorded: code that only fills in its fields can be skipped.
  bool recorded() const { return id_ != 0; }
  void set_bytes(int64_t bytes) { bytes_ = bytes; }
  void set_offset(int64_t offset) { offset_ = offset; }
  /// Sets what the kind says: count, peer, dataset.
  void set_detail(int64_t detail) { detail_ = static_cast<int32_t>(detail); }

 private:
  void begin(Kind kind) {
    Ring& mine = ring();
    kind_ = kind.id;
    id_ = mine.new_id();
    parent_ = mine.open_span;
    mine.open_span = id_;
    bytes_ = offset_ = -1;
    detail_ = -1;
    begin_ = ticks();
  }
  void end() {
    Ring& mine = *thread_ring;
    mine.open_span = parent_;
    mine.append({begin_, ticks(), bytes_, offset_, id_, parent_, detail_, kind_, mine.file});
  }

  uint32_t id_ = 0;
  uint32_t parent_;
  int64_t begin_;
  int64_t bytes_;
  int64_t offset_;
  int32_t detail_;
  uint16_t kind_;
};

/// Says which file the calls of this thread are about, as long as the object lives.
class FileScope {
 public:
  explicit FileScope(uint16_t file) : ring_(ring()), before_(ring_.file) { ring_.file = file; }
  ~FileScope() { ring_.file = before_; }
  FileScope(const FileScope&) = delete;
  FileScope& operator=(const FileScope&) = delete;

 private:
  Ring& ring_;
  uint16_t before_;
};

/// A call on a file.
class FileSpan {
 public:
  FileSpan(Kind kind, uint16_t file) : scope_(file), span_(kind) {}
  Span* operator->() { return &span_; }

 private:
  FileScope scope_;
  Span span_;
};

/// A span that may end on another thread, or overlap others. It begins when it is made;
/// finish() records it.
class LooseSpan {
 public:
  explicit LooseSpan(Kind kind) {
    if (is_recorded(kind.layer)) {
      Ring& mine = ring();
      record_.kind = kind.id;
      record_.id = mine.new_id();
      record_.parent = mine.open_span;
      record_.file = mine.file;
      record_.begin_ns = ticks();
    }
  }
  void set_bytes(int64_t bytes) { record_.bytes = bytes; }
  void set_offset(int64_t offset) { record_.offset = offset; }
  void set_detail(int64_t detail) { record_.detail = static_cast<int32_t>(detail); }
  void finish() {
    if (record_.id != 0) {
      record_.end_ns = ticks();
      ring().append(record_);
      record_.id = 0;
    }
  }

 private:
  Record record_;  // times in ticks
};

}  // namespace stria::trace
