#include "sedov/problem.hpp"

#include <algorithm>
#include <cmath>

#include "hydro/euler.hpp"

namespace stria::flash {
namespace {

constexpr int kSamples = 8;  // along each side of a cell

// The ball of the explosion, and how much of a cell lies in it.
class Ball {
 public:
  Ball(const SedovProblem& problem, const Mesh& mesh) : domain_(mesh.domain()), shape_(mesh.shape()) {
    const Leaf finest{mesh.options().max_level, {}};
    double smallest = domain_.hi[0] - domain_.lo[0];
    for (int d = 0; d < domain_.dim; ++d) {
      center_[d] = 0.5 * (domain_.lo[d] + domain_.hi[d]);
      finest_cell_[d] = block_length(domain_, finest.level, d) / shape_.cells[d];
      smallest = std::min(smallest, finest_cell_[d]);
    }
    radius_ = problem.radius_cells * smallest;
  }

  // Returns how much of the cell with this centre and size lies in the ball, by sampling.
  double share(const std::array<double, 3>& cell, const std::array<double, 3>& size) const {
    std::array<int, 3> samples{kSamples, kSamples, domain_.dim == 3 ? kSamples : 1};
    int inside = 0;
    for_each_cell({{0, 0, 0}, samples}, [&](int i, int j, int k) {
      const std::array<int, 3> sample{i, j, k};
      double squared = 0;
      for (int d = 0; d < domain_.dim; ++d) {
        double x = cell[d] + ((sample[d] + 0.5) / kSamples - 0.5) * size[d] - center_[d];
        squared += x * x;
      }
      inside += squared < radius_ * radius_ ? 1 : 0;
    });
    return static_cast<double>(inside) / (samples[0] * samples[1] * samples[2]);
  }

  // Returns the volume of the ball as the finest cells around the centre see it.
  double sampled_volume() const {
    CellBox box;
    std::array<int64_t, 3> first{};
    double cell_volume = 1;
    for (int d = 0; d < domain_.dim; ++d) {
      auto reach = static_cast<int>(std::ceil(radius_ / finest_cell_[d])) + 1;
      first[d] = static_cast<int64_t>((center_[d] - domain_.lo[d]) / finest_cell_[d]) - reach;
      box.hi[d] = 2 * reach + 1;
      cell_volume *= finest_cell_[d];
    }
    double sum = 0;
    for_each_cell(box, [&](int i, int j, int k) {
      const std::array<int, 3> step{i, j, k};
      std::array<double, 3> cell{};
      for (int d = 0; d < domain_.dim; ++d) {
        cell[d] = domain_.lo[d] + (static_cast<double>(first[d] + step[d]) + 0.5) * finest_cell_[d];
      }
      sum += share(cell, finest_cell_);
    });
    return sum * cell_volume;
  }

  bool touches(const Leaf& leaf) const {
    double squared = 0;
    for (int d = 0; d < domain_.dim; ++d) {
      double nearest = std::clamp(center_[d], block_side(domain_, leaf, d, 0), block_side(domain_, leaf, d, 1));
      squared += (nearest - center_[d]) * (nearest - center_[d]);
    }
    return squared <= radius_ * radius_;
  }

 private:
  const Domain& domain_;
  BlockShape shape_;
  std::array<double, 3> center_{};
  std::array<double, 3> finest_cell_{1, 1, 1};
  double radius_ = 0;
};

}  // namespace

bool holds_explosion(const SedovProblem& problem, const Mesh& mesh, const Leaf& leaf) {
  return Ball(problem, mesh).touches(leaf);
}

void set_initial_state(const SedovProblem& problem, Mesh* mesh) {
  const BlockShape& shape = mesh->shape();
  const Domain& domain = mesh->domain();
  const Ball ball(problem, *mesh);
  double volume = ball.sampled_volume();
  for (int d = domain.dim; d < 3; ++d) {
    volume *= domain.hi[d] - domain.lo[d];
  }
  const double ambient = problem.ambient_pressure / (problem.gamma - 1) / problem.ambient_density;
  const double explosion = problem.energy / volume / problem.ambient_density;
  for (int64_t b = 0; b < mesh->block_count(); ++b) {
    const Leaf& leaf = mesh->leaves()[b];
    const bool hot = ball.touches(leaf);
    double* block = mesh->block(b);
    for_each_cell(shape.interior(), [&](int i, int j, int k) {
      const std::array<int, 3> at{i, j, k};
      std::array<double, 3> center{};
      std::array<double, 3> size{};
      for (int d = 0; d < 3; ++d) {
        center[d] = cell_center(domain, leaf, d, at[d], shape.cells[d]);
        size[d] = block_length(domain, leaf.level, d) / shape.cells[d];
      }
      double* cell = block + shape.offset(i, j, k);
      cell[kDens] = problem.ambient_density;
      cell[kVelx] = cell[kVely] = cell[kVelz] = 0;
      cell[kEner] = ambient + (hot ? explosion * ball.share(center, size) : 0.0);
    });
  }
}

}  // namespace stria::flash
