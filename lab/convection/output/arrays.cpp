// The arrays that all ways of output share.
#include <fmt/format.h>

#include <algorithm>

#include "output/output.hpp"

namespace stria::convection {

namespace {

// Holds speeds with a layer of ghosts; behind walls they are those before them.
struct Speeds {
  explicit Speeds(const ConvectionRun& run) : x(run.grid(), 1), z(run.grid(), 1) {
    const Grid& grid = run.grid();
    for (int64_t j = 0; j < grid.mz; ++j) {
      for (int64_t i = 0; i < grid.mx; ++i) {
        x(j, i) = run.gas().momentum_x(j, i) / run.gas().density(j, i);
        z(j, i) = run.gas().momentum_z(j, i) / run.gas().density(j, i);
      }
    }
    exchange(grid, {&x, &z});
    for (int64_t i = 0; i < grid.mx; ++i) {
      if (grid.at_top()) {
        x(-1, i) = x(0, i);
      }
      if (grid.at_bottom()) {
        x(grid.mz, i) = x(grid.mz - 1, i);
      }
    }
  }
  Field x, z;
};

double warmth(const ConvectionRun& run, int64_t j, int64_t i) {
  const Grid& grid = run.grid();
  const double depth = (static_cast<double>(grid.z0 + j) + 0.5) / static_cast<double>(grid.nz);
  return run.temperature(j, i) / run.layer().temperature(depth) - 1;
}

template <typename T, typename Convert>
std::vector<T> frame(const ConvectionRun& run, Convert convert) {
  std::vector<T> cells;
  for (int64_t j = 0; j < run.grid().mz; ++j) {
    for (int64_t i = 0; i < run.grid().mx; ++i) {
      cells.push_back(convert(warmth(run, j, i)));
    }
  }
  return cells;
}

}  // namespace

std::vector<NamedField> analysis_arrays(const ConvectionRun& run) {
  const Grid& grid = run.grid();
  Speeds speeds(run);
  const double dx = run.layer().aspect / static_cast<double>(grid.nx);
  const double dz = 1.0 / static_cast<double>(grid.nz);
  std::vector<NamedField> arrays;
  for (const char* name : {"density", "pressure", "temperature", "speed_x", "speed_z", "vorticity"}) {
    arrays.push_back({name, Field(grid, 0)});
  }
  for (int64_t j = 0; j < grid.mz; ++j) {
    for (int64_t i = 0; i < grid.mx; ++i) {
      arrays[0].field(j, i) = run.gas().density(j, i);
      arrays[1].field(j, i) = run.gas().pressure(run.layer().gamma, j, i);
      arrays[2].field(j, i) = run.temperature(j, i);
      arrays[3].field(j, i) = speeds.x(j, i);
      arrays[4].field(j, i) = speeds.z(j, i);
      arrays[5].field(j, i) =
          0.5 * ((speeds.x(j + 1, i) - speeds.x(j - 1, i)) / dz - (speeds.z(j, i + 1) - speeds.z(j, i - 1)) / dx);
    }
  }
  return arrays;
}

std::vector<uint8_t> movie_bytes(const ConvectionRun& run) {
  return frame<uint8_t>(run, [](double value) { return static_cast<uint8_t>(std::clamp(127.5 + 510 * value, 0.0, 255.0)); });
}

std::vector<float> movie_floats(const ConvectionRun& run) {
  return frame<float>(run, [](double value) { return static_cast<float>(value); });
}

ArrayPart part_of(const Grid& grid, int64_t ghosts) {
  return {.shape = {grid.nz, grid.nx},
          .start = {grid.z0, grid.x0},
          .count = {grid.mz, grid.mx},
          .ghosts_before = {ghosts, ghosts},
          .ghosts_after = {ghosts, ghosts}};
}

std::string output_path(const OutputOptions& options, const char* kind, int64_t step, const char* extension) {
  return fmt::format("{}/{}{}_{:06}{}", options.directory, options.base, kind, step, extension);
}

}  // namespace stria::convection
