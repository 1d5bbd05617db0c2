// NAS BT-IO: a grid with five doubles per point, in cells along diagonals, dumped several times.
#include <algorithm>

#include "workload/catalog.hpp"
#include "workload/grid.hpp"

namespace stria::bench {

namespace {

constexpr int64_t kPointBytes = 40;
constexpr int64_t kGuard = 2;

/// The lists are in the order z, y, x.
struct Cell {
  std::vector<int64_t> start;
  std::vector<int64_t> size;
};

std::vector<Cell> cells_of(int64_t points, int64_t side, int rank) {
  std::vector<Cell> cells;
  int64_t x = rank % side;
  int64_t y = rank / side;
  for (int64_t z = 0; z < side; ++z) {
    Cell cell;
    for (const int64_t place : {z, y, x}) {
      cell.size.push_back(points / side + (place < points % side ? 1 : 0));
      cell.start.push_back(place * (points / side) + std::min(place, points % side));
    }
    cells.push_back(cell);
    x = (x + 1) % side;
    y = (y + side - 1) % side;
  }
  return cells;
}

/// A rank's cells in memory, each with guard points around it.
struct Memory {
  int64_t wide = 0;  ///< points along a side of a cell, guards included
  int64_t cell_bytes() const { return wide * wide * wide * kPointBytes; }
  Selection cell(const std::vector<int64_t>& start, const std::vector<int64_t>& size) const {
    std::vector<int64_t> inner = start;
    for (int64_t& value : inner) {
      value += kGuard;
    }
    return Selection::box({wide, wide, wide}, inner, size);
  }
};

Part cell_part(const std::vector<int64_t>& dims, int64_t dump, const Cell& cell, const Selection& memory, int64_t place) {
  return {
      0,
      Selection::box(dims, {dump, cell.start[0], cell.start[1], cell.start[2]}, {1, cell.size[0], cell.size[1], cell.size[2]}),
      memory, place};
}

// Adds one call for each row of points of a cell.
void add_rows(const std::vector<int64_t>& dims, int64_t dump, const Cell& cell, const Memory& memory, int64_t place,
              Workload& workload) {
  for (int64_t k = 0; k < cell.size[0]; ++k) {
    for (int64_t j = 0; j < cell.size[1]; ++j) {
      const Cell row{{cell.start[0] + k, cell.start[1] + j, cell.start[2]}, {1, 1, cell.size[2]}};
      workload.calls.push_back({{cell_part(dims, dump, row, memory.cell({k, j, 0}, row.size), place)}});
    }
  }
}

// Returns one file per rank: its cells one after another, without the guards.
Workload file_a_rank(int64_t dumps, const std::vector<Cell>& cells, const Memory& memory) {
  Workload workload;
  workload.is_file_a_rank = true;
  for (int64_t dump = 0; dump < dumps; ++dump) {
    Call call;
    for (size_t c = 0; c < cells.size(); ++c) {
      const int64_t place = static_cast<int64_t>(c) * memory.cell_bytes();
      call.parts.push_back(
          {workload.arrays.size(), Selection::whole(cells[c].size), memory.cell({0, 0, 0}, cells[c].size), place});
      const std::string name = "dump" + std::to_string(dump) + "_cell" + std::to_string(c);
      workload.arrays.push_back({name, cells[c].size, kPointBytes, 0, static_cast<int>(c)});
    }
    workload.calls.push_back(call);
  }
  return workload;
}

Workload make_btio(const Chosen& chosen, const Ranks& ranks) {
  const int64_t side = square_side("btio", ranks);
  const int64_t points = chosen.numbers.at("points");
  const int64_t dumps = chosen.numbers.at("dumps");
  const std::string& kind = chosen.words.at("kind");
  const std::vector<Cell> cells = cells_of(points, side, ranks.rank);
  const Memory memory{(points + side - 1) / side + 2 * kGuard};
  const std::vector<int64_t> dims{dumps, points, points, points};
  Workload workload;
  if (kind == "epio") {
    workload = file_a_rank(dumps, cells, memory);
  } else {
    workload.arrays = {{"dumps", dims, kPointBytes, points * points * points * kPointBytes}};
    workload.repeats = kind == "full";
    for (int64_t dump = 0; dump < dumps; ++dump) {
      Call call;
      for (size_t c = 0; c < cells.size(); ++c) {
        const int64_t place = static_cast<int64_t>(c) * memory.cell_bytes();
        if (kind == "full") {
          call.parts.push_back(cell_part(dims, dump, cells[c], memory.cell({0, 0, 0}, cells[c].size), place));
        } else {
          add_rows(dims, dump, cells[c], memory, place, workload);
        }
      }
      if (kind == "full") {
        workload.calls.push_back(call);
      }
    }
  }
  workload.memory_bytes = side * memory.cell_bytes();
  return workload;
}

}  // namespace

WorkloadKind btio_kind() {
  return {"btio",
          "NAS BT-IO on a square number of ranks: a grid in diagonal cells, dumped several times",
          {{"points", 24, 1, 2048, "along a side of the grid"}, {"dumps", 4, 1, 1000, "one after the other"}},
          {{"kind", {"full", "simple", "epio"}, "one call per dump, one per row of points, or one file per rank"}},
          make_btio};
}

}  // namespace stria::bench
