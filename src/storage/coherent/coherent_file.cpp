#include "storage/coherent/coherent_file.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/check.hpp"

namespace stria::storage {

namespace {

// So many looks take about twenty seconds. A process that holds a lock for longer has died, or is
// being debugged.
constexpr int kLooks = 1000;
constexpr std::chrono::microseconds kShortestPause(100), kLongestPause(20'000);

// An NFS client that waits for a lock looks again after a second, then less and less often. So this
// first looks by itself, at shorter intervals.
Result<std::unique_ptr<RangeLock>> lock_soon(File& file, ByteRange range, LockMode mode) {
  auto pause = kShortestPause;
  for (int look = 0; look < kLooks; ++look) {
    STRIA_ASSIGN_OR_RETURN(auto lock, file.try_lock(range, mode));
    if (lock != nullptr) {
      return lock;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
  return file.lock(range, mode);
}

template <typename Segment>
ByteRange hull_of(std::span<const Segment> segments) {
  ByteRange hull{INT64_MAX, 0};
  for (const Segment& segment : segments) {
    hull = {std::min(hull.begin, segment.offset), std::max(hull.end, segment.offset + segment.bytes)};
  }
  return hull;
}

class CoherentFile;

/// A lock that the user of the file holds, one at a time. Accesses that touch its range take no
/// lock of their own.
class HeldLock final : public RangeLock {
 public:
  HeldLock(CoherentFile& file, std::unique_ptr<RangeLock> lock) : file_(file), lock_(std::move(lock)) {}
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;
  ~HeldLock() override;

 private:
  CoherentFile& file_;
  std::unique_ptr<RangeLock> lock_;
};

class CoherentFile final : public File {
 public:
  explicit CoherentFile(std::unique_ptr<File> file) : file_(std::move(file)), capabilities_(file_->capabilities()) {
    capabilities_.asynchronous = false;
    capabilities_.node_local_cache = false;
    capabilities_.native_types = false;  // accesses are locked range by range
    capabilities_.locks_itself = capabilities_.locks_reach_all;
  }

  const std::string& path() const override { return file_->path(); }
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<Identity> identity() override { return file_->identity(); }
  const File& plain() const override { return file_->plain(); }

  Status write(std::span<const WriteSegment> segments) override {
    const ByteRange range = hull_of(segments);
    STRIA_ASSIGN_OR_RETURN(const auto lock, begin(range, LockMode::kExclusive));
    STRIA_RETURN_IF_ERROR(file_->write(segments));
    return capabilities_.locks_itself ? Status() : file_->hand_over(range);
  }

  Result<int64_t> read(std::span<const ReadSegment> segments) override {
    const ByteRange range = hull_of(segments);
    STRIA_ASSIGN_OR_RETURN(const auto lock, begin(range, LockMode::kShared));
    if (!capabilities_.locks_itself) {
      STRIA_RETURN_IF_ERROR(file_->refresh(range));
    }
    return file_->read(segments);
  }

  Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode) override {
    STRIA_ASSIGN_OR_RETURN(auto lock, lock_soon(*file_, range, mode));
    return hold(range, std::move(lock));
  }
  Result<std::unique_ptr<RangeLock>> try_lock(ByteRange range, LockMode mode) override {
    STRIA_ASSIGN_OR_RETURN(auto lock, file_->try_lock(range, mode));
    return lock == nullptr ? std::move(lock) : hold(range, std::move(lock));
  }
  Result<bool> is_locked_elsewhere(ByteRange range) override { return file_->is_locked_elsewhere(range); }
  Result<std::unique_ptr<RangeLock>> own() override { return File::own(); }

  Result<int64_t> size() override {
    STRIA_RETURN_IF_ERROR(file_->refresh({}));
    return file_->size();
  }
  Status resize(int64_t bytes) override { return file_->resize(bytes); }
  Status preallocate(int64_t bytes) override { return file_->preallocate(bytes); }
  Status sync() override { return file_->sync(); }
  Status close() override { return file_->close(); }

  void release() { held_ = {}; }

 private:
  // When a lock is given back that touches one held by the caller, the system takes
  // that one away too.
  Result<std::unique_ptr<RangeLock>> begin(ByteRange range, LockMode mode) {
    const bool touches_held = std::max(range.begin, held_.begin) < std::min(range.end, held_.end);
    if (!capabilities_.locks_itself || range.begin >= range.end || touches_held) {
      return std::unique_ptr<RangeLock>();
    }
    return lock_soon(*file_, range, mode);
  }

  std::unique_ptr<RangeLock> hold(ByteRange range, std::unique_ptr<RangeLock> lock) {
    STRIA_ASSERT(held_.empty(), held_.begin, held_.end);  // one at a time
    auto held = std::make_unique<HeldLock>(*this, std::move(lock));
    held_ = range;
    return held;
  }

  std::unique_ptr<File> file_;
  Capabilities capabilities_;
  ByteRange held_{};
};

HeldLock::~HeldLock() {
  file_.release();
}

}  // namespace

std::unique_ptr<File> make_coherent(std::unique_ptr<File> file, bool is_asked_for) {
  if (!file->capabilities().caches_apart && !is_asked_for) {
    return file;
  }
  return std::make_unique<CoherentFile>(std::move(file));
}

}  // namespace stria::storage
