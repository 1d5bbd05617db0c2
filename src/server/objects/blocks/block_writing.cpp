#include "server/objects/blocks/block_writing.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/byte_range.hpp"
#include "base/check.hpp"
#include "datatype/pack/pack_kernels.hpp"
#include "server/objects/blocks/block_content.hpp"
#include "server/objects/blocks/block_reading.hpp"

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

/// Writes pieces of one block, which ascend without overlap, by stores to the mappings alone.
/// Returns false when it could not be done; part of it may be done then, and the block in flight.
/// What a kill leaves half done, the client's repetition mends.
bool write_in_place(Blocks& blocks, std::span<const Pieces> pieces) {
  const int64_t block = pieces.front().row.begin / kBlockBytes;
  bool known = false;
  const auto write = [&](BlockSum& sum, std::byte* content) {
    known = !sum.in_flight();
    if (!known) {
      return;
    }
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
  return blocks.file.with_mapping([&](std::byte* file) {
    return blocks.sums->in_place(block, [&](BlockSum& sum) { write(sum, file + block * kBlockBytes); }) && known;
  });
}

// Finds, after a failure, which of its two sums a block has now. A block with neither stays in
// flight.
void settle(Blocks& blocks, int64_t first, std::span<BlockSum> sums) {
  Content content;
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto block = first + static_cast<int64_t>(i);
    if (!read_block(blocks, block, content.data()).ok()) {
      continue;
    }
    const uint64_t sum = sum_of_block(content.data());
    if (sums[i].fits(sum)) {
      sums[i] = {sum, sum};
      static_cast<void>(blocks.sums->store(block, sums.subspan(i, 1)));
    }
  }
}

/// Says what the sums of a block are while it is written; whether they can be known.
struct Flight {
  BlockSum sum;
  bool known = false;
};

/// Puts pieces of one block, of which some stays, into `content`, with what is between them.
//
// The new sum follows from the old one and the words that change. The rest of the block isn't
// looked at, and damage there is still found later. If a write was cut off, or may have been, the
// whole block must fit one of its sums.
Result<Flight> prepare(Blocks& blocks, std::span<const Pieces> pieces, const BlockSum& stored, bool mapped,
                       std::byte* content) {
  const int64_t block = pieces.front().row.begin / kBlockBytes;
  const ByteRange whole{block * kBlockBytes, (block + 1) * kBlockBytes};
  const auto get = [&](ByteRange range, std::byte* to) {
    return mapped ? blocks.file.get_mapped(range, to) : blocks.file.get(range, to);
  };
  if (stored.in_flight() || blocks.sums->is_doubtful()) {
    STRIA_RETURN_IF_ERROR(get(whole, content));
    const uint64_t before = sum_of_block(content);
    const bool sound = stored.fits(before);
    if (!sound && !stored.in_flight()) {
      return mismatch(blocks, block, stored);
    }
    lay(pieces, content);
    const uint64_t after = sum_of_block(content);
    // Only its repetition mends a write that a kill cut off.
    return sound || after == stored.next ? Flight{{sound ? before : stored.now, after}, true} : Flight{stored, false};
  }
  BlockSum sum = stored;
  const ByteRange hull = hull_of(pieces);
  STRIA_ASSERT(whole.begin <= hull.begin && hull.end <= whole.end, hull.begin, hull.end, block);
  const int64_t begin = align_down(hull.begin, kSumWordBytes);
  const std::span<std::byte> changing(content + begin % kBlockBytes,
                                      static_cast<size_t>(align_up(hull.end, kSumWordBytes) - begin));
  STRIA_RETURN_IF_ERROR(get({begin, begin + static_cast<int64_t>(changing.size())}, changing.data()));
  const uint64_t before = sum_of_part(changing, begin % kBlockBytes);
  lay(pieces, content);
  sum.next = changed_sum(sum.next, before, sum_of_part(changing, begin % kBlockBytes));
  return Flight{sum, true};
}

