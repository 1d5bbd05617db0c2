#include "server/objects/blocks/block_sums.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/byte_range.hpp"
#include "base/check.hpp"
#include "base/hash.hpp"
#include "server/objects/blocks/guarded_copy.hpp"

namespace stria::server {

namespace {

constexpr int64_t kHeadBytes = 4096;
constexpr int64_t kSumBytes = sizeof(BlockSum);
constexpr int64_t kRoomUnit = kHeadBytes / kSumBytes;  // blocks
constexpr int64_t kMapUnit = int64_t{1} << 16;         // blocks
constexpr std::array<char, 8> kSumsTitle{'S', 'T', 'R', 'S', 'U', 'M', 'S', '2'};

int64_t blocks_of(int64_t bytes) {
  return align_up(bytes, kBlockBytes) / kBlockBytes;
}

}  // namespace

// The first bytes of the file, in the machine's own byte order, as in the whole store.
struct BlockSums::Head {
  std::array<char, 8> title = kSumsTitle;
  uint64_t block_bytes = kBlockBytes;
  uint64_t state = 0;
  uint64_t run = 0;
  int64_t object_bytes = 0;  // when clean
  uint64_t sum = 0;          // the sum of all before

  bool is_missing() const { return title == std::array<char, 8>{} && state == 0 && sum == 0; }
  uint64_t sum_of() const { return hash_bytes({reinterpret_cast<const std::byte*>(this), sizeof *this - sizeof sum}); }
  bool is_whole() const {
    return title == kSumsTitle && sum == sum_of() && block_bytes == kBlockBytes && state >= 1 && state <= 3;
  }
};

std::optional<int64_t> BlockSums::clean_bytes(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return {};
  }
  Head head;
  const ssize_t bytes = pread(descriptor, &head, sizeof head, 0);
  ::close(descriptor);
  const bool clean = bytes == sizeof head && head.is_whole() && static_cast<State>(head.state) == State::kClean;
  return clean ? std::optional(head.object_bytes) : std::nullopt;
}

Status BlockSums::error(const char* operation, int error_number) const {
  return Status::from_errno(error_number, std::string(operation) + " '" + path_ + "' on the server");
}

BlockSums::~BlockSums() {
  if (map_ != nullptr) {
    munmap(map_, static_cast<size_t>(mapped_ * kSumBytes));
  }
  ::close(descriptor_);
}

Result<std::unique_ptr<BlockSums>> BlockSums::open(const std::string& path, uint64_t run, int64_t object_bytes) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return Status::from_errno(errno, "open '" + path + "' on the server");
  }
  auto sums = std::make_unique<BlockSums>(path, descriptor, run);
  STRIA_RETURN_IF_ERROR(sums->take_head(object_bytes));
  return sums;
}

Status BlockSums::take_head(int64_t object_bytes) {
  struct stat details = {};
  if (fstat(descriptor_, &details) != 0) {
    return error("look at", errno);
  }
  is_new_ = details.st_size == 0;
  Head head;
  const ssize_t bytes = is_new_ ? 0 : pread(descriptor_, &head, sizeof head, 0);
  if (bytes < 0) {
    return error("read", errno);
  }
  room_ = std::max<int64_t>(0, (int64_t{details.st_size} - kHeadBytes) / kSumBytes);
  if (bytes == 0 || head.is_missing()) {
    // The object is new, or one whose sums were lost with the power before any sync.
    return change_state(object_bytes == 0 ? State::kDirty : State::kDoubtful, 0);
  }
  if (bytes != sizeof head || !head.is_whole()) {
    return Status(ErrorCode::kCorrupted, "'" + path_ + "' on the server is damaged: it has no head of checksums");
  }
  state_ = static_cast<State>(head.state);
  if (state_ == State::kClean && head.object_bytes != object_bytes) {
    return Status(ErrorCode::kCorrupted, "the server's part that belongs to '" + path_ + "' has " +
                                             std::to_string(object_bytes) + " bytes, and was left with " +
                                             std::to_string(head.object_bytes));
  }
  if (state_ == State::kDirty && head.run != run_) {
    STRIA_RETURN_IF_ERROR(change_state(State::kDoubtful, 0));
  }
  // Blocks behind the end that were to be written, but were not, have no sum.
  return room_ > blocks_of(object_bytes) ? cut(blocks_of(object_bytes)) : Status();
}

Status BlockSums::write_head(State state, int64_t object_bytes) {
  Head head;
  head.state = static_cast<uint64_t>(state);
  head.run = run_;
  head.object_bytes = object_bytes;
  head.sum = head.sum_of();
  const ssize_t written = pwrite(descriptor_, &head, sizeof head, 0);
  return written == sizeof head ? Status() : error("write", written < 0 ? errno : ENOSPC);
}

Status BlockSums::change_state(State state, int64_t object_bytes) {
  STRIA_RETURN_IF_ERROR(write_head(state, object_bytes));
  state_ = state;
  return {};
}

Status BlockSums::make_dirty() {
  if (state_ != State::kClean) {
    return {};
  }
  const std::lock_guard lock(head_mutex_);
  if (state_ != State::kClean) {
    return {};
  }
  STRIA_RETURN_IF_ERROR(write_head(State::kDirty, 0));
  STRIA_RETURN_IF_ERROR(sync());
  state_ = State::kDirty;  // not earlier, because others write as soon as it says so
  return {};
}

