// Makes meshes for tests, with many refinement jumps, the same for every number of ranks.
#pragma once

#include <gtest/gtest.h>

#include "mesh/mesh.hpp"

namespace stria::flash {

/// Draws a mark from the place of a leaf and the round alone.
inline Mark random_mark(const Leaf& leaf, unsigned round) {
  uint64_t draw = LeafHash{}(leaf) + round * 0x9e3779b97f4a7c15ULL;
  draw = (draw ^ draw >> 30) * 0xbf58476d1ce4e5b9ULL;
  draw = (draw ^ draw >> 27) * 0x94d049bb133111ebULL;
  draw = (draw ^ draw >> 31) % 12;
  return draw < 3 ? Mark::kRefine : draw < 6 ? Mark::kKeep : Mark::kCoarsen;
}

/// Refines and coarsens at random. Collective: yes.
inline void adapt_randomly(Mesh* mesh, unsigned round) {
  std::vector<Mark> marks;
  for (const Leaf& leaf : mesh->leaves()) {
    marks.push_back(random_mark(leaf, round));
  }
  mesh->fill_guards();
  ASSERT_TRUE(mesh->adapt(marks).ok());
}

/// Makes a mesh after a few rounds. Collective: yes.
inline std::unique_ptr<Mesh> random_mesh(MPI_Comm comm, const MeshOptions& options, unsigned seed) {
  auto mesh = Mesh::create(comm, options).value();
  for (unsigned round = seed; round < seed + 4; ++round) {
    adapt_randomly(mesh.get(), round);
  }
  return mesh;
}

/// Returns options with levels 1 to 4, in 3-D 1 to 3 (0-based), and the same boundary on all sides.
inline MeshOptions options_for(int dim, Boundary boundary, VariableSet variables) {
  MeshOptions options;
  options.domain.dim = dim;
  options.domain.boundary = {boundary, boundary, boundary};
  options.min_level = 1;
  options.max_level = dim == 2 ? 4 : 3;
  options.variables = std::move(variables);
  options.flux_count = 5;
  return options;
}

}  // namespace stria::flash
