#include "physics/multigrid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "stria/status.hpp"

namespace stria::convection {

namespace {

constexpr size_t kDividedLevels = 3;
static_assert(kUnit == 1 << kDividedLevels);
constexpr int kSweeps = 2;
constexpr int kSweepsOnCoarsest = 24;
constexpr int kMostCycles = 60;

}  // namespace

struct Multigrid::Level {
  explicit Level(const Grid& of)
      : grid(of), diagonal(of, 1), west(of, 1), up(of, 1), right(of, 1), solution(of, 1), residual(of, 1) {}

  double couplings(int64_t j, int64_t i) const {
    return diagonal(j, i) + ((west(j, i) + west(j, i + 1)) + (up(j, i) + up(j + 1, i)));
  }
  double from_neighbours(int64_t j, int64_t i) const {
    return (west(j, i) * solution(j, i - 1) + west(j, i + 1) * solution(j, i + 1)) +
           (up(j, i) * solution(j - 1, i) + up(j + 1, i) * solution(j + 1, i));
  }

  void smooth(int sweeps) {
    for (int half = 0; half < 2 * sweeps; ++half) {
      exchange(grid, {&solution});
      for (int64_t j = 0; j < grid.mz; ++j) {
        for (int64_t i = (grid.z0 + j + grid.x0 + half) % 2; i < grid.mx; i += 2) {
          solution(j, i) = (right(j, i) + from_neighbours(j, i)) / couplings(j, i);
        }
      }
    }
  }

  /// Returns the largest.
  double find_residual() {
    exchange(grid, {&solution});
    double largest = 0;
    for (int64_t j = 0; j < grid.mz; ++j) {
      for (int64_t i = 0; i < grid.mx; ++i) {
        residual(j, i) = right(j, i) + from_neighbours(j, i) - couplings(j, i) * solution(j, i);
        largest = std::max(largest, std::abs(residual(j, i)));
      }
    }
    return largest;
  }

  /// Makes the same coefficients for cells twice as large.
  void coarsen_into(Level& coarse) const {
    const int64_t mz = coarse.grid.mz;
    const int64_t mx = coarse.grid.mx;
    for (int64_t j = 0; j <= mz; ++j) {
      for (int64_t i = 0; i <= mx; ++i) {
        const int64_t y = 2 * j;
        const int64_t x = 2 * i;
        if (j < mz) {
          coarse.west(j, i) = 0.125 * (west(y, x) + west(y + 1, x));
        }
        if (i < mx) {
          coarse.up(j, i) = 0.125 * (up(y, x) + up(y, x + 1));
        }
        if (j < mz && i < mx) {
          coarse.diagonal(j, i) = mean_of_four(diagonal, y, x);
        }
      }
    }
  }

  static double mean_of_four(const Field& field, int64_t y, int64_t x) {
    return 0.25 * ((field(y, x) + field(y, x + 1)) + (field(y + 1, x) + field(y + 1, x + 1)));
  }

  void restrict_into(Field& coarse_right, const Grid& coarse) const {
    for (int64_t j = 0; j < coarse.mz; ++j) {
      for (int64_t i = 0; i < coarse.mx; ++i) {
        coarse_right(j, i) = mean_of_four(residual, 2 * j, 2 * i);
      }
    }
  }

  /// Adds what coarser cells found, the one at (z, x) of `coarse` the first of this block: half of
  /// the cell around and a quarter of each of the two that are nearest. The caller has filled its
  /// ghosts.
  void add(const Field& coarse, int64_t z, int64_t x) {
    for (int64_t j = 0; j < grid.mz; ++j) {
      const int64_t row = z + j / 2;
      const bool at_wall = j == grid.mz - 1 && grid.at_bottom();  // through which nothing flows
      const int64_t near_row = at_wall ? row : row + (j % 2 == 0 ? -1 : 1);
      for (int64_t i = 0; i < grid.mx; ++i) {
        const int64_t column = x + i / 2;
        const int64_t near_column = column + (i % 2 == 0 ? -1 : 1);
        solution(j, i) += 0.5 * coarse(row, column) + 0.25 * (coarse(row, near_column) + coarse(near_row, column));
      }
    }
  }

