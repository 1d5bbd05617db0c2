#include "server/objects/blocks/block_reading.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "base/byte_range.hpp"
#include "base/check.hpp"
#include "datatype/pack/pack_kernels.hpp"
#include "server/objects/blocks/block_content.hpp"

namespace stria::server {

namespace {

/// Copies the pieces out of their block, and returns the block's sum.
uint64_t take_pieces(const Part& part, const std::byte* block) {
  const uint64_t sum = sum_of_block(block);
  for (const auto& [row, data] : part.pieces) {
    pack::gather_pieces(block + row.begin % kBlockBytes, row.stride, row.piece_bytes, row.count, data);
  }
  return sum;
}

/// Reads from the mapping, where nobody writes as long as the block is locked. Returns false when a
/// page can't be read.
bool read_mapped(Blocks& blocks, const Part& part, BlockSum* sum, uint64_t* found) {
  return blocks.file.with_mapping([&](const std::byte* file) {
    return blocks.sums->in_place(part.block(), [&](const BlockSum& stored) {
      *sum = stored;
      *found = take_pieces(part, file + part.block() * kBlockBytes);
    });
  });
}

Status read_pieces(Blocks& blocks, const Part& part, bool mapped) {
  const int64_t block = part.block();
  const BlockLocks::Guard guard(blocks.locks, block, block + 1, BlockLocks::Mode::kShared);
  BlockSum sum;
  uint64_t found = 0;
  if (!mapped || !read_mapped(blocks, part, &sum, &found)) {
    STRIA_RETURN_IF_ERROR(blocks.sums->load(block, {&sum, 1}));
    alignas(64) Content content;
    STRIA_RETURN_IF_ERROR(read_block(blocks, block, content.data()));
    found = take_pieces(part, content.data());
  }
  return sum.fits(found) ? Status() : mismatch(blocks, block, sum);
}

// Whole blocks are read to where they belong, and compared there. Of the blocks at the ends, the
// rest is read to another place.
Status read_run(Blocks& blocks, const Run& run) {
  const int64_t first = run.range.begin / kBlockBytes;
  const int64_t end = block_end(run.range.end);
  std::vector<BlockSum> sums(static_cast<size_t>(end - first));
  const BlockLocks::Guard guard(blocks.locks, first, end, BlockLocks::Mode::kShared);
  STRIA_RETURN_IF_ERROR(blocks.sums->load(first, sums));
  const ByteRange whole{align_up(run.range.begin, kBlockBytes), align_down(run.range.end, kBlockBytes)};
  std::byte* const to = run.data - run.range.begin;  // the place of an object's byte 0
  STRIA_RETURN_IF_ERROR(blocks.file.get(whole, to + whole.begin));
  Content content;
  for (int64_t block = first; block < end; ++block) {
    const ByteRange part = intersect(run.range, {block * kBlockBytes, (block + 1) * kBlockBytes});
    const std::byte* from = to + part.begin;
    if (part.size() < kBlockBytes) {
      STRIA_RETURN_IF_ERROR(read_block(blocks, block, content.data()));
      from = content.data();
      std::memcpy(to + part.begin, from + part.begin % kBlockBytes, static_cast<size_t>(part.size()));
    }
    if (const BlockSum& sum = sums[static_cast<size_t>(block - first)]; !sum.fits(sum_of_block(from))) {
      return mismatch(blocks, block, sum);
    }
  }
  return {};
}

}  // namespace

Status mismatch(const Blocks& blocks, int64_t block, const BlockSum& sum) {
  const std::string which = "block " + std::to_string(block) + " of '" + blocks.file.path() + "' on the server ";
  if (sum.in_flight() || blocks.sums->is_doubtful()) {
    return Status(ErrorCode::kCorrupted, which +
                                             "was being written, and was not synced, when the server was killed or lost its "
                                             "power: write it again as a whole, or take it as it is by 'stria scrub --accept'");
  }
  return Status(ErrorCode::kCorrupted, which + "is damaged: the disk gives other bytes than were written");
}

Status read_block(const Blocks& blocks, int64_t block, std::byte* content) {
  return blocks.file.get({block * kBlockBytes, (block + 1) * kBlockBytes}, content);
}

Status read_part(Blocks& blocks, const Part& part, bool mapped) {
  STRIA_ASSERT(part.pieces.empty() || lie_in_one_block(part.pieces), part.block());
  return part.pieces.empty() ? read_run(blocks, part.run) : read_pieces(blocks, part, mapped);
}

}  // namespace stria::server
