#include "workload/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stria/status.hpp"

namespace stria::bench {

namespace {

// Returns the best grid whose factors are at most `most`: the one with the least largest factor; of
// several, the one with the largest smallest factor.
std::vector<int64_t> grid_below(int64_t ranks, int dimensions, int64_t most) {
  if (dimensions == 1) {
    return ranks <= most ? std::vector<int64_t>{ranks} : std::vector<int64_t>{};
  }
  for (int64_t first = 1; first <= std::min(ranks, most); ++first) {
    if (ranks % first == 0) {
      std::vector<int64_t> rest = grid_below(ranks / first, dimensions - 1, first);
      if (!rest.empty()) {
        rest.insert(rest.begin(), first);
        return rest;
      }
    }
  }
  return {};
}

}  // namespace

std::vector<int64_t> balanced_grid(int ranks, int dimensions) {
  return grid_below(ranks, dimensions, ranks);
}

std::vector<int64_t> place_in_grid(int rank, const std::vector<int64_t>& grid) {
  std::vector<int64_t> place(grid.size());
  int64_t rest = rank;
  for (size_t d = grid.size(); d-- > 0;) {
    place[d] = rest % grid[d];
    rest /= grid[d];
  }
  return place;
}

int64_t square_side(const std::string& workload, const Ranks& ranks) {
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(ranks.count)));
  if (side * side != ranks.count) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} on {} ranks: their number must be a square (1, 4, 9, ...)", workload, ranks.count));
  }
  return side;
}

}  // namespace stria::bench
