#include "server/objects/object.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include "server/objects/guarded_copy.hpp"

namespace stria::server {

namespace {

// From this average size on a system call a run costs no more than the copy through the mapping.
constexpr int64_t kWorthCallBytes = 16 << 10;
constexpr int64_t kMapUnitBytes = int64_t{64} << 20;
// So long after its last change an object that is synced is noted as clean: not at once, since who
// writes and syncs in turn would wait for two more syncs each time.
constexpr int64_t kRestSeconds = 10;

using Mode = BlockLocks::Mode;
using Content = std::array<std::byte, kBlockBytes>;

int64_t block_end(int64_t bytes) {
  return align_up(bytes, kBlockBytes) / kBlockBytes;
}

int64_t now_s() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Moves data to or from a run until all is moved; a read stops at the end of the file.
template <typename Move>
int move_run(int64_t offset, std::byte* data, int64_t bytes, int64_t* moved, Move move) {
  *moved = 0;
  while (*moved < bytes) {
    const ssize_t now = move(data + *moved, static_cast<size_t>(bytes - *moved), offset + *moved);
    if (now < 0 && errno == EINTR) {
      continue;
    }
    if (now < 0) {
      return errno;
    }
    if (now == 0) {
      return 0;
    }
    *moved += now;
  }
  return 0;
}

/// Reads; what lies behind the end of the file is zero. Returns an error's number.
int read_fully(int descriptor, int64_t offset, std::byte* to, int64_t bytes) {
  int64_t moved = 0;
  const int error_number = move_run(offset, to, bytes, &moved, [&](std::byte* memory, size_t count, int64_t at) {
    return pread(descriptor, memory, count, at);
  });
  std::memset(to + moved, 0, static_cast<size_t>(bytes - moved));
  return error_number;
}

}  // namespace

Object::Object(std::string path, int descriptor, std::unique_ptr<BlockSums> sums, int64_t bytes)
    : path_(std::move(path)),
      descriptor_(descriptor),
      sums_(std::move(sums)),
      bytes_(bytes),
      unsynced_(!sums_->is_clean()),
      last_change_s_(now_s()) {}

Object::~Object() {
  rest(true);
  if (map_ != nullptr) {
    munmap(map_, static_cast<size_t>(map_bytes_));
  }
  ::close(descriptor_);
}

// The client's message names the file and the server; this one the place on the server.
Status Object::error(const char* operation, int error_number) const {
  return Status::from_errno(error_number, std::string(operation) + " '" + path_ + "' on the server");
}

Status Object::mismatch(int64_t block, const BlockSum& sum) const {
  const std::string which = "block " + std::to_string(block) + " of '" + path_ + "' on the server ";
  if (sum.in_flight() || sums_->is_doubtful()) {
    return Status(ErrorCode::kCorrupted, which +
                                             "was being written, and was not synced, when the server was killed or lost its "
                                             "power: write it again as a whole, or take it as it is by 'stria scrub --accept'");
  }
  return Status(ErrorCode::kCorrupted, which + "is damaged: the disk gives other bytes than were written");
}

bool Object::map(int64_t end) {
  const std::unique_lock lock(map_mutex_);
  if (end <= map_bytes_) {
    return true;
  }
  // Twice as much each time, so that a growing file is not mapped often.
  const int64_t wanted = align_up(std::max(end, 2 * map_bytes_), kMapUnitBytes);
  void* place = map_ == nullptr ? mmap(nullptr, static_cast<size_t>(wanted), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0)
                                : mremap(map_, static_cast<size_t>(map_bytes_), static_cast<size_t>(wanted), MREMAP_MAYMOVE);
  if (place == MAP_FAILED) {
    return false;
  }
  map_ = static_cast<std::byte*>(place);
  map_bytes_ = wanted;
  return true;
}

/// True when the places are small, and lie within the object and its mapping.
bool Object::worth_mapping(std::span<const ByteRange> places) {
  int64_t end = 0;
  int64_t bytes = 0;
  for (const ByteRange& place : places) {
    end = std::max(end, place.end);
    bytes += place.size();
  }
  if (bytes >= kWorthCallBytes * static_cast<int64_t>(places.size()) || bytes == 0 || end > bytes_.load()) {
    return false;
  }
  {
    const std::shared_lock lock(map_mutex_);
    if (end <= map_bytes_) {
      return true;
    }
  }
  return map(end);
}

/// False when it could not be done; nothing is said of what was done then.
bool Object::copy_mapped(int64_t offset, std::byte* data, size_t bytes, bool writes) {
  const std::shared_lock lock(map_mutex_);
  auto copy = [&] { std::memcpy(writes ? map_ + offset : data, writes ? data : map_ + offset, bytes); };
  return guarded_copy(copy);
}

Status Object::get_block(int64_t block, bool mapped, std::byte* content) {
  if (mapped && copy_mapped(block * kBlockBytes, content, kBlockBytes, false)) {
    return {};
  }
  const int error_number = read_fully(descriptor_, block * kBlockBytes, content, kBlockBytes);
  return error_number == 0 ? Status() : error("read", error_number);
}

Status Object::put(ByteRange range, const std::byte* data) {
  int64_t moved = 0;
  const int error_number =
      move_run(range.begin, const_cast<std::byte*>(data), range.size(), &moved,
               [&](std::byte* memory, size_t bytes, int64_t offset) { return pwrite(descriptor_, memory, bytes, offset); });
  int64_t known = bytes_.load();
  while (moved > 0 && known < range.begin + moved && !bytes_.compare_exchange_weak(known, range.begin + moved)) {
  }
  return error_number == 0 && moved == range.size() ? Status() : error("write", error_number == 0 ? EIO : error_number);
}

// After a failure: which of its two sums a block has now. One that has neither stays in flight.
void Object::settle(int64_t first, std::span<BlockSum> sums) {
  Content content;
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto block = first + static_cast<int64_t>(i);
    if (!get_block(block, false, content.data()).ok()) {
      continue;
    }
    const uint64_t sum = sum_of_block(content.data());
    if (sums[i].fits(sum)) {
      sums[i] = {sum, sum};
      static_cast<void>(sums_->store(block, sums.subspan(i, 1)));
    }
  }
}

