// The access patterns of the MPI-IO benchmark: what each rank's file view, memory and calls are.
//
// Sources: coll_perf (ROMIO's test of a 3-D block array), noncontig (ROMIO's benchmark), MPI-Tile-IO (Parallel I/O Benchmarking
// Consortium), NAS BT-IO (NPB 3, full and simple), IOR; 1-D cyclic, block-block, FLASH I/O and the tiled display (Ching 2002).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stria::bench {

/// One call: at `offset` (etypes of the view) that many copies of a memory type, from `memory_bytes` on.
struct Step {
  MPI_Offset offset = 0;
  int64_t memory_bytes = 0;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};

/// What one rank does. Types are owned by the pattern and freed by free_pattern().
struct Pattern {
  MPI_Offset displacement = 0;
  MPI_Datatype etype = MPI_BYTE;
  MPI_Datatype filetype = MPI_BYTE;
  std::vector<Step> steps;   ///< one after the other, within one open
  int64_t memory_bytes = 0;  ///< of the whole buffer, gaps too
  int64_t useful_bytes = 0;  ///< of all ranks
  int64_t pieces = 0;        ///< stretches of the file that this rank touches
  bool is_file_per_rank = false;
  bool overlaps = false;  ///< ranks share bytes of the file: what is written says its place in the file, whoever writes it
  std::vector<MPI_Datatype> owned;
};

struct PatternOptions {
  /// block3d, noncontig_nc_nc, noncontig_nc_c, noncontig_c_nc, tile, btio_full, btio_simple, ior, ior_separate, turns_BYTES,
  /// pieces_gaps, pieces_full, pieces_irregular, and the last three with _nc for memory with gaps; cyclic_MIB, blocks_MIB,
  /// flash, display
  std::string name;
  int64_t size = 0;  ///< cells along a side (block3d, btio), MiB a rank (noncontig, ior, turns), pieces a rank (pieces_...,
                     ///< cyclic, blocks), blocks a rank (flash)
  int dumps = 4;     ///< btio
};

/// Makes the pattern for one rank. False when it can't be: another name, or BT-IO on a number of ranks that is no square.
bool make_pattern(const PatternOptions& options, int rank, int rank_count, Pattern& pattern);
void free_pattern(Pattern& pattern);

/// Of a pattern that overlaps: where in the file a byte of its memory goes.
int64_t display_place(int rank, int64_t memory_byte);

}  // namespace stria::bench
