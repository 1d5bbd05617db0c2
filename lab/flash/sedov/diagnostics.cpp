#include "sedov/diagnostics.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cmath>

#include "hydro/euler.hpp"

namespace stria::flash {
namespace {

// Brings one value per block to every rank, in Morton order.
template <typename T>
std::vector<T> gather_blocks(const Mesh& mesh, const std::vector<T>& mine) {
  int ranks = 0;
  MPI_Comm_size(mesh.comm(), &ranks);
  std::vector<int> counts;
  std::vector<int> offsets;
  for (int r = 0; r < ranks; ++r) {
    offsets.push_back(static_cast<int>(mesh.first_blocks()[r]));
    counts.push_back(static_cast<int>(mesh.first_blocks()[r + 1] - mesh.first_blocks()[r]));
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(sizeof(T), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  std::vector<T> all(static_cast<std::size_t>(mesh.global_block_count()));
  MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), type, all.data(), counts.data(), offsets.data(), type,
                 mesh.comm());
  MPI_Type_free(&type);
  return all;
}

// A sum that keeps what each addition rounds away (Neumaier).
class PreciseSum {
 public:
  void add(double x) {
    double next = sum_ + x;
    rest_ += std::abs(sum_) >= std::abs(x) ? (sum_ - next) + x : (x - next) + sum_;
    sum_ = next;
  }
  double value() const { return sum_ + rest_; }

 private:
  double sum_ = 0;
  double rest_ = 0;
};

double cell_volume(const Mesh& mesh, const Leaf& leaf) {
  double volume = 1;
  for (int d = 0; d < 3; ++d) {
    volume *= block_length(mesh.domain(), leaf.level, d) / mesh.shape().cells[d];
  }
  return volume;
}

Totals block_totals(const Mesh& mesh, int64_t b) {
  PreciseSum mass;
  PreciseSum energy;
  for_each_cell(mesh.shape().interior(), [&](int i, int j, int k) {
    const double* cell = mesh.block(b) + mesh.shape().offset(i, j, k);
    mass.add(cell[kDens]);
    energy.add(cell[kDens] * cell[kEner]);
  });
  double volume = cell_volume(mesh, mesh.leaves()[b]);
  return {mass.value() * volume, energy.value() * volume};
}

double center_distance(const Mesh& mesh, const Leaf& leaf, const std::array<int, 3>& at) {
  double squared = 0;
  for (int d = 0; d < mesh.domain().dim; ++d) {
    double x = cell_center(mesh.domain(), leaf, d, at[d], mesh.shape().cells[d]);
    double offset = x - 0.5 * (mesh.domain().lo[d] + mesh.domain().hi[d]);
    squared += offset * offset;
  }
  return std::sqrt(squared);
}

}  // namespace

Totals compute_totals(const Mesh& mesh) {
  std::vector<Totals> mine;
  for (int64_t b = 0; b < mesh.block_count(); ++b) {
    mine.push_back(block_totals(mesh, b));
  }
  PreciseSum mass;
  PreciseSum energy;
  for (const Totals& block : gather_blocks(mesh, mine)) {
    mass.add(block.mass);
    energy.add(block.energy);
  }
  return {mass.value(), energy.value()};
}

uint64_t state_hash(const Mesh& mesh) {
  const BlockShape& shape = mesh.shape();
  std::vector<uint64_t> mine;
  for (int64_t b = 0; b < mesh.block_count(); ++b) {
    const Leaf& leaf = mesh.leaves()[b];
    const int64_t place[4] = {leaf.level, leaf.index[0], leaf.index[1], leaf.index[2]};
    uint64_t hash = XXH3_64bits(place, sizeof place);
    for (int k = 0; k < shape.cells[2]; ++k) {
      for (int j = 0; j < shape.cells[1]; ++j) {
        std::size_t row_bytes = sizeof(double) * static_cast<std::size_t>(shape.cells[0] * shape.variable_count);
        hash = XXH3_64bits_withSeed(mesh.block(b) + shape.offset(0, j, k), row_bytes, hash);
      }
    }
    mine.push_back(hash);
  }
  std::vector<uint64_t> all = gather_blocks(mesh, mine);
  return XXH3_64bits(all.data(), all.size() * sizeof(uint64_t));
}

RadialProfile density_profile(const Mesh& mesh) {
  const Domain& domain = mesh.domain();
  RadialProfile profile;
  profile.shell_width = block_length(domain, mesh.options().max_level, 0) / mesh.shape().cells[0];
  double reach = 0;
  double domain_volume = 1;
  for (int d = 0; d < 3; ++d) {
    double length = domain.hi[d] - domain.lo[d];
    reach += d < domain.dim ? 0.25 * length * length : 0;
    domain_volume *= length;
  }
  const auto shells = static_cast<std::size_t>(std::sqrt(reach) / profile.shell_width) + 1;
  // Whole numbers of tiny units add up to the same sum in any order; 2^-50 of the domain at density
  // 1 is one unit.
  const double unit = domain_volume * 0x1p-50;
  std::vector<int64_t> mine(2 * shells);
  for (int64_t b = 0; b < mesh.block_count(); ++b) {
    const Leaf& leaf = mesh.leaves()[b];
    const double volume = cell_volume(mesh, leaf);
    for_each_cell(mesh.shape().interior(), [&](int i, int j, int k) {
      auto shell = static_cast<std::size_t>(center_distance(mesh, leaf, {i, j, k}) / profile.shell_width);
      shell = std::min(shell, shells - 1);
      double density = mesh.block(b)[mesh.shape().offset(i, j, k) + kDens];
      mine[2 * shell] += std::llround(density * volume / unit);
      mine[2 * shell + 1] += std::llround(volume / unit);
    });
  }
  std::vector<int64_t> sums(mine.size());
  MPI_Allreduce(mine.data(), sums.data(), static_cast<int>(mine.size()), MPI_INT64_T, MPI_SUM, mesh.comm());
  for (std::size_t s = 0; s < shells; ++s) {
    bool empty = sums[2 * s + 1] == 0;
    profile.density.push_back(empty ? -1.0 : static_cast<double>(sums[2 * s]) / static_cast<double>(sums[2 * s + 1]));
  }
  return profile;
}

double numerical_shock_radius(const Mesh& mesh) {
  const RadialProfile profile = density_profile(mesh);
  std::vector<double> radii;
  std::vector<double> densities;
  for (std::size_t s = 0; s < profile.density.size(); ++s) {
    if (profile.density[s] >= 0) {
      radii.push_back((static_cast<double>(s) + 0.5) * profile.shell_width);
      densities.push_back(profile.density[s]);
    }
  }
  // The fall of the density across each gap between shells, at the gap's middle.
  std::vector<double> fall;
  for (std::size_t s = 0; s + 1 < radii.size(); ++s) {
    fall.push_back((densities[s] - densities[s + 1]) / (radii[s + 1] - radii[s]));
  }
  const auto steepest = static_cast<std::size_t>(std::max_element(fall.begin(), fall.end()) - fall.begin());
  if (steepest == 0 || steepest + 1 >= fall.size() || fall[steepest] <= 0) {
    return 0;
  }
  // The top of the parabola through the steepest gap and its neighbours.
  const double below = fall[steepest - 1];
  const double above = fall[steepest + 1];
  const double shift = 0.5 * (below - above) / (below - 2 * fall[steepest] + above);
  return 0.5 * (radii[steepest] + radii[steepest + 1]) + shift * profile.shell_width;
}

}  // namespace stria::flash
