// The innermost loops of packing: one row of cells, many operands at once.
//
// Problem: operands interleaved in memory (cell by cell) become separate streams; done one operand at a time, every cache line
// is read once an operand. Method: a window of neighbouring operands is loaded for several cells and transposed in registers; a
// table of such loops for each instruction set is chosen at run time. The portable loops are the reference for the others.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stria::pack {

/// Instruction sets that there are kernels for.
enum class Isa : uint8_t { kPortable = 0, kAvx2, kAvx512 };

/// The best one that this CPU has.
Isa best_isa();
bool is_supported(Isa isa);

/// What the packed stream holds of a row's elements.
enum class Form : uint8_t {
  kRaw = 0,       ///< the bytes of memory
  kSwapped,       ///< each element's bytes reversed
  kFloat,         ///< doubles as floats
  kFloatSwapped,  ///< likewise, bytes reversed
};
inline constexpr int kFormCount = 4;

inline constexpr int kMaxSlots = 8;

/// Operands that lie within one vector register: slot i is i elements after the first operand's.
struct Tile {
  int first = 0;                 ///< index of the first operand
  int count = 0;                 ///< operands
  uint8_t mask = 0;              ///< slots in use
  uint8_t slot[kMaxSlots] = {};  ///< of each operand
};

/// The smallest and largest values of an operand so far, in as many lanes as a kernel likes.
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
  LaneRange* ranges;       ///< one an operand, or null
  LaneRange* tile_ranges;  ///< likewise one a tile, where lane i is that of slot i: values not yet transposed
  /// An address in each cache line that an element of all operands touches, to be asked for some rows ahead; none where
  /// elements lie closer than a line.
  const std::byte* const* lines = nullptr;
  int line_count = 0;
};

/// `rows` rows, `row_stride` bytes apart, of `count` elements an operand, `stride` bytes apart; the first is `offset` bytes
/// from the base.
struct Row {
  int64_t offset;
  int64_t stride;
  int64_t count;
  int64_t row_stride = 0;
  int64_t rows = 1;
  int64_t next_offset = kNoNext;  ///< of the rows that come after these, likewise far apart

  static constexpr int64_t kNoNext = INT64_MIN;
};

/// Moves the rows of every operand, to or from `packed_offset` bytes after each packed address.
using RowKernel = void (*)(const Comb& comb, const Row& row, int64_t packed_offset);

/// A transposition costs the same for one operand of a tile as for all of them: tiles with fewer than `least` are moved an
/// operand at a time, and a comb that has only such tiles is left to the sparse kernels.
struct KernelTable {
  int slots8;  ///< elements of a tile of 8-byte elements
  int slots4;  ///< and of 4-byte ones
  int least8;
  int least4;
  RowKernel gather8[kFormCount];        ///< memory to packed
  RowKernel gather8_range[kFormCount];  ///< likewise, gathering the range of the doubles
  RowKernel sparse8[kFormCount];        ///< both for operands that share no tile, whatever comb.tiles says
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