Status Object::begin_change(int64_t end) {
  unsynced_ = true;
  last_change_s_ = now_s();
  STRIA_RETURN_IF_ERROR(sums_->make_dirty());
  return sums_->reserve(block_end(end));
}

Status Object::write(std::span<const ByteRange> places, const std::byte* data) {
  const std::shared_lock lock(size_mutex_);
  int64_t end = 0;
  for (const ByteRange& place : places) {
    end = std::max(end, place.end);
  }
  STRIA_RETURN_IF_ERROR(begin_change(end));
  const bool mapped = worth_mapping(places);
  Parts parts(places, const_cast<std::byte*>(data));
  for (Part part; parts.next(part);) {
    STRIA_RETURN_IF_ERROR(part.pieces.empty() ? write_run(part.run) : write_pieces(part, mapped));
  }
  return {};
}

Status Object::write_pieces(const Part& part, bool mapped) {
  const int64_t block = part.block();
  const BlockLocks::Guard guard(locks_, block, block + 1, Mode::kExclusive);
  BlockSum sum;
  STRIA_RETURN_IF_ERROR(sums_->load(block, {&sum, 1}));
  alignas(64) Content content;
  bool sound = true;
  BlockSum flight = sum;
  if (part.pieces.front().range.size() < kBlockBytes) {
    STRIA_RETURN_IF_ERROR(get_block(block, mapped, content.data()));
    flight.now = sum_of_block(content.data());
    sound = sum.fits(flight.now);
    if (!sound && !sum.in_flight()) {
      return mismatch(block, sum);
    }
  }
  for (const Piece& piece : part.pieces) {
    std::memcpy(content.data() + piece.range.begin % kBlockBytes, piece.data, static_cast<size_t>(piece.range.size()));
  }
  flight.next = sum_of_block(content.data());
  // A write that was cut off by a kill is made good by its repetition, and by nothing less.
  const bool known = sound || flight.next == sum.next;
  flight.now = sound ? flight.now : sum.now;
  if (known) {
    STRIA_RETURN_IF_ERROR(sums_->store(block, {&flight, 1}));
  }
  const ByteRange hull = part.hull();
  std::byte* const from = content.data() + hull.begin % kBlockBytes;
  if (!mapped || !copy_mapped(hull.begin, from, static_cast<size_t>(hull.size()), true)) {
    const Status outcome = put(hull, from);
    if (!outcome.ok()) {
      settle(block, {&flight, 1});
      return outcome;
    }
  }
  flight.now = flight.next;
  return known ? sums_->store(block, {&flight, 1}) : Status();
}