Status write_pieces(Blocks& blocks, const Part& part, bool mapped) {
  const int64_t block = part.block();
  const BlockLocks::Guard guard(blocks.locks, block, block + 1, Mode::kExclusive);
  ++blocks.changes;
  const bool whole = part.pieces.front().row.piece_bytes == kBlockBytes;
  if (mapped && !whole && !blocks.sums->is_doubtful() && ascend(part.pieces) && write_in_place(blocks, part.pieces)) {
    return {};
  }
  BlockSum stored;
  STRIA_RETURN_IF_ERROR(blocks.sums->load(block, {&stored, 1}));
  alignas(64) Content content;
  Flight flight;
  if (whole) {
    lay(part.pieces, content.data());
    flight = {{stored.now, sum_of_block(content.data())}, true};
  } else {
    STRIA_ASSIGN_OR_RETURN(flight, prepare(blocks, part.pieces, stored, mapped, content.data()));
  }
  if (flight.known) {
    STRIA_RETURN_IF_ERROR(blocks.sums->store(block, {&flight.sum, 1}));
  }
  const ByteRange hull = hull_of(part.pieces);
  std::byte* const from = content.data() + hull.begin % kBlockBytes;
  if (!mapped || !blocks.file.put_mapped(hull, from)) {
    if (const Status outcome = blocks.file.put(hull, from); !outcome.ok()) {
      settle(blocks, block, {&flight.sum, 1});
      return outcome;
    }
  }
  flight.sum.now = flight.sum.next;
  return flight.known ? blocks.sums->store(block, {&flight.sum, 1}) : Status();
}

/// Sets the blocks' sums for the time while the run is written (`sums`, before as stored)
/// and afterwards.
Status new_sums(Blocks& blocks, const Run& run, std::span<BlockSum> sums, std::span<BlockSum> settled) {
  STRIA_ASSERT(sums.size() == settled.size(), sums.size(), settled.size());
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
    STRIA_ASSIGN_OR_RETURN(const Flight flight, prepare(blocks, {&part, 1}, sums[i], false, content.data()));
    sums[i] = flight.sum;
    settled[i] = flight.known ? BlockSum{flight.sum.next, flight.sum.next} : flight.sum;
  }
  return {};
}

Status write_run(Blocks& blocks, const Run& run) {
  const int64_t first = run.range.begin / kBlockBytes;
  const int64_t end = block_end(run.range.end);
  std::vector<BlockSum> sums(static_cast<size_t>(end - first));
  std::vector<BlockSum> settled(sums.size());
  const BlockLocks::Guard guard(blocks.locks, first, end, Mode::kExclusive);
  ++blocks.changes;
  STRIA_RETURN_IF_ERROR(blocks.sums->load(first, sums));
  STRIA_RETURN_IF_ERROR(new_sums(blocks, run, sums, settled));
  STRIA_RETURN_IF_ERROR(blocks.sums->store(first, sums));
  const Status outcome = blocks.file.put(run.range, run.data);
  if (!outcome.ok()) {
    settle(blocks, first, sums);
    return outcome;
  }
  return blocks.sums->store(first, settled);
}

}  // namespace

Status write_part(Blocks& blocks, const Part& part, bool mapped) {
  STRIA_ASSERT(part.pieces.empty() || lie_in_one_block(part.pieces), part.block());
  STRIA_ASSERT(blocks.sums->covers(part.pieces.empty() ? block_end(part.run.range.end) : part.block() + 1), part.run.range.end);
  return part.pieces.empty() ? write_run(blocks, part.run) : write_pieces(blocks, part, mapped);
}

Status resize_blocks(Blocks& blocks, int64_t bytes) {
  STRIA_CHECK(bytes >= 0, bytes);
  const int64_t block = bytes / kBlockBytes;
  BlockSum sum;
  BlockSum cut;
  bool changes = false;
  if (bytes < blocks.file.bytes() && bytes % kBlockBytes != 0) {
    Content content;
    STRIA_RETURN_IF_ERROR(blocks.sums->load(block, {&sum, 1}));
    STRIA_RETURN_IF_ERROR(read_block(blocks, block, content.data()));
    cut.now = sum_of_block(content.data());
    std::fill(content.begin() + bytes % kBlockBytes, content.end(), std::byte{0});
    cut.next = sum_of_block(content.data());
    changes = sum.fits(cut.now) && cut.in_flight();  // damaged blocks stay damaged
  }
  if (changes) {
    STRIA_RETURN_IF_ERROR(blocks.sums->store(block, {&cut, 1}));
  }
  STRIA_RETURN_IF_ERROR(blocks.file.resize(bytes, "resize"));
  if (changes) {
    cut.now = cut.next;
    STRIA_RETURN_IF_ERROR(blocks.sums->store(block, {&cut, 1}));
  }
  STRIA_RETURN_IF_ERROR(blocks.sums->cut(block_end(bytes)));
  return bytes == 0 ? blocks.sums->end_doubt() : Status();
}

}  // namespace stria::server
