#include "run/convection_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include "stria/status.hpp"

namespace stria::convection {

namespace {

const Layer& checked(const Layer& layer) {
  if (!(layer.aspect > 0 && layer.contrast > 0 && layer.index > 0 && layer.gamma > 1 && layer.conductivity > 0 &&
        layer.kick >= 0)) {
    throw Error(ErrorCode::kInvalidArgument,
                "convection: aspect, contrast, index and conductivity are positive, gamma is above 1, the kick is 0 or more");
  }
  return layer;
}

// Waves of several lengths that vanish at the walls, the same however the plane is divided.
double kick_at(const Layer& layer, double x, double depth) {
  double sum = 0;
  for (int wave = 1; wave <= 4; ++wave) {
    sum += std::sin(2 * std::numbers::pi * wave * x / layer.aspect + 1.7 * wave) / wave;
  }
  return layer.kick * std::sqrt(layer.gamma) * std::sin(std::numbers::pi * depth) * sum;
}

using Sums = std::array<double, 10>;

}  // namespace

ConvectionRun::ConvectionRun(const Grid& grid, const Layer& layer, double courant)
    : grid_(grid), layer_(checked(layer)), courant_(courant), gas_(grid_), dynamics_(grid_, layer_), diffusion_(grid_, layer_) {
  if (!(courant > 0 && courant <= 1)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("a Courant number is above 0 and at most 1, not {}", courant));
  }
  for (int64_t j = 0; j < grid_.mz; ++j) {
    const double depth = (static_cast<double>(grid_.z0 + j) + 0.5) / static_cast<double>(grid_.nz);
    for (int64_t i = 0; i < grid_.mx; ++i) {
      const double x = (static_cast<double>(grid_.x0 + i) + 0.5) * layer_.aspect / static_cast<double>(grid_.nx);
      const double density = layer_.density(depth);
      const double momentum = density * kick_at(layer_, x, depth);
      gas_.density(j, i) = density;
      gas_.momentum_z(j, i) = momentum;
      gas_.energy(j, i) = layer_.pressure(depth) / (layer_.gamma - 1) + 0.5 * momentum * momentum / density;
    }
  }
}

void ConvectionRun::step() {
  const double longest = dynamics_.longest_step(gas_);
  if (!(longest > 0)) {
    throw Error(ErrorCode::kInternal,
                fmt::format("step {}: a density or pressure is no longer positive; try a smaller --cfl", steps_));
  }
  dt_ = courant_ * longest;
  dynamics_.step(gas_, dt_, steps_ % 2 == 1);
  cycles_ = diffusion_.step(gas_, dt_);
  time_ += dt_;
  ++steps_;
}

double ConvectionRun::largest_mach() const {
  double largest = 0;
  for (int64_t j = 0; j < grid_.mz; ++j) {
    for (int64_t i = 0; i < grid_.mx; ++i) {
      const double speed = std::hypot(gas_.momentum_x(j, i), gas_.momentum_z(j, i)) / gas_.density(j, i);
      largest = std::max(largest, speed / std::sqrt(layer_.gamma * temperature(j, i)));
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, grid_.comm);
  return largest;
}

// Each unit of columns is summed by its rank, the units by the first rank of the row, in order.
std::vector<double> ConvectionRun::averages() const {
  const int64_t units = grid_.mx / kUnit;
  const size_t count = kAverages.size();
  std::vector<double> mine;
  for (int64_t unit = 0; unit < units; ++unit) {
    for (int64_t j = 0; j < grid_.mz; ++j) {
      Sums sums{};
      for (int64_t i = unit * kUnit; i < (unit + 1) * kUnit; ++i) {
        const double density = gas_.density(j, i);
        const double pressure = gas_.pressure(layer_.gamma, j, i);
        const double heat = pressure / density;
        const double x = gas_.momentum_x(j, i) / density;
        const double z = gas_.momentum_z(j, i) / density;
        const double enthalpy = layer_.gamma / (layer_.gamma - 1) * pressure;
        const Sums here{density,
                        pressure,
                        heat,
                        x,
                        z,
                        0.5 * density * (x * x + z * z),
                        z * enthalpy,
                        layer_.conductivity_at(heat),
                        std::log(pressure / std::pow(density, layer_.gamma)),
                        z * z};
        std::transform(sums.begin(), sums.end(), here.begin(), sums.begin(), std::plus<>());
      }
      mine.insert(mine.end(), sums.begin(), sums.end());
    }
  }
  MPI_Comm row = MPI_COMM_NULL;
  MPI_Comm_split(grid_.comm, grid_.row(), grid_.column(), &row);
  std::vector<int> counts(static_cast<size_t>(grid_.columns));
  std::vector<int> places(counts.size());
  const int length = static_cast<int>(mine.size());
  MPI_Allgather(&length, 1, MPI_INT, counts.data(), 1, MPI_INT, row);
  for (size_t i = 1; i < counts.size(); ++i) {
    places[i] = places[i - 1] + counts[i - 1];
  }
  const bool first = grid_.column() == 0;
  const size_t a_unit = static_cast<size_t>(grid_.mz) * count;
  std::vector<double> all(first ? a_unit * static_cast<size_t>(grid_.nx / kUnit) : 0);
  MPI_Gatherv(mine.data(), length, MPI_DOUBLE, all.data(), counts.data(), places.data(), MPI_DOUBLE, 0, row);
  MPI_Comm_free(&row);
  std::vector<double> means(first ? a_unit : 0, 0.0);
  for (size_t i = 0; i < all.size(); ++i) {
    means[i % a_unit] += all[i];
  }
  for (double& mean : means) {
    mean /= static_cast<double>(grid_.nx);
  }
  return means;
}

}  // namespace stria::convection
