#include "server/objects/object.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/check.hpp"
#include "datatype/pack_kernels.hpp"
#include "server/objects/block_content.hpp"
#include "server/objects/guarded_copy.hpp"

namespace stria::server {

namespace {

// From this average size on, a system call per run costs no more than a copy through the mapping.
constexpr int64_t kWorthCallBytes = 16 << 10;
// A synced object is noted as clean so long after its last change. If that were done at once, a
// client that writes and syncs in turn would wait for two more syncs each time.
constexpr int64_t kRestSeconds = 10;

using Mode = BlockLocks::Mode;

/// Copies the pieces out of their block, and returns the block's sum.
uint64_t take_pieces(const Part& part, const std::byte* block) {
  const uint64_t sum = sum_of_block(block);
  for (const auto& [row, data] : part.pieces) {
    pack::gather_pieces(block + row.begin % kBlockBytes, row.stride, row.piece_bytes, row.count, data);
  }
  return sum;
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
  keep_time_of_change();
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
  // The mapping doubles each time, so that a growing file is not mapped often.
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

bool Object::are_short(std::span<const PieceRow> rows) {
  int64_t bytes = 0;
  int64_t pieces = 0;
  for (const PieceRow& row : rows) {
    bytes += row.bytes();
    pieces += row.count;
  }
  return bytes < kWorthCallBytes * pieces;
}

bool Object::are_in_order(std::span<const PieceRow> rows) {
  return std::all_of(rows.begin(), rows.end(), [](const PieceRow& row) {
    return row.count > 0 && row.piece_bytes > 0 && (row.count == 1 || row.stride >= row.piece_bytes);
  });
}

int64_t Object::end_of(std::span<const PieceRow> rows) {
  int64_t end = 0;
  for (const PieceRow& row : rows) {
    end = std::max(end, row.end());
  }
  return end;
}

/// True when all bytes before `end` lie within the object and its mapping.
bool Object::can_map(int64_t end) {
  if (end > bytes_.load()) {
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

/// Returns false when it could not be done; part of it may be done then.
bool Object::copy_mapped(int64_t offset, std::byte* data, size_t bytes, bool writes) {
  const std::shared_lock lock(map_mutex_);
  auto copy = [&] { std::memcpy(writes ? map_ + offset : data, writes ? data : map_ + offset, bytes); };
  return guarded_copy(copy);
}

Status Object::get(ByteRange range, bool mapped, std::byte* to) {
  if (mapped && copy_mapped(range.begin, to, static_cast<size_t>(range.size()), false)) {
    return {};
  }
  const int error_number = read_fully(descriptor_, range.begin, to, range.size());
  return error_number == 0 ? Status() : error("read", error_number);
}

Status Object::get_block(int64_t block, std::byte* content) {
  return get({block * kBlockBytes, (block + 1) * kBlockBytes}, false, content);
}

Status Object::read(std::span<const PieceRow> rows, std::byte* data) {
  STRIA_ASSERT(are_in_order(rows));
  const std::shared_lock lock(size_mutex_);
  const bool mapped = are_short(rows) && can_map(end_of(rows));
  Parts parts(rows, data);
  for (Part part; parts.next(part);) {
    STRIA_RETURN_IF_ERROR(part.pieces.empty() ? read_run(part.run) : read_pieces(part, mapped));
  }
  return {};
}

Status Object::read_pieces(const Part& part, bool mapped) {
  const int64_t block = part.block();
  const BlockLocks::Guard guard(locks_, block, block + 1, Mode::kShared);
  BlockSum sum;
  uint64_t found = 0;
  if (!mapped || !read_mapped(part, &sum, &found)) {
    STRIA_RETURN_IF_ERROR(sums_->load(block, {&sum, 1}));
    alignas(64) Content content;
    STRIA_RETURN_IF_ERROR(get_block(block, content.data()));
    found = take_pieces(part, content.data());
  }
  return sum.fits(found) ? Status() : mismatch(block, sum);
}

/// The same from the mapping, where nobody writes as long as the block is locked. False when a page
/// can't be read.
bool Object::read_mapped(const Part& part, BlockSum* sum, uint64_t* found) {
  const std::shared_lock lock(map_mutex_);
  return sums_->in_place(part.block(), [&](const BlockSum& stored) {
    *sum = stored;
    *found = take_pieces(part, map_ + part.block() * kBlockBytes);
  });
}

// Whole blocks are read to where they belong, and compared there. Of the blocks at the ends, the
// rest is read to another place.
Status Object::read_run(const Run& run) {
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
      STRIA_RETURN_IF_ERROR(get_block(block, content.data()));
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
  ++changes_;
  STRIA_RETURN_IF_ERROR(begin_change(0));
  // The last block keeps its first bytes and has zeros behind them.
  const int64_t block = bytes / kBlockBytes;
  BlockSum sum;
  BlockSum cut;
  bool changes = false;
  if (bytes < bytes_.load() && bytes % kBlockBytes != 0) {
    Content content;
    STRIA_RETURN_IF_ERROR(sums_->load(block, {&sum, 1}));
    STRIA_RETURN_IF_ERROR(get_block(block, content.data()));
    cut.now = sum_of_block(content.data());
    std::fill(content.begin() + bytes % kBlockBytes, content.end(), std::byte{0});
    cut.next = sum_of_block(content.data());
    changes = sum.fits(cut.now) && cut.in_flight();  // damaged blocks stay damaged
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
  keep_time_of_change();
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
    // If that fails, the object stays as it was on the disk: perhaps not synced.
    static_cast<void>(sums_->make_clean(bytes()));
  }
}

int64_t Object::modified_ns() const {
  struct stat details = {};
  fstat(descriptor_, &details);
  return ns_of(details.st_mtim);
}

// The file system takes a page's first change for one of the file, and not the later ones.
void Object::keep_time_of_change() {
  if (const int64_t stored = stored_ns_; stored > modified_ns()) {
    const timespec times[2] = {{0, UTIME_OMIT}, {stored / kSecondNs, stored % kSecondNs}};
    futimens(descriptor_, times);
  }
}

wire::Extent Object::extent() const {
  time_is_known_ = true;
  return {bytes(), std::max(modified_ns(), stored_ns_.load())};
}

}  // namespace stria::server