  Grid grid;
  Field diagonal, west, up, right, solution, residual;
};

Multigrid::Multigrid(const Grid& grid) {
  Grid divided = grid;
  for (size_t level = 0; level < kDividedLevels; ++level) {
    divided_.push_back(std::make_unique<Level>(divided));
    divided = divided.coarser();
  }
  Grid whole = Grid::whole(divided.nx, divided.nz);
  whole_.push_back(std::make_unique<Level>(whole));
  while (whole.nx % 2 == 0 && whole.nz % 2 == 0) {
    whole = whole.coarser();
    whole_.push_back(std::make_unique<Level>(whole));
  }
  const std::array<int, 4> mine{static_cast<int>(divided.x0), static_cast<int>(divided.z0), static_cast<int>(divided.mx),
                                static_cast<int>(divided.mz)};
  const auto ranks = static_cast<size_t>(grid.rows) * static_cast<size_t>(grid.columns);
  blocks_.resize(ranks);
  MPI_Allgather(mine.data(), 4, MPI_INT, blocks_.data(), 4, MPI_INT, grid.comm);
  int place = 0;
  for (const auto& block : blocks_) {
    counts_.push_back(block[2] * block[3]);
    places_.push_back(place);
    place += counts_.back();
  }
}

Multigrid::~Multigrid() = default;

Field& Multigrid::diagonal() {
  return divided_.front()->diagonal;
}
Field& Multigrid::west() {
  return divided_.front()->west;
}
Field& Multigrid::up() {
  return divided_.front()->up;
}
Field& Multigrid::right_side() {
  return divided_.front()->right;
}
const Field& Multigrid::solution() const {
  return divided_.front()->solution;
}

void Multigrid::gather(const Grid& grid, const Field& blocks, Field& whole) const {
  std::vector<double> mine;
  for (int64_t j = 0; j < grid.mz; ++j) {
    for (int64_t i = 0; i < grid.mx; ++i) {
      mine.push_back(blocks(j, i));
    }
  }
  std::vector<double> all(static_cast<size_t>(grid.nx * grid.nz));
  MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, all.data(), counts_.data(), places_.data(), MPI_DOUBLE,
                 grid.comm);
  size_t next = 0;
  for (const auto& [x, z, wide, high] : blocks_) {
    for (int64_t j = 0; j < high; ++j) {
      for (int64_t i = 0; i < wide; ++i) {
        whole(z + j, x + i) = all[next++];
      }
    }
  }
}

// The coefficients of all levels follow from those of the first.
void Multigrid::coarsen() {
  for (size_t level = 0; level + 1 < divided_.size(); ++level) {
    divided_[level]->coarsen_into(*divided_[level + 1]);
  }
  Level gathered(divided_.back()->grid.coarser());
  divided_.back()->coarsen_into(gathered);
  Level& whole = *whole_.front();
  gather(gathered.grid, gathered.diagonal, whole.diagonal);
  gather(gathered.grid, gathered.west, whole.west);
  gather(gathered.grid, gathered.up, whole.up);
  exchange(whole.grid, {&whole.west});  // the last column is coupled with the first
  for (size_t level = 0; level + 1 < whole_.size(); ++level) {
    whole_[level]->coarsen_into(*whole_[level + 1]);
  }
}

void Multigrid::cycle_whole(size_t index) {
  Level& level = *whole_[index];
  level.solution.clear();
  if (index + 1 == whole_.size()) {
    level.smooth(kSweepsOnCoarsest);
    return;
  }
  level.smooth(kSweeps);
  level.find_residual();
  level.restrict_into(whole_[index + 1]->right, whole_[index + 1]->grid);
  cycle_whole(index + 1);
  exchange(whole_[index + 1]->grid, {&whole_[index + 1]->solution});
  level.add(whole_[index + 1]->solution, 0, 0);
  level.smooth(kSweeps);
}

void Multigrid::cycle(size_t index) {
  Level& level = *divided_[index];
  level.smooth(kSweeps);
  level.find_residual();
  if (index + 1 < divided_.size()) {
    Level& coarse = *divided_[index + 1];
    level.restrict_into(coarse.right, coarse.grid);
    coarse.solution.clear();
    cycle(index + 1);
    exchange(coarse.grid, {&coarse.solution});
    level.add(coarse.solution, 0, 0);
  } else {
    const Grid coarse = level.grid.coarser();
    Field right(coarse, 1);
    level.restrict_into(right, coarse);
    gather(coarse, right, whole_.front()->right);
    cycle_whole(0);
    exchange(whole_.front()->grid, {&whole_.front()->solution});
    level.add(whole_.front()->solution, coarse.z0, coarse.x0);
  }
  level.smooth(kSweeps);
}

int Multigrid::solve(double tolerance) {
  Level& fine = *divided_.front();
  coarsen();
  double largest = 0;
  for (int64_t j = 0; j < fine.grid.mz; ++j) {
    for (int64_t i = 0; i < fine.grid.mx; ++i) {
      largest = std::max(largest, std::abs(fine.right(j, i)));
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, fine.grid.comm);
  fine.solution.clear();
  for (int cycles = 0; cycles <= kMostCycles; ++cycles) {
    double left = fine.find_residual();
    MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_DOUBLE, MPI_MAX, fine.grid.comm);
    if (left <= tolerance * largest) {
      return cycles;
    }
    cycle(0);
  }
  throw Error(ErrorCode::kInternal, fmt::format("multigrid: {} cycles were not enough", kMostCycles));
}

}  // namespace stria::convection
