#include "store/timed_driver.hpp"

#include <algorithm>
#include <utility>

namespace stria::simulate {

namespace {

using storage::Capabilities;
using storage::Driver;
using storage::File;
using storage::OpenOptions;

/// Holds what the files of a driver share.
struct Shared {
  Clock& clock;
  Store& store;
  bool carries_data;
  storage::MemoryDriver& memory;
  std::map<std::string, std::shared_ptr<StoredFile>> files;

  /// The running rank waits for the metadata server.
  void take_metadata_time(double seconds, NameServer::Work work = NameServer::Work::kOther) {
    clock.settle();
    store.names().serve(seconds, work);
  }
  double settled() {
    clock.settle();
    return clock.now();
  }
};

/// An operation of the store, for which a rank may wait.
class Running : public storage::PendingWrite {
 public:
  Running(Clock& clock, trace::BuiltIn kind, Status outcome)
      : clock_(clock),
        kind_(kind),
        state_(std::make_shared<State>()),
        outcome_(std::move(outcome)),
        begin_s_(clock.free_at()) {}
  void moves(std::span<const Store::Part> parts) {
    for (const Store::Part& part : parts) {
      bytes_ += part.bytes;
    }
    offset_ = parts.empty() ? -1 : parts.front().offset;
  }
  std::function<void()> end() {
    return [&clock = clock_, state = state_] {
      state->done = true;
      if (state->waiting_rank >= 0) {
        clock.wake(state->waiting_rank, clock.now());
      }
    };
  }
  bool done() override { return state_->done; }
  Status wait() override {
    while (!state_->done && !clock_.is_cancelled()) {
      state_->waiting_rank = clock_.current();
      clock_.block("waits for the storage");
    }
    if (!std::exchange(is_noted_, true)) {
      clock_.note(kind_, begin_s_, bytes_, offset_);
    }
    return outcome_;
  }

 private:
  struct State {
    bool done = false;
    int waiting_rank = -1;
  };
  Clock& clock_;
  trace::BuiltIn kind_;
  std::shared_ptr<State> state_;
  Status outcome_;
  double begin_s_;
  int64_t bytes_ = 0;
  int64_t offset_ = -1;
  bool is_noted_ = false;
};

/// A lock of a program. It is free when the call that gives it up is over; those who wait for one
/// of the file then look again.
class TimedLock : public storage::RangeLock {
 public:
  struct Held {
    std::shared_ptr<File> file;  ///< It must outlive the lock.
    std::unique_ptr<storage::RangeLock> lock;
    std::shared_ptr<StoredFile> stored;
  };
  TimedLock(Clock& clock, double call_s, Held held)
      : clock_(clock), call_s_(call_s), held_(std::make_shared<Held>(std::move(held))) {}
  ~TimedLock() override {
    clock_.charge(call_s_);
    clock_.at(clock_.free_at(), [&clock = clock_, held = std::move(held_)] {
      held->lock.reset();
      for (const int rank : std::exchange(held->stored->lock_waiters, {})) {
        clock.wake(rank, clock.now());
      }
    });
  }
  TimedLock(const TimedLock&) = delete;
  TimedLock& operator=(const TimedLock&) = delete;

 private:
  Clock& clock_;
  double call_s_;
  std::shared_ptr<Held> held_;
};

class TimedFile : public File {
 public:
  TimedFile(Shared& shared, std::unique_ptr<File> bytes, std::shared_ptr<StoredFile> stored)
      : shared_(shared), bytes_(std::move(bytes)), stored_(std::move(stored)) {
    const Machine& machine = shared.store.machine();
    capabilities_.stripe_bytes = stored_->stripe_bytes;
    capabilities_.stripe_count = stored_->stripe_count;
    capabilities_.striped_as_told = true;
    capabilities_.lock_unit_bytes =
        machine.locks.scope == Locks::Scope::kServer ? stored_->stripe_bytes : static_cast<int64_t>(machine.locks.unit_bytes);
    capabilities_.block_bytes = machine.servers.block_bytes > 0 ? static_cast<int64_t>(machine.servers.block_bytes) : 4096;
    capabilities_.native_list = machine.servers.list_regions > 1;
    capabilities_.node_local_cache = false;
    capabilities_.parallel_writes = true;
    capabilities_.asynchronous = true;
  }