/// Sets what the blocks' sums are while the run is written (`sums`, which are as stored so far) and
/// afterwards.
Status Object::new_sums(const Piece& run, std::span<BlockSum> sums, std::span<BlockSum> settled) {
  const int64_t first = run.range.begin / kBlockBytes;
  Content content;
  for (size_t i = 0; i < sums.size(); ++i) {
    const int64_t begin = (first + static_cast<int64_t>(i)) * kBlockBytes;
    const ByteRange part = intersect(run.range, {begin, begin + kBlockBytes});
    const std::byte* const from = run.data + (part.begin - run.range.begin);
    if (part.size() == kBlockBytes) {
      sums[i].next = sum_of_block(from);
      settled[i] = {sums[i].next, sums[i].next};
      continue;
    }
    STRIA_RETURN_IF_ERROR(get_block(begin / kBlockBytes, false, content.data()));
    const uint64_t before = sum_of_block(content.data());
    const bool sound = sums[i].fits(before);
    if (!sound && !sums[i].in_flight()) {
      return mismatch(begin / kBlockBytes, sums[i]);
    }
    std::memcpy(content.data() + (part.begin - begin), from, static_cast<size_t>(part.size()));
    const uint64_t after = sum_of_block(content.data());
    const bool known = sound || after == sums[i].next;
    sums[i] = sound ? BlockSum{before, after} : sums[i];
    settled[i] = known ? BlockSum{after, after} : sums[i];
  }
  return {};
}

Status Object::write_run(const Piece& run) {
  const int64_t first = run.range.begin / kBlockBytes;
  const int64_t end = block_end(run.range.end);
  std::vector<BlockSum> sums(static_cast<size_t>(end - first));
  std::vector<BlockSum> settled(sums.size());
  const BlockLocks::Guard guard(locks_, first, end, Mode::kExclusive);
  STRIA_RETURN_IF_ERROR(sums_->load(first, sums));
  STRIA_RETURN_IF_ERROR(new_sums(run, sums, settled));
  STRIA_RETURN_IF_ERROR(sums_->store(first, sums));
  const Status outcome = put(run.range, run.data);
  if (!outcome.ok()) {
    settle(first, sums);
    return outcome;
  }
  return sums_->store(first, settled);
}

Status Object::read(std::span<const ByteRange> places, std::byte* data) {
  const std::shared_lock lock(size_mutex_);
  const bool mapped = worth_mapping(places);
  Parts parts(places, data);
  for (Part part; parts.next(part);) {
    STRIA_RETURN_IF_ERROR(part.pieces.empty() ? read_run(part.run) : read_pieces(part, mapped));
  }
  return {};
}

Status Object::read_pieces(const Part& part, bool mapped) {
  const int64_t block = part.block();
  const BlockLocks::Guard guard(locks_, block, block + 1, Mode::kShared);
  BlockSum sum;
  STRIA_RETURN_IF_ERROR(sums_->load(block, {&sum, 1}));
  alignas(64) Content content;
  STRIA_RETURN_IF_ERROR(get_block(block, mapped, content.data()));
  if (!sum.fits(sum_of_block(content.data()))) {
    return mismatch(block, sum);
  }
  for (const Piece& piece : part.pieces) {
    std::memcpy(piece.data, content.data() + piece.range.begin % kBlockBytes, static_cast<size_t>(piece.range.size()));
  }
  return {};
}

