#include "mpiio/patterns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace stria::bench {
namespace {

constexpr int64_t kMiB = 1 << 20;

MPI_Datatype keep(Pattern& pattern, MPI_Datatype type) {
  MPI_Type_commit(&type);
  pattern.owned.push_back(type);
  return type;
}

MPI_Datatype subarray(Pattern& pattern, const std::vector<int>& sizes, const std::vector<int>& subsizes,
                      const std::vector<int>& starts, MPI_Datatype of) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(static_cast<int>(sizes.size()), sizes.data(), subsizes.data(), starts.data(), MPI_ORDER_C, of,
                           &type);
  return keep(pattern, type);
}

// One call that moves all of `type`.
void one_step(Pattern& pattern, int count, MPI_Datatype type, int64_t bytes_a_rank, int rank_count) {
  pattern.steps.push_back({0, 0, count, type});
  pattern.useful_bytes = bytes_a_rank * rank_count;
}

// coll_perf: an array of size^3 ints, distributed in blocks along all three dimensions; memory is the block.
void block3d(int64_t size, int rank, int rank_count, Pattern& pattern) {
  std::array<int, 3> grid{0, 0, 0};
  MPI_Dims_create(rank_count, 3, grid.data());
  std::vector<int> sizes(3, static_cast<int>(size));
  std::vector<int> subsizes(3);
  std::vector<int> starts(3);
  int rest = rank;
  int64_t cells = 1;
  for (size_t d = 3; d-- > 0;) {
    const int place = rest % grid[d];
    rest /= grid[d];
    starts[d] = static_cast<int>(size * place / grid[d]);
    subsizes[d] = static_cast<int>(size * (place + 1) / grid[d]) - starts[d];
    cells *= subsizes[d];
  }
  pattern.etype = MPI_INT;
  pattern.filetype = subarray(pattern, sizes, subsizes, starts, MPI_INT);
  pattern.memory_bytes = cells * 4;
  pattern.pieces = int64_t{subsizes[0]} * subsizes[1];
  one_step(pattern, static_cast<int>(cells), MPI_INT, 0, rank_count);
  pattern.useful_bytes = size * size * size * 4;
}

// noncontig: vectors of 2 ints dealt to the ranks in turn; memory alike where it is noncontiguous.
void noncontig(int64_t mebibytes, bool memory_gaps, bool file_gaps, int rank, int rank_count, Pattern& pattern) {
  constexpr int64_t kElementBytes = 8;
  const auto elements = static_cast<int>(mebibytes * kMiB / kElementBytes);
  MPI_Datatype element = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &element);
  keep(pattern, element);
  MPI_Datatype strided = MPI_DATATYPE_NULL;
  MPI_Type_vector(elements, 1, rank_count, element, &strided);
  keep(pattern, strided);
  const int64_t bytes = elements * kElementBytes;
  pattern.etype = MPI_INT;
  pattern.filetype = file_gaps ? strided : MPI_INT;
  pattern.displacement = file_gaps ? rank * kElementBytes : rank * bytes;
  pattern.memory_bytes = memory_gaps ? bytes * rank_count : bytes;
  pattern.pieces = file_gaps ? elements : 1;
  one_step(pattern, memory_gaps ? 1 : elements, memory_gaps ? strided : element, bytes, rank_count);
}

// MPI-Tile-IO with one tile of 1024 x 768 elements of 32 bytes a rank and no overlap.
void tile(int rank, int rank_count, Pattern& pattern) {
  std::array<int, 2> grid{0, 0};
  MPI_Dims_create(rank_count, 2, grid.data());
  constexpr int kWidth = 1024;
  constexpr int kHeight = 768;
  MPI_Datatype element = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(32, MPI_BYTE, &element);
  keep(pattern, element);
  pattern.etype = element;
  pattern.filetype = subarray(pattern, {kHeight * grid[0], kWidth * grid[1]}, {kHeight, kWidth},
                              {rank / grid[1] * kHeight, rank % grid[1] * kWidth}, element);
  pattern.memory_bytes = int64_t{kWidth} * kHeight * 32;
  pattern.pieces = kHeight;
  one_step(pattern, kWidth * kHeight, element, pattern.memory_bytes, rank_count);
}