Status BlockSums::make_clean(int64_t object_bytes) {
  STRIA_CHECK(object_bytes >= 0, object_bytes);
  const std::lock_guard lock(head_mutex_);
  return state_ == State::kDirty ? change_state(State::kClean, object_bytes) : Status();
}

Status BlockSums::end_doubt() {
  const std::lock_guard lock(head_mutex_);
  return state_ == State::kDoubtful ? change_state(State::kDirty, 0) : Status();
}

bool BlockSums::map_locked() {
  // Mapped beyond the file's end, so that a growing file is not mapped often. Only used where the
  // file has room.
  const int64_t wanted = align_up(std::max(room_, 2 * mapped_), kMapUnit);
  void* place =
      map_ == nullptr
          ? mmap(nullptr, static_cast<size_t>(wanted * kSumBytes), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, kHeadBytes)
          : mremap(map_, static_cast<size_t>(mapped_ * kSumBytes), static_cast<size_t>(wanted * kSumBytes), MREMAP_MAYMOVE);
  if (place == MAP_FAILED) {
    return false;
  }
  map_ = static_cast<BlockSum*>(place);
  mapped_ = wanted;
  return true;
}

Status BlockSums::reserve(int64_t blocks) {
  STRIA_CHECK(blocks >= 0, blocks);
  {
    const std::shared_lock lock(map_mutex_);
    if ((blocks <= room_ && blocks <= mapped_) || (by_calls() && blocks <= kFewBlocks)) {
      return {};
    }
  }
  const std::unique_lock lock(map_mutex_);
  if (blocks > room_) {
    const int64_t wanted = align_up(std::max(blocks, room_ + room_ / 4), kRoomUnit);
    // A store into a mapping can't report a full disk, so space is taken before; also where calls
    // have left holes.
    const int64_t begin = map_ == nullptr ? 0 : room_;
    const int result = posix_fallocate(descriptor_, kHeadBytes + begin * kSumBytes, (wanted - begin) * kSumBytes);
    if (result != 0) {
      return error("make room in", result);
    }
    room_ = wanted;
  }
  return room_ <= mapped_ || map_locked() ? Status() : error("map", errno);
}

Status BlockSums::load(int64_t first, std::span<BlockSum> sums) {
  STRIA_CHECK(first >= 0, first);
  std::fill(sums.begin(), sums.end(), BlockSum());
  std::shared_lock lock(map_mutex_);
  if (by_calls()) {
    const int64_t there = std::clamp<int64_t>(room_ - first, 0, static_cast<int64_t>(sums.size()));
    if (there == 0) {
      return {};
    }
    ++calls_;
    const auto bytes = static_cast<size_t>(there * kSumBytes);
    return pread(descriptor_, sums.data(), bytes, kHeadBytes + first * kSumBytes) < 0 ? error("read", errno) : Status();
  }
  if (const int64_t room = room_; room > mapped_) {
    lock.unlock();
    STRIA_RETURN_IF_ERROR(reserve(room));
    lock.lock();
  }
  const int64_t count = std::clamp<int64_t>(room_ - first, 0, static_cast<int64_t>(sums.size()));
  auto copy = [&] { std::memcpy(sums.data(), map_ + first, static_cast<size_t>(count * kSumBytes)); };
  return count == 0 || guarded_copy(copy) ? Status() : error("read", EIO);
}

Status BlockSums::store_by_call(int64_t first, std::span<const BlockSum> sums) {
  STRIA_ASSERT(first + static_cast<int64_t>(sums.size()) <= std::max(room_, kFewBlocks), first, sums.size(), room_);
  ++calls_;
  const ssize_t written = pwrite(descriptor_, sums.data(), sums.size_bytes(), kHeadBytes + first * kSumBytes);
  if (written != static_cast<ssize_t>(sums.size_bytes())) {
    return error("write", written < 0 ? errno : ENOSPC);
  }
  room_ = std::max(room_, first + static_cast<int64_t>(sums.size()));
  return {};
}

bool BlockSums::covers(int64_t blocks) {
  const std::shared_lock lock(map_mutex_);
  return blocks <= std::max(room_, kFewBlocks);
}

Status BlockSums::store(int64_t first, std::span<const BlockSum> sums) {
  STRIA_CHECK(first >= 0, first);
  const auto end = first + static_cast<int64_t>(sums.size());
  std::shared_lock lock(map_mutex_);
  while (end > std::min(room_, mapped_)) {
    lock.unlock();
    {
      const std::unique_lock nobody_maps(map_mutex_);
      if (map_ == nullptr) {
        return store_by_call(first, sums);
      }
    }
    STRIA_RETURN_IF_ERROR(reserve(end));  // they have been mapped since that was left to calls
    lock.lock();
  }
  auto copy = [&] { std::memcpy(map_ + first, sums.data(), sums.size_bytes()); };
  // A kill after this must find it done.
  const bool done = guarded_copy(copy);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return done ? Status() : error("write", EIO);
}

Status BlockSums::cut(int64_t blocks) {
  STRIA_CHECK(blocks >= 0, blocks);
  const std::unique_lock lock(map_mutex_);
  if (blocks >= room_) {
    return {};
  }
  if (ftruncate(descriptor_, kHeadBytes + blocks * kSumBytes) != 0) {
    return error("cut", errno);
  }
  room_ = blocks;
  return {};
}

Status BlockSums::sync() {
  int result = 0;
  do {
    result = fdatasync(descriptor_);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? Status() : error("sync", errno);
}

}  // namespace stria::server
