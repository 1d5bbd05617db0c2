#include "trace/record/recorder.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "trace/record/recorder_link.hpp"
#include "trace/record/span.hpp"
#include "trace/record/wait_timer.hpp"

namespace stria::trace {

std::atomic<uint32_t> recorded_layers{kCountersBit};
constinit thread_local Ring* thread_ring __attribute__((tls_model("initial-exec"))) = nullptr;

Ring& make_thread_ring() {
  /// Gives the ring to the next thread when this one ends.
  struct Owner {
    Ring* ring = nullptr;  // null: the ring belongs to another library
    ~Owner() {
      thread_ring = nullptr;
      if (ring != nullptr) {
        Recorder::instance().release_ring(*ring);
      }
    }
  };
  static thread_local Owner owner;
  if (const RecorderLink* link = used_link()) {
    thread_ring = &link->thread_ring();
    return *thread_ring;
  }
  owner.ring = &Recorder::instance().make_ring();
  thread_ring = owner.ring;
  return *thread_ring;
}

void Ring::take_ids() {
  constexpr uint32_t kAtATime = 1024;
  next_id_ = recorder_.take_ids(kAtATime);
  end_id_ = next_id_ + kAtATime;
}

void Ring::make_room() {
  if (records_ == nullptr) {
    records_ = std::make_unique<Record[]>(kCapacity);
    room_ = kCapacity;
  } else {
    recorder_.drain();
  }
}

Recorder::Recorder() {
  counters_.push_back(std::make_unique<FileCounters>());  // for calls that are about no file
}

Recorder& Recorder::instance() {
  if (const RecorderLink* link = used_link()) {
    return link->recorder();
  }
  static Recorder* recorder = new Recorder;
  return *recorder;
}

uint16_t Recorder::file(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const uint16_t number = names_.file(path);
  if (counters_.size() < names_.file_numbers()) {
    counters_.push_back(std::make_unique<FileCounters>());
  }
  return number;
}

bool Recorder::has_files() const {
  const std::lock_guard lock(mutex_);
  return names_.has_files();
}

int32_t Recorder::dataset(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return names_.dataset(name);
}

Kind Recorder::define_kind(const std::string& name, Layer layer, Detail detail, bool overlaps) {
  const std::lock_guard lock(mutex_);
  return names_.kind(name, layer, detail, overlaps);
}

FileCounters& Recorder::counters(uint16_t file) {
  const std::lock_guard lock(mutex_);
  return *counters_[file];
}

void WaitTimer::count(int64_t waited_ticks) const {
  Recorder::instance().counters(file_).add(Counter::kWaitNs, ticks_to_ns(waited_ticks));
}

void Recorder::set_fact(uint16_t file, const std::string& key, const std::string& value) {
  const std::lock_guard lock(mutex_);
  KnownFact& known = facts_[std::to_string(file) + " " + key];
  known.changed = known.changed || known.fact.value != value;
  known.fact = {file, key, value};
}

Ring& Recorder::make_ring() {
  const std::lock_guard lock(mutex_);
  if (!free_rings_.empty()) {
    Ring* ring = free_rings_.back();
    free_rings_.pop_back();
    return *ring;
  }
  rings_.push_back(std::make_unique<Ring>(*this, static_cast<uint32_t>(rings_.size())));
  return *rings_.back();
}

void Recorder::release_ring(Ring& ring) {
  const std::lock_guard lock(mutex_);
  ring.open_span = 0;
  ring.file = 0;
  free_rings_.push_back(&ring);
}

void Recorder::identify(const RankHeader& header) {
  const std::lock_guard lock(mutex_);
  part_.identify(header);
}

RankHeader Recorder::header() const {
  const std::lock_guard lock(mutex_);
  return part_.header();
}

void Recorder::add_clock_samples(std::span<const ClockSample> samples) {
  std::vector<std::byte> bytes;
  append(bytes, samples);
  const std::lock_guard lock(mutex_);
  part_.write(bytes);
}

Status Recorder::open_part(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return part_.open(path);
}

void Recorder::drain() {
  const std::lock_guard lock(mutex_);
  drain_locked();
}

// Names come before the records that use them.
void Recorder::write_names_locked() {
  const std::vector<Name> names = names_.take_new();
  if (!names.empty()) {
    std::vector<std::byte> bytes;
    append(bytes, std::span<const Name>(names));
    part_.write(bytes);
  }
}

void Recorder::drain_locked() {
  write_names_locked();
  scale_.anchor();
  for (const auto& ring : rings_) {
    std::vector<Record>& records = drained_;
    records.clear();
    ring->drain([&](Record record) {
      record.begin_ns = scale_.to_ns(record.begin_ns);
      record.end_ns = std::max(scale_.to_ns(record.end_ns), record.begin_ns);
      records.push_back(record);
    });
    part_.write_records(ring->thread(), records);
  }
}

void Recorder::append_records(uint32_t thread, std::span<const Record> records) {
  const std::lock_guard lock(mutex_);
  write_names_locked();
  part_.write_records(thread, records);
}

void Recorder::flush() {
  const std::lock_guard lock(mutex_);
  drain_locked();
  std::vector<CounterValues> sets;
  for (size_t file = 0; file < counters_.size(); ++file) {
    if (!counters_[file]->take_changed()) {
      continue;
    }
    CounterValues set{static_cast<uint32_t>(file), {}};
    const std::array<int64_t, kCounterCount> values = counters_[file]->values();
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] != 0) {
        set.values.emplace_back(static_cast<uint32_t>(i) + 1, values[i]);
      }
    }
    sets.push_back(std::move(set));
  }
  std::vector<Fact> facts;
  for (auto& [key, known] : facts_) {
    if (std::exchange(known.changed, false)) {
      facts.push_back(known.fact);
    }
  }
  std::vector<std::byte> bytes;
  if (!sets.empty()) {
    append(bytes, std::span<const CounterValues>(sets));
  }
  if (!facts.empty()) {
    append(bytes, std::span<const Fact>(facts));
  }
  part_.write(bytes);
}

void Recorder::end_part() {
  flush();
  const std::lock_guard lock(mutex_);
  part_.end(clock_.now_ns());
}

Result<std::vector<std::byte>> Recorder::read_part(int64_t offset, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  return part_.read(offset, bytes);
}

void Recorder::discard_part() {
  const std::lock_guard lock(mutex_);
  part_.discard();
}

}  // namespace stria::trace