// The cells of BT-IO: `side` of them along the diagonal, each a block of the grid of size^3 with 5 doubles a point.
struct BtCell {
  std::array<int, 3> start;  // z, y, x
  std::array<int, 3> size;
};

std::vector<BtCell> bt_cells(int size, int side, int rank) {
  std::vector<BtCell> cells;
  int x = rank % side;
  int y = rank / side;
  for (int z = 0; z < side; ++z) {
    BtCell cell{};
    const std::array<int, 3> place{z, y, x};
    for (size_t d = 0; d < 3; ++d) {
      const int base = size / side;
      const int more = size % side;
      cell.size[d] = base + (place[d] < more ? 1 : 0);
      cell.start[d] = place[d] * base + std::min(place[d], more);
    }
    cells.push_back(cell);
    x = (x + 1) % side;
    y = (y + side - 1) % side;
  }
  return cells;
}

bool btio(int size, int dumps, bool full, int rank, int rank_count, Pattern& pattern) {
  const int side = static_cast<int>(std::lround(std::sqrt(rank_count)));
  if (side * side != rank_count) {
    return false;
  }
  constexpr int kGuard = 2;
  MPI_Datatype point = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(5, MPI_DOUBLE, &point);
  keep(pattern, point);
  const int most = (size + side - 1) / side + 2 * kGuard;
  const std::vector<BtCell> cells = bt_cells(size, side, rank);
  const int64_t cell_bytes = int64_t{most} * most * most * 40;
  const int64_t dump_bytes = int64_t{size} * size * size * 40;
  pattern.memory_bytes = cell_bytes * side;
  pattern.useful_bytes = dump_bytes * dumps;
  std::vector<MPI_Datatype> file_parts;
  std::vector<MPI_Datatype> memory_parts;
  std::vector<MPI_Aint> memory_places;
  int64_t points = 0;
  for (size_t c = 0; c < cells.size(); ++c) {
    const BtCell& cell = cells[c];
    file_parts.push_back(subarray(pattern, {size, size, size}, {cell.size[0], cell.size[1], cell.size[2]},
                                  {cell.start[0], cell.start[1], cell.start[2]}, point));
    memory_parts.push_back(
        subarray(pattern, {most, most, most}, {cell.size[0], cell.size[1], cell.size[2]}, {kGuard, kGuard, kGuard}, point));
    memory_places.push_back(static_cast<MPI_Aint>(cell_bytes * static_cast<int64_t>(c)));
    points += int64_t{cell.size[0]} * cell.size[1] * cell.size[2];
    pattern.pieces += int64_t{cell.size[0]} * cell.size[1];
  }
  pattern.pieces *= dumps;
  const std::vector<int> ones(cells.size(), 1);
  const std::vector<MPI_Aint> zeros(cells.size(), 0);
  if (full) {
    MPI_Datatype filetype = MPI_DATATYPE_NULL;
    MPI_Datatype memory = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(side, ones.data(), zeros.data(), file_parts.data(), &filetype);
    MPI_Type_create_struct(side, ones.data(), memory_places.data(), memory_parts.data(), &memory);
    pattern.etype = point;
    pattern.filetype = keep(pattern, filetype);
    keep(pattern, memory);
    for (int dump = 0; dump < dumps; ++dump) {
      pattern.steps.push_back({points * dump, 0, 1, memory});
    }
    return true;
  }
  pattern.etype = point;
  pattern.filetype = point;
  for (int dump = 0; dump < dumps; ++dump) {
    for (size_t c = 0; c < cells.size(); ++c) {
      const BtCell& cell = cells[c];
      for (int k = 0; k < cell.size[0]; ++k) {
        for (int j = 0; j < cell.size[1]; ++j) {
          const int64_t row = (int64_t{cell.start[0] + k} * size + cell.start[1] + j) * size + cell.start[2];
          const int64_t place = ((int64_t{k + kGuard} * most + j + kGuard) * most + kGuard) * 40;
          pattern.steps.push_back({dump * dump_bytes / 40 + row, memory_places[c] + place, cell.size[2], point});
        }
      }
    }
  }
  return true;
}

