#include "trace/record/recorder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "trace/events/kinds.hpp"
#include "trace/record/recorder_link.hpp"
#include "trace/record/span.hpp"
#include "trace/record/wait_timer.hpp"

namespace stria::trace {

namespace {

constexpr uint16_t kOtherFiles = 65535;
// The most that is kept in memory while there is no file for it.
constexpr size_t kPendingBytesMax = 64 << 20;

Status write_at(int file, std::span<const std::byte> bytes, int64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno != EINTR) {
      return Status::from_errno(errno, "write a part of the trace");
    }
    if (written > 0) {
      bytes = bytes.subspan(static_cast<size_t>(written));
      offset += written;
    }
  }
  return {};
}

int64_t unix_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::vector<std::byte> header_bytes(const RankHeader& header) {
  std::vector<std::byte> bytes;
  append(bytes, header);
  return bytes;
}

}  // namespace

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

void Recorder::set_clock(std::function<int64_t()> clock) {
  clock_ = std::move(clock);
  begin_ns_ = clock_();
  begin_unix_ns_ = unix_ns();
}

Recorder::Recorder() {
  set_clock(monotonic_ns);
  uint32_t id = 0;
  for (const KindInfo& kind : built_in_kinds()) {
    new_names_.push_back({Table::kKind, id, kind.name, kind.layer, kind.detail, kind.overlaps});
    kinds_[layer_name(kind.layer) + kind.name] = {static_cast<uint16_t>(id), kind.layer};
    ++id;
  }
  for (int counter = 0; counter < kCounterCount; ++counter) {
    new_names_.push_back({Table::kCounter, static_cast<uint32_t>(counter) + 1, counter_name(static_cast<Counter>(counter))});
  }
  counters_.push_back(std::make_unique<FileCounters>());  // for calls that are about no file
}

Recorder::~Recorder() {
  if (part_file_ >= 0) {
    ::close(part_file_);
  }
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
  auto found = files_.find(path);
  if (found != files_.end()) {
    return found->second;
  }
  const auto id = static_cast<uint16_t>(std::min<size_t>(counters_.size(), kOtherFiles));
  if (counters_.size() <= kOtherFiles) {
    new_names_.push_back({Table::kFile, id, id == kOtherFiles ? "(other files)" : path});
    counters_.push_back(std::make_unique<FileCounters>());
  }
  if (id != kOtherFiles) {
    files_.emplace(path, id);
  }
  return id;
}

bool Recorder::has_files() const {
  const std::lock_guard lock(mutex_);
  return !files_.empty();
}

int32_t Recorder::dataset(const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto [found, inserted] = datasets_.emplace(name, static_cast<int32_t>(datasets_.size()) + 1);
  if (inserted) {
    new_names_.push_back({Table::kDataset, static_cast<uint32_t>(found->second), name});
  }
  return found->second;
}

Kind Recorder::define_kind(const std::string& name, Layer layer, Detail detail, bool overlaps) {
  const std::lock_guard lock(mutex_);
  auto [found, inserted] = kinds_.emplace(layer_name(layer) + name, Kind{static_cast<uint16_t>(kinds_.size()), layer});
  if (inserted) {
    new_names_.push_back({Table::kKind, found->second.id, name, layer, detail, overlaps});
  }
  return found->second;
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
  header_ = header;
  if (part_file_ >= 0) {
    // Only numbers change, so that the section keeps its size. If this write fails, the error shows
    // when the part is read.
    (void)write_at(part_file_, header_bytes(header_), kHeaderBytes);
  }
}

RankHeader Recorder::header() const {
  const std::lock_guard lock(mutex_);
  return header_;
}

void Recorder::add_clock_samples(std::span<const ClockSample> samples) {
  std::vector<std::byte> bytes;
  append(bytes, samples);
  const std::lock_guard lock(mutex_);
  write_locked(bytes, 0);
}