  const std::string& path() const override { return bytes_->path(); }
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<storage::Identity> identity() override { return storage::Identity{0, stored_->number}; }
  const File& plain() const override { return *this; }
  const File& bytes() const { return *bytes_; }

  Status write(std::span<const storage::WriteSegment> segments) override {
    return begin_write(segments, trace::BuiltIn::kStorageWrite)->wait();
  }
  std::unique_ptr<storage::PendingWrite> start_write(std::span<const storage::WriteSegment> segments) override {
    return begin_write(segments, trace::BuiltIn::kStorageWriteBehind);
  }
  Result<int64_t> read(std::span<const storage::ReadSegment> segments) override {
    std::vector<Store::Part> parts;
    int64_t read_bytes = 0;
    for (const storage::ReadSegment& segment : segments) {
      const int64_t bytes = std::clamp<int64_t>(stored_->size_bytes - segment.offset, 0, segment.bytes);
      parts.push_back({segment.offset, bytes});
      read_bytes += bytes;
    }
    Running running(shared_.clock, trace::BuiltIn::kStorageRead, {});
    start(parts, false, running);
    STRIA_RETURN_IF_ERROR(running.wait());
    return shared_.carries_data ? bytes_->read(segments) : Result<int64_t>(read_bytes);
  }

  // They cost what those of the store do, and the call. Who comes first gets it first.
  Result<std::unique_ptr<storage::RangeLock>> lock(ByteRange range, storage::LockMode mode) override {
    const Locks& locks = shared_.store.machine().locks;
    shared_.clock.charge(locks.grant_s + locks.call_s);
    shared_.clock.settle();
    while (!shared_.clock.is_cancelled()) {
      STRIA_ASSIGN_OR_RETURN(auto lock, try_lock(range, mode));
      if (lock != nullptr) {
        return lock;
      }
      stored_->lock_waiters.push_back(shared_.clock.current());
      shared_.clock.block("waits for a lock of the file");
    }
    return Status(ErrorCode::kInternal, "the run was given up while a rank waited for a lock");
  }
  Result<std::unique_ptr<storage::RangeLock>> try_lock(ByteRange range, storage::LockMode mode) override {
    STRIA_ASSIGN_OR_RETURN(auto lock, bytes_->try_lock(really_locked(range), mode));
    std::unique_ptr<storage::RangeLock> timed;
    if (lock != nullptr) {
      const double call_s = shared_.store.machine().locks.call_s;
      timed = std::make_unique<TimedLock>(shared_.clock, call_s, TimedLock::Held{bytes_, std::move(lock), stored_});
    }
    return timed;
  }
  Result<bool> is_locked_elsewhere(ByteRange range) override { return bytes_->is_locked_elsewhere(range); }

  Result<int64_t> size() override { return stored_->size_bytes; }
  Status resize(int64_t bytes) override {
    shared_.take_metadata_time(shared_.store.machine().metadata.open_s);
    stored_->size_bytes = bytes;
    return shared_.carries_data ? bytes_->resize(bytes) : Status();
  }
  Status preallocate(int64_t bytes) override {
    return Status(ErrorCode::kUnsupported, "the modelled storage reserves no space for " + std::to_string(bytes) + " bytes");
  }
  Status sync() override { return {}; }
  Status close() override { return bytes_->close(); }

 private:
  // Every two ranges that begin at the first byte overlap.
  ByteRange really_locked(ByteRange range) const {
    return shared_.store.machine().locks.whole_file != 0 ? ByteRange{0, range.end} : range;
  }
  std::unique_ptr<Running> begin_write(std::span<const storage::WriteSegment> segments, trace::BuiltIn kind) {
    std::vector<Store::Part> parts;
    for (const storage::WriteSegment& segment : segments) {
      parts.push_back({segment.offset, segment.bytes});
      shared_.store.count_write(segment.bytes);
      stored_->size_bytes = std::max(stored_->size_bytes, segment.offset + segment.bytes);
    }
    auto running = std::make_unique<Running>(shared_.clock, kind, shared_.carries_data ? bytes_->write(segments) : Status());
    start(parts, true, *running);
    return running;
  }
  void start(std::span<const Store::Part> parts, bool writes, Running& running) {
    running.moves(parts);
    shared_.store.start({.file = *stored_, .rank = shared_.clock.current(), .writes = writes}, parts, shared_.settled(),
                        running.end());
  }

