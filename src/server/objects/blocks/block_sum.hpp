// The checksum of a block: a dot product modulo a prime. When some bytes change, it is updated
// without looking at the others.
//
// Problem: with a hash, writing 8 bytes costs two passes over the block of 4 KiB in which they lie.
// Method (multilinear hashing, Carter and Wegman 1979): the sum of a block is the sum over its 512
// words of word times key, modulo 2^61 - 1, with random keys below 2^55. Products of a block add up
// in 128 bits, so that there is one reduction at the end. The sum after a change is that of before,
// less the old words' products, plus the new words'. Any other content has the same sum with a
// probability of 2^-55; a single flipped bit always shows.
// Cost: a multiplication a word; four words at once where the processor has AVX2.
//
// In addition, damage elsewhere in the block is still found after a change, and a block of zeros
// has the sum 0, as a hole should.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/piece_row.hpp"

namespace stria::server {

inline constexpr int64_t kBlockBytes = 4096;
inline constexpr int64_t kSumWordBytes = 8;

/// Returns the sum of a block's kBlockBytes bytes.
uint64_t sum_of_block(const std::byte* block);

/// Returns what bytes of a block, which begin at `begin`, add to its sum. \pre begin and their
/// number are multiples of kSumWordBytes
uint64_t sum_of_part(std::span<const std::byte> bytes, int64_t begin);

/// Returns the sum of a block when a part of it that added `before` adds `after`.
uint64_t changed_sum(uint64_t sum, uint64_t before, uint64_t after);

/// Finds what becomes of the sum of a block when pieces of it are written, which ascend without
/// overlap.
class SumChange {
 public:
  /// `block` has the bytes of before.
  explicit SumChange(const std::byte* block) : block_(block) {}
  /// The row's pieces become `data`. The first lies at `begin` of the block.
  void add(int64_t begin, const PieceRow& row, const std::byte* data);
  uint64_t apply_to(uint64_t sum);

 private:
  __extension__ using Wide = unsigned __int128;
  void add_piece(int64_t begin, const std::byte* data, int64_t bytes);
  void add_part_of_word(int64_t begin, const std::byte* data, int64_t bytes);
  void add_open_word();

  const std::byte* block_;
  Wide before_ = 0;
  Wide after_ = 0;
  int64_t open_ = -1;  // the word of which a part was written last
  uint64_t open_after_ = 0;
};

/// A block's sums: both the same, or those of before and after a write under way.
struct BlockSum {
  uint64_t now = 0;
  uint64_t next = 0;

  bool fits(uint64_t sum) const { return sum == now || sum == next; }
  bool in_flight() const { return now != next; }
};

}  // namespace stria::server
