// Describes what a FLASH file says of every block besides its cells: the columns of its tree and
// geometry datasets, for local blocks.
#pragma once

#include <cstdint>
#include <vector>

namespace stria::flash {

/// Values of `gid` (and of the FLASH constants behind them) that are no block.
inline constexpr int32_t kNoBlock = -1;
inline constexpr int32_t kReflectingSide = -31;
inline constexpr int32_t kOutflowSide = -32;

/// Holds rows of the block datasets, one per local block, in Morton order. Only leaves are listed.
struct BlockTable {
  int dim = 2;
  int64_t local_count = 0;
  int64_t first_block = 0;  ///< 0-based number of the first local block in the file
  int64_t global_count = 0;
  int64_t largest_count = 0;  ///< blocks of the rank that has most

  std::vector<int32_t> refine_level;  ///< [blocks], 1 = root block
  std::vector<int32_t> node_type;     ///< [blocks], all 1: leaf
  /// [blocks][gid_width()]: 2*dim faces, parent, 2^dim children; 1-based or negative.
  std::vector<int32_t> gid;
  std::vector<int32_t> which_child;       ///< [blocks], 1..2^dim; -1 for a root block
  std::vector<int32_t> processor_number;  ///< [blocks]
  std::vector<double> coordinates;        ///< [blocks][3] centre
  std::vector<double> block_size;         ///< [blocks][3]
  std::vector<double> bounding_box;       ///< [blocks][3][2]

  int gid_width() const { return 2 * dim + 1 + (1 << dim); }
};

}  // namespace stria::flash
