// One pass over the memory of operands that share a type tree: row by row of the tree, all operands of a row together.
//
// Cost: each cache line that holds wanted bytes is fetched once; the packed streams are written front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datatype/convert.hpp"
#include "datatype/cursor.hpp"
#include "datatype/pack_kernels.hpp"
#include "stria/datatype.hpp"
#include "stria/element_type.hpp"

namespace stria::pack {

/// How elements change on the way between memory and stream.
struct Translation {
  ElementType memory = ElementType::kByte;
  ElementType stored = ElementType::kByte;
  bool swap_bytes = false;

  int64_t memory_bytes() const { return element_bytes(memory); }
  int64_t stored_bytes() const { return element_bytes(stored); }
  bool is_swapped() const { return swap_bytes && stored != ElementType::kByte && stored_bytes() > 1; }
  bool is_raw() const { return memory == stored && !is_swapped(); }
  friend bool operator==(const Translation&, const Translation&) = default;
};

/// Packs one element: reads it at `memory` and writes its stored bytes to `stored`.
void pack_element(const Translation& translation, const std::byte* memory, std::byte* stored);
void unpack_element(const Translation& translation, const std::byte* stored, std::byte* memory);

/// One operand of a pass.
struct Strand {
  std::byte* memory = nullptr;  ///< base address, its type's first byte at offset 0
  std::byte* packed = nullptr;  ///< where the first byte of the pass's range is
  ValueRange* range = nullptr;  ///< to be widened, or null; for all strands or for none
};

class Pass {
 public:
  /// `type` has displacement 0; `strands` come by ascending memory address.
  Pass(const Datatype& type, const Translation& translation, std::span<const Strand> strands, const KernelTable& kernels);

  /// Memory to streams: the stored elements [begin, end).
  void pack(int64_t begin_element, int64_t end_element);
  /// Streams to memory.
  void unpack(int64_t begin_element, int64_t end_element);

 private:
  class RowWalker;

  void unpack_ahead(RowWalker& walker, RowWalker ahead);
  void gather_row(const PieceRow& row, int64_t packed_offset);
  void scatter_row(const PieceRow& row, int64_t packed_offset);
  void gather_raw(const PieceRow& row, int64_t packed_offset);
  void scatter_raw(const PieceRow& row, int64_t packed_offset);
  void gather_translated(const PieceRow& row, int64_t packed_offset);
  void scatter_translated(const PieceRow& row, int64_t packed_offset);
  void gather_run(int k, const std::byte* memory, int64_t bytes, int64_t packed_offset);
  void scatter_run(int k, std::byte* memory, int64_t bytes, int64_t packed_offset);
  void choose_kernels(const KernelTable& kernels);
  void make_tiles(int64_t width_bytes, int slots);
  void make_prefetch_points();
  Comb whole_comb();
  bool wants_prefetch() const;
  void prefetch(const PieceRow& row) const;
  void merge_ranges();
  void widen(size_t k, double minimum, double maximum);
  /// Bytes of the packed stream for so many bytes of memory.
  int64_t stored_size(int64_t memory_bytes) const { return memory_bytes >> memory_shift_ << stored_shift_; }

  Datatype type_;
  Translation translation_;
  int memory_shift_;  ///< binary logarithms of the element sizes: a division a row would be felt
  int stored_shift_;
  bool measures_ = false;
  int count_ = 0;
  std::vector<std::byte*> memory_;
  std::vector<std::byte*> packed_;
  std::vector<ValueRange*> ranges_;
  std::vector<LaneRange> lane_ranges_;  // of each operand
  std::vector<LaneRange> tile_ranges_;  // of each tile, an operand a lane
  std::vector<Tile> tiles_;
  std::vector<const std::byte*> prefetch_points_;
  std::vector<std::byte> scratch_;
  int64_t kernel_bytes_ = 0;  ///< the piece size that the row kernels move; 0 when none fits the translation
  RowKernel gather_ = nullptr;
  RowKernel scatter_ = nullptr;
};

}  // namespace stria::pack
