// FLASH I/O: variables interleaved in memory, with guard cells around blocks.
#include <fmt/format.h>

#include "workload/catalog.hpp"

namespace stria::bench {

namespace {

struct Blocks {
  int64_t side, count, variables, guard;
  int64_t wide() const { return side + 2 * guard; }
  /// Of some of the variables.
  Selection memory(int64_t first_variable, int64_t variable_count) const {
    return Selection::box({count, wide(), wide(), wide(), variables}, {0, guard, guard, guard, first_variable},
                          {count, side, side, side, variable_count});
  }
  /// In an array of the blocks of all ranks, which take turns or follow each other rank by rank.
  /// `more` follows the cells.
  Selection file(const Ranks& ranks, bool in_turn, const std::vector<int64_t>& more) const {
    const size_t of_rank = in_turn ? 1 : 0;
    std::vector<int64_t> dims{count, count, side, side, side};
    std::vector<int64_t> start{0, 0, 0, 0, 0};
    std::vector<int64_t> size = dims;
    dims[of_rank] = ranks.count;
    start[of_rank] = ranks.rank;
    size[of_rank] = 1;
    dims.insert(dims.end(), more.begin(), more.end());
    start.insert(start.end(), more.size(), 0);
    size.insert(size.end(), more.begin(), more.end());
    return Selection::box(dims, start, size);
  }
};

Workload make_flash(const Chosen& chosen, const Ranks& ranks) {
  const auto& n = chosen.numbers;
  const Blocks blocks{n.at("nxb"), n.at("blocks"), n.at("nvar"), n.at("guard-cells")};
  const bool in_turn = chosen.words.at("blocks-of") == "turns";
  Workload workload;
  workload.memory_bytes = product(blocks.memory(0, 1).dims) * 8;
  Call all;
  if (chosen.words.at("layout") == "experimental") {
    all.parts = {{0, blocks.file(ranks, in_turn, {blocks.variables}), blocks.memory(0, blocks.variables)}};
    workload.arrays = {{"unknowns", all.parts[0].file.dims, 8}};
    workload.calls = {all};
    return workload;
  }
  for (int64_t v = 0; v < blocks.variables; ++v) {
    const Part part{workload.arrays.size(), blocks.file(ranks, in_turn, {}), blocks.memory(v, 1)};
    workload.arrays.push_back({fmt::format("var{:02}", v), part.file.dims, 8});
    all.parts.push_back(part);
    if (chosen.words.at("calls") == "variable") {
      workload.calls.push_back(all);
      all.parts.clear();
    }
  }
  if (!all.parts.empty()) {
    workload.calls.push_back(all);
  }
  return workload;
}

}  // namespace

WorkloadKind flash_kind() {
  return {"flash",
          "the bytes of FLASH I/O: blocks with guard cells, variables interleaved in memory",
          {{"nxb", 8, 1, 256, "cells of a block along each axis"},
           {"nvar", 24, 1, 1000, "variables of a cell"},
           {"blocks", 80, 1, 1'000'000, "on every rank"},
           {"guard-cells", 4, 0, 16, "layers of guard cells"}},
          {{"blocks-of", {"ranks", "turns"}, "in the file: a rank's blocks together, or the ranks' in turn"},
           {"layout", {"standard", "experimental"}, "one dataset per variable, or one for all"},
           {"calls", {"all", "variable"}, "one call, or one per variable"}},
          make_flash};
}

}  // namespace stria::bench
