// FLASH: blocks with guard cells, variables interleaved in memory.
#include <fmt/format.h>

#include <initializer_list>
#include <tuple>
#include <utility>

#include "workload/catalog.hpp"

namespace stria::bench {

namespace {

struct Blocks {
  int64_t side, count, variables, guard;
  int64_t wide() const { return side + 2 * guard; }
  /// Returns the memory of some of the variables.
  Selection memory(int64_t first_variable, int64_t variable_count) const {
    return Selection::box({count, wide(), wide(), wide(), variables}, {0, guard, guard, guard, first_variable},
                          {count, side, side, side, variable_count});
  }
  /// Selects in an array of the blocks of all ranks, which take turns or follow each other rank by
  /// rank. `more` follows the cells.
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

// Makes a checkpoint of Sedov's blast on an adaptive mesh: every second rank has a block less than
// the others, and the tree of the blocks comes with the variables.
Workload make_sedov(const Chosen& chosen, const Ranks& ranks) {
  const auto& n = chosen.numbers;
  const int64_t value_bytes = n.at("value-bytes");
  const int64_t most = n.at("blocks");
  const int64_t fewer = most > 1 ? 1 : 0;
  const int64_t own = most - ranks.rank % 2 * fewer;
  const int64_t first = ranks.rank * most - ranks.rank / 2 * fewer;
  const int64_t total = ranks.count * most - ranks.count / 2 * fewer;
  const Blocks blocks{n.at("nxb"), own, n.at("nvar"), n.at("guard-cells")};
  Workload workload;
  workload.memory_bytes = product(blocks.memory(0, 1).dims) * value_bytes;
  Call all;
  // `shape` is that of a block.
  const auto file_of = [&](const std::string& name, std::vector<int64_t> shape, int64_t element_bytes) {
    std::vector<int64_t> dims{total};
    std::vector<int64_t> start{first};
    std::vector<int64_t> size{own};
    dims.insert(dims.end(), shape.begin(), shape.end());
    start.insert(start.end(), shape.size(), 0);
    size.insert(size.end(), shape.begin(), shape.end());
    workload.arrays.push_back({name, dims, element_bytes});
    return Selection::box(dims, start, size);
  };
  for (const auto& [name, shape, element_bytes] :
       std::initializer_list<std::tuple<const char*, std::vector<int64_t>, int64_t>>{{"coordinates", {3}, 8},
                                                                                     {"block size", {3}, 8},
                                                                                     {"bounding box", {3, 2}, 8},
                                                                                     {"refine level", {}, 4},
                                                                                     {"node type", {}, 4},
                                                                                     {"gid", {15}, 4}}) {
    const Selection file = file_of(name, shape, element_bytes);
    const Part part{workload.arrays.size() - 1, file, Selection::whole({file.elements()}), workload.memory_bytes};
    workload.calls.push_back({{part}});
    workload.memory_bytes += file.elements() * element_bytes;
  }
  if (chosen.words.at("layout") == "experimental") {
    const Selection file = file_of("unknowns", {blocks.side, blocks.side, blocks.side, blocks.variables}, value_bytes);
    workload.calls.push_back({{{workload.arrays.size() - 1, file, blocks.memory(0, blocks.variables)}}});
    return workload;
  }
  for (int64_t v = 0; v < blocks.variables; ++v) {
    const Selection file = file_of(fmt::format("var{:02}", v), {blocks.side, blocks.side, blocks.side}, value_bytes);
    all.parts.push_back({workload.arrays.size() - 1, file, blocks.memory(v, 1)});
    if (chosen.words.at("calls") == "variable") {
      workload.calls.push_back(std::exchange(all, {}));
    }
  }
  if (!all.parts.empty()) {
    workload.calls.push_back(all);
  }
  return workload;
}

}  // namespace

WorkloadKind sedov_kind() {
  return {"sedov",
          "a checkpoint of Sedov's blast: unequal numbers of blocks with guard cells, and their tree",
          {{"nxb", 16, 1, 256, "cells of a block along each axis"},
           {"nvar", 10, 1, 1000, "variables of a cell"},
           {"blocks", 32, 1, 1'000'000, "on every rank, or one less"},
           {"guard-cells", 4, 0, 16, "layers of guard cells"},
           {"value-bytes", 8, 1, 8, "of a variable in a cell: 4 in plot files"}},
          {{"layout", {"standard", "experimental"}, "one dataset per variable, or one for all"},
           {"calls", {"all", "variable"}, "one call for the variables, or one each"}},
          make_sedov};
}

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
