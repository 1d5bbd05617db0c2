// The Euler equations on the whole adaptive mesh.
#pragma once

#include "hydro/muscl_hancock.hpp"
#include "mesh/mesh.hpp"

namespace stria::flash {

class Hydro {
 public:
  Hydro(const BlockShape& shape, double gamma) : gamma_(gamma), scheme_(shape, gamma) {}

  /// Returns the longest stable time step at Courant number `cfl`; infinite on a mesh without
  /// motion or sound. Collective: yes; the same bits on every rank and for every number of ranks.
  double stable_time_step(const Mesh& mesh, double cfl) const;

  /// Advances the interiors of all blocks by dt, and makes the fluxes at refinement jumps agree.
  /// The caller has filled the mesh's guard cells; dependent variables aren't read. Collective:
  /// yes.
  void advance(Mesh* mesh, double dt);

  /// Fills all guard cells and derives the dependent variables everywhere. Collective: yes.
  void fill_guards(Mesh* mesh) const;

  /// Derives the dependent variables of all interior cells from density, velocity and total energy.
  void derive_interiors(Mesh* mesh) const;

 private:
  void correct_coarse_faces(Mesh* mesh, double dt) const;

  double gamma_;
  MusclHancock scheme_;
};

}  // namespace stria::flash
