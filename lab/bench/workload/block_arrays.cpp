// Arrays in blocks along all their dimensions: ROMIO's coll_perf, S3D's checkpoint, and the output
// of the convection code.
#include <fmt/format.h>

#include <utility>

#include "stria/status.hpp"
#include "workload/catalog.hpp"
#include "workload/grid.hpp"

namespace stria::bench {

namespace {

/// One rank's block of an array. The ranks need not divide its sides.
struct Block {
  std::vector<int64_t> start;
  std::vector<int64_t> size;
};

Block block_of(const std::vector<int64_t>& dims, const std::vector<int64_t>& grid, const std::vector<int64_t>& place) {
  Block block;
  for (size_t d = 0; d < grid.size(); ++d) {
    block.start.push_back(dims[d] * place[d] / grid[d]);
    block.size.push_back(dims[d] * (place[d] + 1) / grid[d] - block.start[d]);
  }
  return block;
}

Workload make_block3d(const Chosen& chosen, const Ranks& ranks) {
  const int64_t side = chosen.numbers.at("cells");
  const std::vector<int64_t> grid = balanced_grid(ranks.count, 3);
  const Block block = block_of({side, side, side}, grid, place_in_grid(ranks.rank, grid));
  Workload workload;
  workload.arrays = {{"array", {side, side, side}, 4}};
  workload.calls = {{{{0, Selection::box({side, side, side}, block.start, block.size), Selection::whole(block.size)}}}};
  workload.memory_bytes = product(block.size) * 4;
  return workload;
}

// Makes four arrays: per cell 11 species, 3 components of velocity, pressure and temperature.
Workload make_s3d(const Chosen& chosen, const Ranks& ranks) {
  const int64_t side = chosen.numbers.at("cells");
  std::vector<int64_t> grid = balanced_grid(ranks.count, 3);
  const std::vector<int64_t> place = place_in_grid(ranks.rank, grid);  // z, y, x: x is the fastest
  for (const int64_t ranks_along : grid) {
    if (side % ranks_along != 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("s3d: {} cells along a side are not divided by {} ranks", side, ranks_along));
    }
  }
  Workload workload;
  workload.is_file_a_rank = chosen.words.at("files") == "separate";
  const Block block = block_of({side, side, side}, grid, place);
  for (const auto& [name, components] : {std::pair{"yspecies", 11}, {"u", 3}, {"pressure", 1}, {"temp", 1}}) {
    std::vector<int64_t> size = block.size;
    std::vector<int64_t> start = block.start;
    std::vector<int64_t> dims = {side, side, side};
    if (components > 1) {
      size.insert(size.begin(), components);
      start.insert(start.begin(), 0);
      dims.insert(dims.begin(), components);
    }
    const Selection memory = Selection::whole(size);
    const Selection file = workload.is_file_a_rank ? memory : Selection::box(dims, start, size);
    workload.calls.push_back({{{workload.arrays.size(), file, memory, workload.memory_bytes}}});
    workload.arrays.push_back({name, file.dims, 8});
    workload.memory_bytes += memory.elements() * 8;
  }
  return workload;
}

// What a step leaves, an array a call: for a restart numbers with two layers of ghosts around them
// in memory, for analysis single precision, for a movie bytes.
Workload make_convection(const Chosen& chosen, const Ranks& ranks) {
  const std::vector<int64_t> dims{chosen.numbers.at("nz"), chosen.numbers.at("nx")};
  std::vector<int64_t> grid = balanced_grid(ranks.count, 2);
  if (dims[1] > dims[0]) {  // blocks are as near to squares as they can be
    std::swap(grid[0], grid[1]);
  }
  const Block block = block_of(dims, grid, place_in_grid(ranks.rank, grid));
  const std::string& output = chosen.words.at("output");
  Workload workload;
  const auto add = [&](const std::string& name, int64_t element_bytes, int64_t ghosts) {
    const std::vector<int64_t> around{block.size[0] + 2 * ghosts, block.size[1] + 2 * ghosts};
    workload.calls.push_back({{{workload.arrays.size(), Selection::box(dims, block.start, block.size),
                                Selection::box(around, {ghosts, ghosts}, block.size), workload.memory_bytes}}});
    workload.arrays.push_back({name, dims, element_bytes});
    workload.memory_bytes += product(around) * element_bytes;
  };
  const auto wants = [&](const char* kind) { return output == "all" || output == kind; };
  if (wants("restart")) {
    for (const char* name : {"density", "momentum_x", "momentum_z", "energy"}) {
      add(name, chosen.numbers.at("restart-bytes"), 2);
    }
  }
  if (wants("data")) {
    for (const char* name : {"mass", "pressure", "temperature", "speed_x", "speed_z", "vorticity"}) {
      add(name, 4, 0);
    }
  }
  if (wants("movie")) {
    add("warmth", 1, 0);
  }
  return workload;
}

}  // namespace

WorkloadKind convection_kind() {
  return {"convection",
          "what a step of the convection code leaves (Thakur 1995): planes in blocks along both dimensions",
          {{"nx", 512, 1, 1 << 20, "cells along the layer"},
           {"nz", 256, 1, 1 << 20, "cells across it"},
           {"restart-bytes", 8, 1, 8, "of a number in a restart"}},
          {{"output", {"all", "restart", "data", "movie"}, "arrays for a restart, for analysis, a frame, or all of them"}},
          make_convection};
}

WorkloadKind block3d_kind() {
  return {"block3d",
          "a 3-D array of ints in blocks along all three dimensions (coll_perf)",
          {{"cells", 128, 1, 4096, "along a side of the array"}},
          {},
          make_block3d};
}

WorkloadKind s3d_kind() {
  return {"s3d",
          "S3D's checkpoint: four arrays, 128 bytes per cell, in blocks along all three dimensions",
          {{"cells", 64, 1, 4096, "along a side of the arrays"}},
          {{"files", {"shared", "separate"}, "one file, or one per rank"}},
          make_s3d};
}

}  // namespace stria::bench
