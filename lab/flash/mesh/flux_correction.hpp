// Conservation where the refinement jumps: the flux through a coarse face becomes the sum of the
// fluxes through the fine ones.
//
// Problem: the coarse and the fine side of a face compute different fluxes, so that what leaves one
// does not enter the other.
// Method: Berger & Colella (J. Comput. Phys. 82, 1989). Every block keeps its fluxes at faces where
// the level jumps. The fine side averages its own to the coarse faces and hands them to the coarse
// side, which corrects its outermost cells by the difference.
// Cost: the faces at jumps, and one message per pair of neighbouring ranks.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "mesh/block_shape.hpp"
#include "mesh/forest.hpp"
#include "mesh/neighbors.hpp"

namespace stria::flash {

class FluxCorrection {
 public:
  /// A face of a local block whose neighbours are finer: its corrections are applied
  /// by the physics.
  struct CoarseFace {
    int32_t block = 0;
    int face = 0;             ///< 2*dimension + side
    int64_t own_offset = 0;   ///< in `fluxes_`
    int64_t fine_offset = 0;  ///< in `fine_`
  };

  FluxCorrection(MPI_Comm comm, const BlockShape& shape, int component_count);

  /// Finds the faces with jumps in a new mesh. \param leaves local leaves, then ghosts
  void rebuild(std::span<const Leaf> leaves, const NeighborTable& neighbors, const GhostLayer& ghosts, int64_t first_block);

  /// Returns where to store the fluxes of a face, or null when they aren't needed. Shape:
  /// [outer][inner][components] cells of the face, `inner` being the lower of the face's own
  /// dimensions.
  double* face_fluxes(int32_t block, int face);

  /// Brings the fine sides' sums to the coarse sides. Collective: yes.
  void exchange();

  const std::vector<CoarseFace>& coarse_faces() const { return coarse_faces_; }
  /// Returns the block's own fluxes and the right ones, at a face of coarse_faces(). Shape as in
  /// face_fluxes.
  const double* own_fluxes(const CoarseFace& face) const { return fluxes_.data() + face.own_offset; }
  const double* fine_fluxes(const CoarseFace& face) const { return fine_.data() + face.fine_offset; }

  /// Returns the face's own dimensions, the lower one first; the second one is flat in 2-D.
  static std::array<int, 2> face_dimensions(int face) {
    int d = face / 2;
    return {d == 0 ? 1 : 0, d == 2 ? 1 : 2};
  }

 private:
  // One fine face and the coarse face that it is part of, on the same rank (`peer` < 0)
  // or on another.
  struct Part {
    int peer = -1;              // rank
    int64_t fine_block = 0;     // number in the order of all leaves
    int face = 0;               // the face of the fine block
    int child_number = 0;       // number of the fine block: where its part of the coarse face lies
    int64_t own_offset = 0;     // the offset of the fine block's fluxes, when that is here
    int64_t coarse_offset = 0;  // the offset of the coarse face's sums, when that is here
  };

  void average(const Part& part, double* out) const;
  void place(const Part& part, const double* in);
  int64_t face_cells(int face) const;
  int64_t part_doubles(int face) const;

  MPI_Comm comm_;
  BlockShape shape_;
  int components_;
  std::vector<std::array<int64_t, 6>> offset_;  // [blocks][faces] in fluxes_, -1 for none
  std::vector<double> fluxes_;
  std::vector<double> fine_;
  std::vector<CoarseFace> coarse_faces_;
  std::vector<Part> local_parts_;
  std::vector<Part> sends_;     // by rank, then fine block, then face
  std::vector<Part> receives_;  // those that this rank receives
};

}  // namespace stria::flash