// IOR: one block a rank in a shared file, in transfers of 1 MiB.
void ior(int64_t mebibytes, int rank, int rank_count, Pattern& pattern) {
  for (int64_t i = 0; i < mebibytes; ++i) {
    pattern.steps.push_back({(rank * mebibytes + i) * kMiB, i * kMiB, static_cast<int>(kMiB), MPI_BYTE});
  }
  pattern.memory_bytes = mebibytes * kMiB;
  pattern.useful_bytes = pattern.memory_bytes * rank_count;
  pattern.pieces = mebibytes;
}

// The ranks' pieces of so many bytes take turns and leave no gap; memory is contiguous. What the planner's choice by the length
// of pieces is measured with.
bool turns(const PatternOptions& options, int rank, int rank_count, Pattern& pattern) {
  const int piece_bytes = std::atoi(options.name.c_str() + options.name.find('_') + 1);
  const int64_t bytes = options.size * kMiB;
  if (piece_bytes <= 0 || bytes % piece_bytes != 0) {
    return false;
  }
  MPI_Datatype strided = MPI_DATATYPE_NULL;
  MPI_Type_vector(static_cast<int>(bytes / piece_bytes), piece_bytes, piece_bytes * rank_count, MPI_BYTE, &strided);
  pattern.filetype = keep(pattern, strided);
  pattern.displacement = MPI_Offset{piece_bytes} * rank;
  pattern.memory_bytes = bytes;
  pattern.pieces = bytes / piece_bytes;
  one_step(pattern, static_cast<int>(bytes), MPI_BYTE, bytes, rank_count);
  return true;
}

// Which of a slot's two doubles an irregular list takes: chance, but the same in every run.
int64_t place_in_slot(int64_t index) {
  return static_cast<int64_t>((static_cast<uint64_t>(index) * 0x9e3779b97f4a7c15u) >> 63);
}

// Very many pieces of 8 bytes a rank. The ranks' pieces take turns: "_gaps" with 8 bytes after each that nobody touches,
// "_full" without, "_irregular" with them before or after, so that no vector describes the list. Memory is packed, or with
// "_nc" every second double of a buffer.
bool pieces(const PatternOptions& options, int rank, int rank_count, Pattern& pattern) {
  const bool memory_gaps = options.name.ends_with("_nc");
  const std::string file = options.name.substr(0, options.name.size() - (memory_gaps ? 3 : 0));
  const auto count = static_cast<int>(options.size);
  const int slot = file == "pieces_full" ? 1 : 2;  // doubles
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  if (file == "pieces_irregular") {
    std::vector<MPI_Aint> places(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      places[static_cast<size_t>(i)] = (i * slot * rank_count + place_in_slot(i)) * 8;
    }
    MPI_Type_create_hindexed_block(count, 1, places.data(), MPI_DOUBLE, &filetype);
  } else if (file == "pieces_full" || file == "pieces_gaps") {
    MPI_Type_vector(count, 1, slot * rank_count, MPI_DOUBLE, &filetype);
  } else {
    return false;
  }
  pattern.etype = MPI_DOUBLE;
  pattern.filetype = keep(pattern, filetype);
  pattern.displacement = MPI_Offset{8} * slot * rank;
  pattern.memory_bytes = int64_t{8} * count * (memory_gaps ? 2 : 1);
  pattern.pieces = count;
  MPI_Datatype memory = MPI_DOUBLE;
  if (memory_gaps) {
    MPI_Type_vector(count, 1, 2, MPI_DOUBLE, &memory);
    keep(pattern, memory);
  }
  one_step(pattern, memory_gaps ? 1 : count, memory, int64_t{8} * count, rank_count);
  return true;
}

