// Tiles of a plane: MPI-Tile-IO, and the display of 2002 whose tiles overlap.
#include <fmt/format.h>

#include "stria/status.hpp"
#include "workload/catalog.hpp"
#include "workload/grid.hpp"

namespace stria::bench {

namespace {

struct Tiling {
  std::vector<int64_t> grid;     ///< rows and columns of tiles
  std::vector<int64_t> size;     ///< the size of a tile
  std::vector<int64_t> overlap;  ///< the overlap of neighbours
  int64_t element_bytes = 1;
};

Workload tiles(const Tiling& tiling, int rank) {
  const std::vector<int64_t> place = place_in_grid(rank, tiling.grid);
  std::vector<int64_t> dims;
  std::vector<int64_t> start;
  for (size_t d = 0; d < 2; ++d) {
    const int64_t step = tiling.size[d] - tiling.overlap[d];
    dims.push_back((tiling.grid[d] - 1) * step + tiling.size[d]);
    start.push_back(place[d] * step);
  }
  Workload workload;
  workload.arrays = {{"plane", dims, tiling.element_bytes}};
  workload.calls = {{{{0, Selection::box(dims, start, tiling.size), Selection::whole(tiling.size)}}}};
  workload.memory_bytes = product(tiling.size) * tiling.element_bytes;
  workload.overlaps = tiling.overlap != std::vector<int64_t>{0, 0};
  return workload;
}

Workload make_tile(const Chosen& chosen, const Ranks& ranks) {
  const auto& n = chosen.numbers;
  return tiles({balanced_grid(ranks.count, 2), {n.at("height"), n.at("width")}, {0, 0}, n.at("element-bytes")}, ranks.rank);
}

Workload make_display(const Chosen& chosen, const Ranks& ranks) {
  const auto& n = chosen.numbers;
  const std::vector<int64_t> overlap{n.at("overlap-y"), n.at("overlap-x")};
  const std::vector<int64_t> size{n.at("height"), n.at("width")};
  if (overlap[0] >= size[0] || overlap[1] >= size[1]) {
    throw Error(ErrorCode::kInvalidArgument, "display: neighbours overlap by less than a display");
  }
  std::vector<int64_t> grid = balanced_grid(ranks.count, 2);
  std::swap(grid[0], grid[1]);  // wider than high: 3 x 2 on 6 ranks
  return tiles({grid, size, overlap, 3}, ranks.rank);
}

}  // namespace

WorkloadKind tile_kind() {
  return {"tile",
          "a plane of tiles, one per rank (MPI-Tile-IO)",
          {{"width", 1024, 1, 65536, "elements of a tile's row"},
           {"height", 768, 1, 65536, "rows of a tile"},
           {"element-bytes", 32, 1, 4096, "of an element"}},
          {},
          make_tile};
}

WorkloadKind display_kind() {
  return {"display",
          "displays that overlap and show one frame of 24-bit pixels: 3 x 2 on 6 ranks",
          {{"width", 1024, 1, 65536, "pixels of a display's row"},
           {"height", 768, 1, 65536, "rows of a display"},
           {"overlap-x", 270, 0, 65535, "pixels that neighbours in a row share"},
           {"overlap-y", 128, 0, 65535, "rows that neighbours in a column share"}},
          {},
          make_display};
}

}  // namespace stria::bench
