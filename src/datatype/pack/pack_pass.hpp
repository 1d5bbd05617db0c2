// One pass over the memory of operands with equal type trees: row by row of the tree, with all
// operands of a row together.
//
// Cost: each cache line with wanted bytes is fetched once. The packed streams are written from
// front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datatype/convert/convert.hpp"
#include "datatype/cursor.hpp"
#include "datatype/pack/pack_kernels.hpp"
#include "datatype/pack/row_walker.hpp"
#include "stria/datatype.hpp"
#include "stria/element_type.hpp"

namespace stria::pack {

/// Says how elements change on the way between memory and stream.
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

/// Packs one element: reads it at `memory`, and writes its stored bytes to `stored`.
void pack_element(const Translation& translation, const std::byte* memory, std::byte* stored);
void unpack_element(const Translation& translation, const std::byte* stored, std::byte* memory);

/// One operand of a pass.
struct Strand {
  std::byte* memory = nullptr;  ///< address of the first byte of its type
  std::byte* packed = nullptr;  ///< where the first byte of the pass's range is
  ValueRange* range = nullptr;  ///< is widened, or null; all strands have one or none does
};

class Pass {
 public:
  /// \pre `type` has displacement 0; the memory addresses of `strands` ascend
  Pass(const Datatype& type, const Translation& translation, std::span<const Strand> strands, const KernelTable& kernels);

  /// Packs the stored elements [begin_element, end_element) from memory into the streams.
  void pack(int64_t begin_element, int64_t end_element);
  /// Unpacks them from the streams into memory.
  void unpack(int64_t begin_element, int64_t end_element);
  /// Does the same for more than the caches hold: whole rows of memory and long pieces go past
  /// them.
  void unpack_past_caches(int64_t begin_element, int64_t end_element);

 private:
  /// Bytes of one operand that are translated at a time, so that a few dozen operands fit the
  /// first-level cache.
  static constexpr int64_t kScratchBytes = 512;
  /// Longer pieces are translated or copied in place.
  static constexpr int64_t kLongPieceBytes = 256;

  void unpack_dense(int64_t begin_element, int64_t end_element);
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
  bool is_dense() const;
  void prefetch(const PieceRow& row) const;
  void merge_ranges();
  void widen(size_t k, double minimum, double maximum);
  /// Returns the bytes of the packed stream for `memory_bytes` bytes of memory.
  int64_t stored_size(int64_t memory_bytes) const { return memory_bytes >> memory_shift_ << stored_shift_; }

  Datatype type_;
  Translation translation_;
  /// Binary logarithms of the element sizes, since a division for each row would take
  /// noticeable time.
  int memory_shift_;
  int stored_shift_;
  bool measures_ = false;
  bool past_caches_ = false;
  int count_ = 0;
  std::vector<std::byte*> memory_;
  std::vector<std::byte*> packed_;
  std::vector<ValueRange*> ranges_;
  std::vector<LaneRange> lane_ranges_;  // the ranges of each operand
  std::vector<LaneRange> tile_ranges_;  // the ranges of each tile, with one operand per lane
  std::vector<Tile> tiles_;
  std::vector<const std::byte*> prefetch_points_;
  std::vector<std::byte> scratch_;
  /// The size of pieces that the row kernels move; 0 when no kernel fits the translation.
  int64_t kernel_bytes_ = 0;
  RowKernel gather_ = nullptr;
  RowKernel scatter_ = nullptr;
};

}  // namespace stria::pack