// As many pieces of equal size as the name's mebibytes, `ranks` and `count` leave room for; at least 8 bytes each.
int64_t equal_piece(const PatternOptions& options, int rank_count) {
  const int64_t mebibytes = std::atoll(options.name.c_str() + options.name.find('_') + 1);
  return std::max<int64_t>(mebibytes * kMiB / rank_count / options.size / 8 * 8, 8);
}

// Every rank has `count` pieces, one in each row of `across` ranks.
void rows_of_pieces(int64_t count, int64_t piece_bytes, int across, int64_t displacement, int rank_count, Pattern& pattern) {
  MPI_Datatype strided = MPI_DATATYPE_NULL;
  MPI_Type_vector(static_cast<int>(count), static_cast<int>(piece_bytes), static_cast<int>(piece_bytes * across), MPI_BYTE,
                  &strided);
  pattern.filetype = keep(pattern, strided);
  pattern.displacement = displacement;
  pattern.memory_bytes = count * piece_bytes;
  pattern.pieces = count;
  one_step(pattern, static_cast<int>(pattern.memory_bytes), MPI_BYTE, pattern.memory_bytes, rank_count);
}

// The ranks' pieces take turns along the file.
bool cyclic(const PatternOptions& options, int rank, int rank_count, Pattern& pattern) {
  if (options.size < 1) {
    return false;
  }
  const int64_t piece = equal_piece(options, rank_count);
  rows_of_pieces(options.size, piece, rank_count, rank * piece, rank_count, pattern);
  return true;
}

// A square of blocks, one a rank; a piece is a row of a block.
bool block_block(const PatternOptions& options, int rank, int rank_count, Pattern& pattern) {
  const int side = static_cast<int>(std::lround(std::sqrt(rank_count)));
  if (side * side != rank_count || options.size < 1) {
    return false;
  }
  const int64_t piece = equal_piece(options, rank_count);
  const int64_t displacement = (rank / side * options.size * side + rank % side) * piece;
  rows_of_pieces(options.size, piece, side, displacement, rank_count, pattern);
  return true;
}

// FLASH I/O as in 2002: 24 variables interleaved in memory with 4 guard cells around blocks of 8^3 doubles, pieces of 8 bytes;
// in the file a variable's blocks one after another, the ranks in turn, pieces of a block.
bool flash(const PatternOptions& options, int rank, int rank_count, Pattern& pattern) {
  constexpr int kVariables = 24;
  constexpr int kSide = 8;
  constexpr int kGuard = 4;
  constexpr int kWide = kSide + 2 * kGuard;
  constexpr int kCells = kSide * kSide * kSide;
  const auto blocks = static_cast<int>(options.size);
  if (blocks < 1) {
    return false;
  }
  std::vector<MPI_Datatype> variables;
  for (int v = 0; v < kVariables; ++v) {
    variables.push_back(subarray(pattern, {blocks, kWide, kWide, kWide, kVariables}, {blocks, kSide, kSide, kSide, 1},
                                 {0, kGuard, kGuard, kGuard, v}, MPI_DOUBLE));
  }
  const std::vector<int> ones(kVariables, 1);
  const std::vector<MPI_Aint> zeros(kVariables, 0);
  MPI_Datatype memory = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(kVariables, ones.data(), zeros.data(), variables.data(), &memory);
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  MPI_Type_vector(kVariables * blocks, kCells, kCells * rank_count, MPI_DOUBLE, &filetype);
  pattern.etype = MPI_DOUBLE;
  pattern.filetype = keep(pattern, filetype);
  pattern.displacement = MPI_Offset{8} * kCells * rank;
  pattern.memory_bytes = int64_t{8} * kVariables * kWide * kWide * kWide * blocks;
  pattern.pieces = int64_t{kVariables} * blocks;
  one_step(pattern, 1, keep(pattern, memory), pattern.pieces * kCells * 8, rank_count);
  return true;
}