// Whole blocks are read to where they belong and compared there; of those at the ends the rest is
// read beside.
Status Object::read_run(const Piece& run) {
  const int64_t first = run.range.begin / kBlockBytes;
  const int64_t end = block_end(run.range.end);
  std::vector<BlockSum> sums(static_cast<size_t>(end - first));
  const BlockLocks::Guard guard(locks_, first, end, Mode::kShared);
  STRIA_RETURN_IF_ERROR(sums_->load(first, sums));
  const ByteRange whole{align_up(run.range.begin, kBlockBytes), align_down(run.range.end, kBlockBytes)};
  std::byte* const to = run.data - run.range.begin;  // of an object's byte 0
  if (const int error_number = read_fully(descriptor_, whole.begin, to + whole.begin, whole.size()); error_number != 0) {
    return error("read", error_number);
  }
  Content content;
  for (int64_t block = first; block < end; ++block) {
    const ByteRange part = intersect(run.range, {block * kBlockBytes, (block + 1) * kBlockBytes});
    const std::byte* from = to + part.begin;
    if (part.size() < kBlockBytes) {
      STRIA_RETURN_IF_ERROR(get_block(block, false, content.data()));
      from = content.data();
      std::memcpy(to + part.begin, from + part.begin % kBlockBytes, static_cast<size_t>(part.size()));
    }
    if (const BlockSum& sum = sums[static_cast<size_t>(block - first)]; !sum.fits(sum_of_block(from))) {
      return mismatch(block, sum);
    }
  }
  return {};
}

Status Object::resize(int64_t bytes) {
  const std::unique_lock lock(size_mutex_);
  if (bytes == bytes_.load()) {
    return {};
  }
  STRIA_RETURN_IF_ERROR(begin_change(0));
  // The last block keeps its first bytes and has zeros behind them.
  const int64_t block = bytes / kBlockBytes;
  BlockSum sum;
  BlockSum cut;
  bool changes = false;
  if (bytes < bytes_.load() && bytes % kBlockBytes != 0) {
    Content content;
    STRIA_RETURN_IF_ERROR(sums_->load(block, {&sum, 1}));
    STRIA_RETURN_IF_ERROR(get_block(block, false, content.data()));
    cut.now = sum_of_block(content.data());
    std::fill(content.begin() + bytes % kBlockBytes, content.end(), std::byte{0});
    cut.next = sum_of_block(content.data());
    changes = sum.fits(cut.now) && cut.in_flight();  // what is damaged stays so
  }
  if (changes) {
    STRIA_RETURN_IF_ERROR(sums_->store(block, {&cut, 1}));
  }
  if (ftruncate(descriptor_, bytes) != 0) {
    return error("resize", errno);
  }
  bytes_ = bytes;
  if (changes) {
    cut.now = cut.next;
    STRIA_RETURN_IF_ERROR(sums_->store(block, {&cut, 1}));
  }
  STRIA_RETURN_IF_ERROR(sums_->cut(block_end(bytes)));
  return bytes == 0 ? sums_->end_doubt() : Status();
}

Status Object::reserve(int64_t bytes) {
  const std::unique_lock lock(size_mutex_);
  STRIA_RETURN_IF_ERROR(begin_change(0));
  int result = 0;
  do {
    result = bytes == 0 ? 0 : fallocate(descriptor_, 0, 0, bytes);
  } while (result != 0 && errno == EINTR);
  if (result != 0) {
    return error("preallocate", errno);
  }
  bytes_ = std::max(bytes_.load(), bytes);
  return {};
}

Status Object::sync() {
  const std::lock_guard lock(sync_mutex_);
  unsynced_ = false;
  int result = 0;
  do {
    result = fdatasync(descriptor_);
  } while (result != 0 && errno == EINTR);
  const Status outcome = result == 0 ? sums_->sync() : error("sync", errno);
  if (!outcome.ok()) {
    sync_failed_ = true;
    unsynced_ = true;
    return outcome;
  }
  return sync_failed_ ? error("sync", EIO) : Status();
}

void Object::rest(bool at_once) {
  if (unsynced_ || sums_->is_clean() || (!at_once && now_s() - last_change_s_ < kRestSeconds)) {
    return;
  }
  const std::unique_lock nobody_writes(size_mutex_, std::try_to_lock);
  const std::unique_lock nobody_syncs(sync_mutex_, std::try_to_lock);
  if (nobody_writes && nobody_syncs && !unsynced_) {
    // What can't be noted leaves the object as it was on the disk: perhaps un-synced.
    static_cast<void>(sums_->make_clean(bytes()));
  }
}

wire::Extent Object::extent() const {
  struct stat details = {};
  fstat(descriptor_, &details);
  return {bytes(), int64_t{details.st_mtim.tv_sec} * 1000000000 + details.st_mtim.tv_nsec};
}

}  // namespace stria::server
