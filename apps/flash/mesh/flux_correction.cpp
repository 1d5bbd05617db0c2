#include "mesh/flux_correction.hpp"

#include <algorithm>
#include <tuple>

namespace stria::flash {
namespace {
constexpr int kFluxesTag = 7103;
}

FluxCorrection::FluxCorrection(MPI_Comm comm, const BlockShape& shape, int component_count)
    : comm_(comm), shape_(shape), components_(component_count) {}

int64_t FluxCorrection::face_cells(int face) const {
  auto [inner, outer] = face_dimensions(face);
  return static_cast<int64_t>(shape_.cells[inner]) * shape_.cells[outer];
}

int64_t FluxCorrection::part_doubles(int face) const {
  return face_cells(face) / (1 << (shape_.dim - 1)) * components_;
}

double* FluxCorrection::face_fluxes(int32_t block, int face) {
  int64_t offset = offset_[block][face];
  return offset < 0 ? nullptr : fluxes_.data() + offset;
}

void FluxCorrection::rebuild(std::span<const Leaf> leaves, const NeighborTable& neighbors, const GhostLayer& ghosts,
                             int64_t first_block) {
  offset_.assign(neighbors.of.size(), {-1, -1, -1, -1, -1, -1});
  coarse_faces_.clear();
  local_parts_.clear();
  sends_.clear();
  receives_.clear();
  int64_t doubles = 0;
  int64_t fine_doubles = 0;
  for (std::size_t b = 0; b < neighbors.of.size(); ++b) {
    for (int face = 0; face < 2 * shape_.dim; ++face) {
      NeighborKind kind = neighbors.of[b][direction_number(face_direction(face))].kind;
      if (kind != NeighborKind::kCoarse && kind != NeighborKind::kFine) {
        continue;
      }
      offset_[b][face] = doubles;
      if (kind == NeighborKind::kFine) {
        coarse_faces_.push_back({static_cast<int32_t>(b), face, doubles, fine_doubles});
        fine_doubles += face_cells(face) * components_;
      }
      doubles += face_cells(face) * components_;
    }
  }
  fluxes_.assign(static_cast<std::size_t>(doubles), 0.0);
  fine_.assign(static_cast<std::size_t>(fine_doubles), 0.0);

  for (const CoarseFace& coarse : coarse_faces_) {
    const Neighbor& neighbor = neighbors.of[coarse.block][direction_number(face_direction(coarse.face))];
    for (int c = 0; c < (1 << (shape_.dim - 1)); ++c) {
      int32_t source = neighbors.fine_sources[neighbor.source + c];
      Part part{-1, first_block + source, coarse.face ^ 1, leaves[source].child_number(), 0, coarse.fine_offset};
      auto local_count = static_cast<int32_t>(neighbors.of.size());
      if (source < local_count) {
        part.own_offset = offset_[source][part.face];
        local_parts_.push_back(part);
      } else {
        part.peer = ghosts.owner[source - local_count];
        part.fine_block = ghosts.global_index[source - local_count];
        receives_.push_back(part);
      }
    }
  }
  for (std::size_t b = 0; b < neighbors.of.size(); ++b) {
    for (int face = 0; face < 2 * shape_.dim; ++face) {
      const Neighbor& neighbor = neighbors.of[b][direction_number(face_direction(face))];
      auto ghost = static_cast<std::size_t>(neighbor.source) - neighbors.of.size();
      if (neighbor.kind == NeighborKind::kCoarse && neighbor.source >= static_cast<int32_t>(neighbors.of.size())) {
        sends_.push_back(
            {ghosts.owner[ghost], first_block + static_cast<int64_t>(b), face, leaves[b].child_number(), offset_[b][face], 0});
      }
    }
  }
  auto order = [](const Part& a, const Part& b) {
    return std::tie(a.peer, a.fine_block, a.face) < std::tie(b.peer, b.fine_block, b.face);
  };
  std::sort(sends_.begin(), sends_.end(), order);
  std::sort(receives_.begin(), receives_.end(), order);
}

// Averages a fine face's fluxes to the coarse faces that it makes up. Shape of `out`:
// [outer/2][inner/2][components].
void FluxCorrection::average(const Part& part, double* out) const {
  auto [inner, outer] = face_dimensions(part.face);
  const int depth = shape_.cells[outer] > 1 ? 2 : 1;
  const int64_t row = static_cast<int64_t>(shape_.cells[inner]) * components_;
  const double share = 1.0 / (2 * depth);
  const double* own = fluxes_.data() + part.own_offset;
  for (int b = 0; b < shape_.cells[outer]; b += depth) {
    for (int a = 0; a < shape_.cells[inner]; a += 2) {
      const double* first = own + b * row + a * components_;
      for (int c = 0; c < components_; ++c) {
        double sum = first[c] + first[components_ + c];
        if (depth == 2) {
          sum += first[row + c] + first[row + components_ + c];
        }
        *out++ = sum * share;
      }
    }
  }
}

// Puts averaged fluxes into their part of the coarse face.
void FluxCorrection::place(const Part& part, const double* in) {
  auto [inner, outer] = face_dimensions(part.face);
  const bool deep = shape_.cells[outer] > 1;
  const int inner_cells = shape_.cells[inner] / 2;
  const int outer_cells = deep ? shape_.cells[outer] / 2 : 1;
  const int first_inner = (part.child_number >> inner & 1) * inner_cells;
  const int first_outer = deep ? (part.child_number >> outer & 1) * outer_cells : 0;
  for (int b = 0; b < outer_cells; ++b) {
    int64_t cell = static_cast<int64_t>(first_outer + b) * shape_.cells[inner] + first_inner;
    double* out = fine_.data() + part.coarse_offset + cell * components_;
    std::copy(in, in + static_cast<int64_t>(inner_cells) * components_, out);
    in += static_cast<int64_t>(inner_cells) * components_;
  }
}

void FluxCorrection::exchange() {
  std::vector<double> outgoing;
  std::vector<double> incoming;
  std::vector<MPI_Request> requests;
  // Calls body(rank, first double, number of doubles) for each rank's stretch of a list of parts.
  auto by_rank = [this](const std::vector<Part>& parts, auto&& body) {
    int64_t first = 0;
    int64_t end = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      end += part_doubles(parts[p].face);
      if (p + 1 == parts.size() || parts[p + 1].peer != parts[p].peer) {
        body(parts[p].peer, first, end - first);
        first = end;
      }
    }
  };
  by_rank(receives_, [&](int, int64_t first, int64_t doubles) { incoming.resize(static_cast<std::size_t>(first + doubles)); });
  by_rank(receives_, [&](int rank, int64_t first, int64_t doubles) {
    requests.emplace_back();
    MPI_Irecv(incoming.data() + first, static_cast<int>(doubles), MPI_DOUBLE, rank, kFluxesTag, comm_, &requests.back());
  });
  by_rank(sends_, [&](int, int64_t first, int64_t doubles) { outgoing.resize(static_cast<std::size_t>(first + doubles)); });
  double* out = outgoing.data();
  for (const Part& part : sends_) {
    average(part, out);
    out += part_doubles(part.face);
  }
  by_rank(sends_, [&](int rank, int64_t first, int64_t doubles) {
    requests.emplace_back();
    MPI_Isend(outgoing.data() + first, static_cast<int>(doubles), MPI_DOUBLE, rank, kFluxesTag, comm_, &requests.back());
  });
  std::vector<double> averaged;
  for (const Part& part : local_parts_) {
    averaged.resize(static_cast<std::size_t>(part_doubles(part.face)));
    average(part, averaged.data());
    place(part, averaged.data());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  const double* in = incoming.data();
  for (const Part& part : receives_) {
    place(part, in);
    in += part_doubles(part.face);
  }
}

}  // namespace stria::flash