// 3 x 2 displays of 1024 x 768 pixels of 24 bits that overlap by 270 and 128 pixels show one frame; a rank reads its display's.
constexpr int kDisplayColumns = 3;
constexpr int kDisplayRows = 2;
constexpr int kPixelBytes = 3;
constexpr int kDisplayWide = 1024;
constexpr int kDisplayHigh = 768;
constexpr int kStepAcross = kDisplayWide - 270;
constexpr int kStepDown = kDisplayHigh - 128;
constexpr int kFrameWide = kDisplayWide + (kDisplayColumns - 1) * kStepAcross;
constexpr int kFrameHigh = kDisplayHigh + (kDisplayRows - 1) * kStepDown;

bool display(int rank, int rank_count, Pattern& pattern) {
  if (rank_count != kDisplayColumns * kDisplayRows) {
    return false;
  }
  MPI_Datatype pixel = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(kPixelBytes, MPI_BYTE, &pixel);
  pattern.etype = keep(pattern, pixel);
  const std::vector<int> starts{rank / kDisplayColumns * kStepDown, rank % kDisplayColumns * kStepAcross};
  pattern.filetype = subarray(pattern, {kFrameHigh, kFrameWide}, {kDisplayHigh, kDisplayWide}, starts, pixel);
  pattern.memory_bytes = int64_t{kDisplayWide} * kDisplayHigh * kPixelBytes;
  pattern.pieces = kDisplayHigh;
  pattern.overlaps = true;
  one_step(pattern, kDisplayWide * kDisplayHigh, pixel, pattern.memory_bytes, rank_count);
  return true;
}

}  // namespace

int64_t display_place(int rank, int64_t memory_byte) {
  const int64_t row = memory_byte / (kDisplayWide * kPixelBytes) + rank / kDisplayColumns * kStepDown;
  const int64_t column = memory_byte % (kDisplayWide * kPixelBytes) + rank % kDisplayColumns * kStepAcross * kPixelBytes;
  return row * kFrameWide * kPixelBytes + column;
}

bool make_pattern(const PatternOptions& options, int rank, int rank_count, Pattern& pattern) {
  const std::string& name = options.name;
  if (name == "block3d") {
    block3d(options.size, rank, rank_count, pattern);
  } else if (name.starts_with("noncontig_")) {
    noncontig(options.size, name != "noncontig_c_nc", name != "noncontig_nc_c", rank, rank_count, pattern);
  } else if (name == "tile") {
    tile(rank, rank_count, pattern);
  } else if (name == "btio_full" || name == "btio_simple") {
    return btio(static_cast<int>(options.size), options.dumps, name == "btio_full", rank, rank_count, pattern);
  } else if (name == "ior") {
    ior(options.size, rank, rank_count, pattern);
  } else if (name == "ior_separate") {
    ior(options.size, 0, rank_count, pattern);  // each at the beginning of a file of its own
    pattern.is_file_per_rank = true;
  } else if (name.starts_with("turns_")) {
    return turns(options, rank, rank_count, pattern);
  } else if (name.starts_with("pieces_")) {
    return pieces(options, rank, rank_count, pattern);
  } else if (name.starts_with("cyclic_")) {
    return cyclic(options, rank, rank_count, pattern);
  } else if (name.starts_with("blocks_")) {
    return block_block(options, rank, rank_count, pattern);
  } else if (name == "flash") {
    return flash(options, rank, rank_count, pattern);
  } else if (name == "display") {
    return display(rank, rank_count, pattern);
  } else {
    return false;
  }
  return true;
}

void free_pattern(Pattern& pattern) {
  for (MPI_Datatype& type : pattern.owned) {
    MPI_Type_free(&type);
  }
  pattern.owned.clear();
}

}  // namespace stria::bench
