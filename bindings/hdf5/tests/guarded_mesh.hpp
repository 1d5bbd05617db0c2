// Memory as FLASH's: unk(block, k, j, i, variable) with guard cells around each block; and rounds
// of writing it and reading it back, each of which checks every value and guard cell that was read.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

inline constexpr uint64_t kGuard = 4;
inline constexpr double kUntouched = -7;

inline int rank = 0;
inline int rank_count = 1;

inline void need(bool condition, const char* what) {
  if (!condition) {
    std::fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

struct GuardedMesh {
  uint64_t variables = 0, blocks = 0, nxb = 0;
  bool narrow = false;  // all values are floats
  std::vector<double> unk;

  GuardedMesh() = default;
  GuardedMesh(uint64_t variable_count, uint64_t block_count, uint64_t cells_along, bool is_narrow)
      : variables(variable_count), blocks(block_count), nxb(cells_along), narrow(is_narrow), unk(place(blocks, 0, 0, 0, 0)) {}

  uint64_t width() const { return nxb + 2 * kGuard; }
  uint64_t cells() const { return blocks * nxb * nxb * nxb; }
  size_t place(uint64_t block, uint64_t z, uint64_t y, uint64_t x, uint64_t variable) const {
    return (((block * width() + z) * width() + y) * width() + x) * variables + variable;
  }
  bool is_interior(uint64_t z, uint64_t y, uint64_t x) const {
    const auto inside = [&](uint64_t at) { return at >= kGuard && at < kGuard + nxb; };
    return inside(z) && inside(y) && inside(x);
  }
  template <typename Visit>
  void for_each_interior(uint64_t variable, Visit&& visit) const {
    for (uint64_t block = 0; block < blocks; ++block) {
      for (uint64_t z = kGuard; z < kGuard + nxb; ++z) {
        for (uint64_t y = kGuard; y < kGuard + nxb; ++y) {
          for (uint64_t x = kGuard; x < kGuard + nxb; ++x) {
            visit(place(block, z, y, x, variable));
          }
        }
      }
    }
  }

  double value(size_t at) const {
    const double exact = static_cast<double>(at) * 1e-3 + rank;
    return narrow ? static_cast<double>(static_cast<float>(exact)) : exact;
  }
  void fill() {
    for (size_t i = 0; i < unk.size(); ++i) {
      unk[i] = value(i);
    }
  }
  void check() const {
    for (uint64_t block = 0; block < blocks; ++block) {
      for (uint64_t z = 0; z < width(); ++z) {
        for (uint64_t y = 0; y < width(); ++y) {
          for (uint64_t x = 0; x < width(); ++x) {
            const size_t first = place(block, z, y, x, 0);
            const bool inside = is_interior(z, y, x);
            for (size_t i = first; i < first + variables; ++i) {
              need(unk[i] == (inside ? value(i) : kUntouched), "another value was read");
            }
          }
        }
      }
    }
  }
};

/// `transfer_all`(writes) moves all variables and returns its seconds. Prints those of the fastest
/// of so many rounds.
template <typename Transfer>
void run_rounds(GuardedMesh& mesh, const std::string& path, unsigned long long rounds, double element_bytes,
                Transfer&& transfer_all) {
  double writing = 1e9;
  double reading = 1e9;
  for (unsigned long long round = 0; round < rounds; ++round) {
    if (rank == 0) {
      std::remove(path.c_str());
    }
    mesh.fill();
    writing = std::min(writing, transfer_all(true));
    std::fill(mesh.unk.begin(), mesh.unk.end(), kUntouched);
    reading = std::min(reading, transfer_all(false));
    mesh.check();
  }
  const double megabytes = static_cast<double>(mesh.cells() * mesh.variables) * element_bytes * 1e-6 * rank_count;
  if (rank == 0) {
    std::printf("{\"megabytes\": %.3f, \"write_seconds\": %.6f, \"read_seconds\": %.6f}\n", megabytes, writing, reading);
  }
}
