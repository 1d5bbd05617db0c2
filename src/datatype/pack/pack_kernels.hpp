// The innermost loops of packing: one row of cells, many operands at once.
//
// Problem: operands that are interleaved in memory, cell by cell, become separate streams. Done one
// operand at a time, every cache line would be read once for each operand.
// Method: neighbouring operands of several cells are loaded together and transposed in registers.
// Each instruction set has a table of such loops; one is chosen at run time. The portable loops are
// the reference for the others.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stria::pack {

/// The instruction sets for which there are kernels.
enum class Isa : uint8_t { kPortable = 0, kAvx2, kAvx512 };

/// Returns the best of them that this CPU has.
Isa best_isa();
bool is_supported(Isa isa);

/// The form of a row's elements in the packed stream.
enum class Form : uint8_t {
  kRaw = 0,       ///< the bytes of memory
  kSwapped,       ///< each element's bytes reversed
  kFloat,         ///< doubles as floats
  kFloatSwapped,  ///< doubles as floats, bytes reversed
};
inline constexpr int kFormCount = 4;

inline constexpr int kMaxSlots = 8;

/// Operands that fit one vector register. Slot i lies i elements after the first operand.
struct Tile {
  int first = 0;                 ///< index of the first operand
  int count = 0;                 ///< operands
  uint8_t mask = 0;              ///< slots in use
  uint8_t slot[kMaxSlots] = {};  ///< the slot of each operand
};

/// The smallest and largest values of an operand so far, in as many vector lanes as a kernel uses.
struct alignas(64) LaneRange {
  double minimum[8];
  double maximum[8];
};

/// Operands that are moved together.
struct Comb {
  std::byte* const* memory;  ///< base addresses, ascending
  std::byte* const* packed;
  int count;
  const Tile* tiles;
  int tile_count;
  LaneRange* ranges;  ///< one per operand, or null
  /// One per tile, or null; lane i belongs to slot i, for values that are not transposed yet.
  LaneRange* tile_ranges;
  /// An address in each cache line that one element of all operands touches, to be prefetched some
  /// rows ahead. Null where elements lie closer than a line.
  const std::byte* const* lines = nullptr;
  int line_count = 0;
};

/// Describes `rows` rows, `row_stride` bytes apart. A row has `count` elements of each operand,
/// `stride` bytes apart; the first is `offset` bytes from the base.
struct Row {
  int64_t offset;
  int64_t stride;
  int64_t count;
  int64_t row_stride = 0;
  int64_t rows = 1;
  /// Offset of the rows that come after these, which are as far apart.
  int64_t next_offset = kNoNext;

  static constexpr int64_t kNoNext = INT64_MIN;
};

/// Moves the rows of every operand to or from the place `packed_offset` bytes after its
/// packed address.
using RowKernel = void (*)(const Comb& comb, const Row& row, int64_t packed_offset);

/// The kernels of one instruction set. A transposition costs as much for one operand of a tile as
/// for all of them. So tiles with fewer operands than `least8` or `least4` are moved one operand at
/// a time, and a comb with only such tiles is left to the sparse kernels.
struct KernelTable {
  int slots8;  ///< slots of a tile of 8-byte elements
  int slots4;  ///< slots of a tile of 4-byte elements
  int least8;
  int least4;
  RowKernel gather8[kFormCount];        ///< memory to packed
  RowKernel gather8_range[kFormCount];  ///< the same, and the range of the doubles
  /// These two are for operands that share no tile, whatever comb.tiles says.
  RowKernel sparse8[kFormCount];
  RowKernel sparse8_range[kFormCount];
  RowKernel gather4[2];            ///< kRaw, kSwapped
  RowKernel scatter8[kFormCount];  ///< packed to memory
  RowKernel scatter4[2];
};

const KernelTable& kernel_table(Isa isa);

const KernelTable& portable_kernels();
#if defined(__x86_64__)
const KernelTable& avx2_kernels();
const KernelTable& avx512_kernels();
#endif

/// Moves pieces of any size between memory and one packed stream.
void gather_pieces(const std::byte* memory, int64_t stride, int64_t piece_bytes, int64_t count, std::byte* packed);
void scatter_pieces(std::byte* memory, int64_t stride, int64_t piece_bytes, int64_t count, const std::byte* packed);

}  // namespace stria::pack