  Shared& shared_;
  std::shared_ptr<File> bytes_;
  std::shared_ptr<StoredFile> stored_;
  Capabilities capabilities_;
};

class TimedDriver : public Driver {
 public:
  explicit TimedDriver(const Shared& shared) : shared_(shared) {}

  const char* name() const override { return "simulated"; }
  Result<std::unique_ptr<File>> open(const std::string& path, const OpenOptions& options) override {
    const MetadataServer& metadata = shared_.store.machine().metadata;
    const double begin_s = shared_.clock.free_at();
    // What another rank does meanwhile must not come between the look at the name and its creation.
    STRIA_ASSIGN_OR_RETURN(auto bytes, shared_.memory.open(path, options));
    std::shared_ptr<StoredFile>& stored = shared_.files[path];
    const bool is_new = stored == nullptr;
    if (is_new) {
      stored = shared_.store.create(options.striping);
    } else if (options.mode == OpenOptions::Mode::kCreate) {
      stored->size_bytes = 0;
    }
    const std::shared_ptr<StoredFile> file = stored;
    if (is_new) {
      shared_.take_metadata_time(metadata.create_s + metadata.object_s * file->stripe_count, NameServer::Work::kCreate);
      make_objects(*file);
    } else {
      shared_.take_metadata_time(metadata.open_s);
    }
    shared_.clock.note(trace::BuiltIn::kStorageOpen, begin_s);
    return std::unique_ptr<File>(std::make_unique<TimedFile>(shared_, std::move(bytes), file));
  }
  Result<std::unique_ptr<File>> open_again(const File& file, const OpenOptions& options) override {
    return open(file.path(), options);
  }
  Result<storage::Identity> identity(const std::string& path) override {
    const auto found = shared_.files.find(path);
    if (found == shared_.files.end()) {
      return shared_.memory.identity(path);
    }
    return storage::Identity{0, found->second->number};
  }
  Result<storage::NameInfo> name_info(const std::string& path) override {
    shared_.take_metadata_time(shared_.store.machine().metadata.open_s);
    return shared_.memory.name_info(path);
  }
  Status rename(const std::string& from, const std::string& to) override {
    const double begin_s = shared_.clock.free_at();
    shared_.take_metadata_time(shared_.store.machine().metadata.rename_s);
    shared_.clock.note(trace::BuiltIn::kStorageName, begin_s);
    if (auto moved = shared_.files.extract(from); !moved.empty()) {
      shared_.files[to] = std::move(moved.mapped());
    }
    return shared_.memory.rename(from, to);
  }
  Status remove(const std::string& path) override {
    shared_.take_metadata_time(shared_.store.machine().metadata.rename_s);
    shared_.files.erase(path);
    return shared_.memory.remove(path);
  }
  Result<bool> exists(const std::string& path) override {
    shared_.take_metadata_time(shared_.store.machine().metadata.open_s);
    return shared_.memory.exists(path);
  }
  Status sync_directory(const std::string& path) override { return shared_.memory.sync_directory(path); }
  Result<std::vector<std::string>> list_directory(const std::string& directory) override {
    return shared_.memory.list_directory(directory);
  }

 private:
  // The maker goes from server to server.
  void make_objects(const StoredFile& file) {
    const Machine& machine = shared_.store.machine();
    Clock& clock = shared_.clock;
    for (int stripe = 0; stripe < file.stripe_count && machine.metadata.object_on_server_s > 0; ++stripe) {
      clock.sleep_until(clock.now() + machine.nodes.latency_s);
      clock.sleep_until(shared_.store.make_object(file, stripe, clock.now()) + machine.nodes.latency_s);
    }
  }

  Shared shared_;
};

}  // namespace

std::unique_ptr<Driver> make_timed_driver(Clock& clock, Store& store, storage::MemoryDriver& memory, bool carries_data) {
  return std::make_unique<TimedDriver>(Shared{clock, store, carries_data, memory, {}});
}

}  // namespace stria::simulate
