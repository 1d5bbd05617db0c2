// Writing changes the sums of blocks before and after their bytes.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <vector>

#include "base/check.hpp"
#include "datatype/pack_kernels.hpp"
#include "server/objects/block_content.hpp"
#include "server/objects/guarded_copy.hpp"
#include "server/objects/object.hpp"

namespace stria::server {

namespace {

using Mode = BlockLocks::Mode;

/// Puts the pieces of one block where they belong in its content.
void lay(std::span<const Pieces> pieces, std::byte* content) {
  for (const auto& [row, data] : pieces) {
    pack::scatter_pieces(content + row.begin % kBlockBytes, row.stride, row.piece_bytes, row.count, data);
  }
}

bool ascend(std::span<const Pieces> pieces) {
  for (size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i].row.begin < pieces[i - 1].row.end()) {
      return false;
    }
  }
  return true;
}

}  // namespace

// What a kill leaves half done, the client's repetition mends.
bool Object::write_in_place(std::span<const Pieces> pieces) {
  const int64_t block = pieces.front().row.begin / kBlockBytes;
  const std::shared_lock lock(map_mutex_);
  bool known = false;
  const auto write = [&](BlockSum& sum) {
    known = !sum.in_flight();
    if (!known) {
      return;
    }
    std::byte* const content = map_ + block * kBlockBytes;
    SumChange change(content);
    for (const auto& [row, data] : pieces) {
      change.add(row.begin % kBlockBytes, row, data);
    }
    const uint64_t next = change.apply_to(sum.now);
    sum.next = next;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    lay(pieces, content);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    sum.now = next;
  };
  return sums_->in_place(block, write) && known;
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

// After a failure: finds which of its two sums a block has now. A block with neither
// stays in flight.
void Object::settle(int64_t first, std::span<BlockSum> sums) {
  Content content;
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto block = first + static_cast<int64_t>(i);
    if (!get({block * kBlockBytes, (block + 1) * kBlockBytes}, false, content.data()).ok()) {
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
  if (time_is_known_.exchange(false)) {
    stored_ns_ = exact_time_ns();
  }
  STRIA_RETURN_IF_ERROR(sums_->make_dirty());
  return sums_->reserve(block_end(end));
}

// The object becomes longer before short pieces are written, so that they go through the mapping.
Status Object::grow(int64_t end) {
  const std::unique_lock nobody_writes(size_mutex_);
  if (end > bytes_.load()) {
    STRIA_RETURN_IF_ERROR(begin_change(end));
    if (ftruncate(descriptor_, end) != 0) {
      return error("write", errno);
    }
    bytes_ = end;
  }
  return {};
}

Status Object::write(std::span<const PieceRow> rows, const std::byte* data) {
  STRIA_ASSERT(are_in_order(rows));
  const int64_t end = end_of(rows);
  const bool short_pieces = are_short(rows);
  if (short_pieces && end > bytes_.load()) {
    STRIA_RETURN_IF_ERROR(grow(end));
  }
  const std::shared_lock lock(size_mutex_);
  STRIA_RETURN_IF_ERROR(begin_change(end));
  const bool mapped = short_pieces && can_map(end);
  if (mapped) {
    stored_ns_ = std::max(stored_ns_.load(), file_time_ns());
  }
  Parts parts(rows, const_cast<std::byte*>(data));
  for (Part part; parts.next(part);) {
    STRIA_RETURN_IF_ERROR(part.pieces.empty() ? write_run(part.run) : write_pieces(part, mapped));
  }
  return {};
}

// The new sum follows from the old one and the words that change. The rest of the block isn't
// looked at, and damage there is still found later. If a write was cut off, or may have been, the
// whole block must fit one of its sums.
Result<Object::Flight> Object::prepare(std::span<const Pieces> pieces, const BlockSum& stored, bool mapped,
                                       std::byte* content) {
  const int64_t block = pieces.front().row.begin / kBlockBytes;
  const ByteRange whole{block * kBlockBytes, (block + 1) * kBlockBytes};
  if (stored.in_flight() || sums_->is_doubtful()) {
    STRIA_RETURN_IF_ERROR(get(whole, mapped, content));
    const uint64_t before = sum_of_block(content);
    const bool sound = stored.fits(before);
    if (!sound && !stored.in_flight()) {
      return mismatch(block, stored);
    }
    lay(pieces, content);
    const uint64_t after = sum_of_block(content);
    // Only its repetition mends a write that a kill cut off.
    return sound || after == stored.next ? Flight{{sound ? before : stored.now, after}, true} : Flight{stored, false};
  }
  BlockSum sum = stored;
  const ByteRange hull = hull_of(pieces);
  const int64_t begin = align_down(hull.begin, kSumWordBytes);
  const std::span<std::byte> changing(content + begin % kBlockBytes,
                                      static_cast<size_t>(align_up(hull.end, kSumWordBytes) - begin));
  STRIA_RETURN_IF_ERROR(get({begin, begin + static_cast<int64_t>(changing.size())}, mapped, changing.data()));
  const uint64_t before = sum_of_part(changing, begin % kBlockBytes);
  lay(pieces, content);
  sum.next = changed_sum(sum.next, before, sum_of_part(changing, begin % kBlockBytes));
  return Flight{sum, true};
}

Status Object::write_pieces(const Part& part, bool mapped) {
  const int64_t block = part.block();
  const BlockLocks::Guard guard(locks_, block, block + 1, Mode::kExclusive);
  ++changes_;
  const bool whole = part.pieces.front().row.piece_bytes == kBlockBytes;
  if (mapped && !whole && !sums_->is_doubtful() && ascend(part.pieces) && write_in_place(part.pieces)) {
    return {};
  }
  BlockSum stored;
  STRIA_RETURN_IF_ERROR(sums_->load(block, {&stored, 1}));
  alignas(64) Content content;
  Flight flight;
  if (whole) {
    lay(part.pieces, content.data());
    flight = {{stored.now, sum_of_block(content.data())}, true};
  } else {
    STRIA_ASSIGN_OR_RETURN(flight, prepare(part.pieces, stored, mapped, content.data()));
  }
  if (flight.known) {
    STRIA_RETURN_IF_ERROR(sums_->store(block, {&flight.sum, 1}));
  }
  const ByteRange hull = hull_of(part.pieces);
  std::byte* const from = content.data() + hull.begin % kBlockBytes;
  if (!mapped || !copy_mapped(hull.begin, from, static_cast<size_t>(hull.size()), true)) {
    if (const Status outcome = put(hull, from); !outcome.ok()) {
      settle(block, {&flight.sum, 1});
      return outcome;
    }
  }
  flight.sum.now = flight.sum.next;
  return flight.known ? sums_->store(block, {&flight.sum, 1}) : Status();
}

/// Sets the blocks' sums for the time while the run is written (`sums`, before as stored)
/// and afterwards.
Status Object::new_sums(const Run& run, std::span<BlockSum> sums, std::span<BlockSum> settled) {
  const int64_t first = run.range.begin / kBlockBytes;
  Content content;
  for (size_t i = 0; i < sums.size(); ++i) {
    const int64_t begin = (first + static_cast<int64_t>(i)) * kBlockBytes;
    const ByteRange range = intersect(run.range, {begin, begin + kBlockBytes});
    const Pieces part{{range.begin, range.size(), 0, 1}, run.data + (range.begin - run.range.begin)};
    if (range.size() == kBlockBytes) {
      sums[i].next = sum_of_block(part.data);
      settled[i] = {sums[i].next, sums[i].next};
      continue;
    }
    STRIA_ASSIGN_OR_RETURN(const Flight flight, prepare({&part, 1}, sums[i], false, content.data()));
    sums[i] = flight.sum;
    settled[i] = flight.known ? BlockSum{flight.sum.next, flight.sum.next} : flight.sum;
  }
  return {};
}

Status Object::write_run(const Run& run) {
  const int64_t first = run.range.begin / kBlockBytes;
  const int64_t end = block_end(run.range.end);
  std::vector<BlockSum> sums(static_cast<size_t>(end - first));
  std::vector<BlockSum> settled(sums.size());
  const BlockLocks::Guard guard(locks_, first, end, Mode::kExclusive);
  ++changes_;
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

}  // namespace stria::server