Status Recorder::open_part(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (part_file_ >= 0) {
    const int renamed = ::rename(part_path_.c_str(), path.c_str());
    part_path_ = renamed == 0 ? path : part_path_;
    return renamed == 0 ? Status() : Status::from_errno(errno, "rename '" + part_path_ + "'");
  }
  // The directory is new, so that what has the name is another program's.
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) {
    return Status::from_errno(errno, "create '" + path + "'");
  }
  std::vector<std::byte> start;
  append_header(start);
  append(start, header_);
  Status status = write_at(file, start, 0);
  if (!status.ok()) {
    ::close(file);
    return status;
  }
  part_file_ = file;
  has_file_.store(true, std::memory_order_relaxed);
  part_path_ = path;
  part_bytes_ = static_cast<int64_t>(start.size());
  const std::vector<std::byte> before = std::move(pending_);
  pending_.clear();
  write_locked(before, 0);
  return {};
}

// Appends to the part. Records that can't be written count as lost. Names, counters and the end,
// which tell it, always have room in memory.
void Recorder::write_locked(std::span<const std::byte> bytes, int64_t record_count) {
  if (ended_) {
    dropped_.fetch_add(record_count, std::memory_order_relaxed);
    return;
  }
  if (part_file_ >= 0) {
    if (write_at(part_file_, bytes, part_bytes_).ok()) {
      part_bytes_ += static_cast<int64_t>(bytes.size());
      return;
    }
  } else if (record_count == 0 || pending_.size() + bytes.size() <= kPendingBytesMax) {
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
    return;
  }
  dropped_.fetch_add(record_count, std::memory_order_relaxed);
}

void Recorder::drain() {
  const std::lock_guard lock(mutex_);
  drain_locked();
}

// Names come before the records that use them.
void Recorder::write_names_locked() {
  if (!new_names_.empty()) {
    std::vector<std::byte> bytes;
    append(bytes, std::span<const Name>(new_names_));
    new_names_.clear();
    write_locked(bytes, 0);
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
    append_locked(ring->thread(), records);
  }
}

void Recorder::append_locked(uint32_t thread, std::span<const Record> records) {
  if (!records.empty()) {
    std::vector<std::byte>& bytes = encoded_;
    bytes.clear();
    append(bytes, thread, records);
    write_locked(bytes, static_cast<int64_t>(records.size()));
  }
}

void Recorder::append_records(uint32_t thread, std::span<const Record> records) {
  const std::lock_guard lock(mutex_);
  write_names_locked();
  append_locked(thread, records);
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
  write_locked(bytes, 0);
}

void Recorder::end_part() {
  flush();
  const std::lock_guard lock(mutex_);
  std::vector<std::byte> bytes;
  append(bytes, EndOfPart{now_ns(), static_cast<uint64_t>(dropped())});
  write_locked(bytes, 0);
  ended_ = true;
}

Result<std::vector<std::byte>> Recorder::read_part(int64_t offset, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (part_file_ < 0) {
    std::vector<std::byte> whole = header_bytes(header_);
    whole.insert(whole.end(), pending_.begin(), pending_.end());
    const int64_t begin = std::min<int64_t>(offset, static_cast<int64_t>(whole.size()));
    const int64_t end = std::min<int64_t>(begin + bytes, static_cast<int64_t>(whole.size()));
    return std::vector<std::byte>(whole.begin() + begin, whole.begin() + end);
  }
  offset += static_cast<int64_t>(kHeaderBytes);
  std::vector<std::byte> read(static_cast<size_t>(std::clamp<int64_t>(part_bytes_ - offset, 0, bytes)));
  for (size_t done = 0; done < read.size();) {
    const ssize_t got = ::pread(part_file_, read.data() + done, read.size() - done, offset + static_cast<int64_t>(done));
    if (got == 0 || (got < 0 && errno != EINTR)) {
      return Status::from_errno(got == 0 ? EIO : errno, "read '" + part_path_ + "'");
    }
    done += got > 0 ? static_cast<size_t>(got) : 0;
  }
  return read;
}

void Recorder::discard_part() {
  const std::lock_guard lock(mutex_);
  pending_.clear();
  if (part_file_ >= 0) {
    ::close(part_file_);
    part_file_ = -1;
    has_file_.store(false, std::memory_order_relaxed);
    ::unlink(part_path_.c_str());
  }
}

}  // namespace stria::trace
