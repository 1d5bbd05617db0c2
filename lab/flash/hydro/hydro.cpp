#include "hydro/hydro.hpp"

#include <limits>

namespace stria::flash {
namespace {

std::array<double, 3> cell_sizes(const Mesh& mesh, const Leaf& leaf) {
  std::array<double, 3> size{};
  for (int d = 0; d < 3; ++d) {
    size[d] = block_length(mesh.domain(), leaf.level, d) / mesh.shape().cells[d];
  }
  return size;
}

// Adds a change of the conserved densities to a cell.
void add_to_cell(double* cell, double factor, const double* wanted, const double* own) {
  double density = cell[kDens] + factor * (wanted[0] - own[0]);
  for (int d = 0; d < 3; ++d) {
    cell[kVelx + d] = (cell[kDens] * cell[kVelx + d] + factor * (wanted[1 + d] - own[1 + d])) / density;
  }
  cell[kEner] = (cell[kDens] * cell[kEner] + factor * (wanted[4] - own[4])) / density;
  cell[kDens] = density;
}

}  // namespace

double Hydro::stable_time_step(const Mesh& mesh, double cfl) const {
  double rate = 0;
  for (int64_t b = 0; b < mesh.block_count(); ++b) {
    rate = std::max(rate, scheme_.signal_rate(mesh.block(b), cell_sizes(mesh, mesh.leaves()[b])));
  }
  double fastest = 0;
  MPI_Allreduce(&rate, &fastest, 1, MPI_DOUBLE, MPI_MAX, mesh.comm());
  return fastest > 0 ? cfl / fastest : std::numeric_limits<double>::infinity();
}

void Hydro::advance(Mesh* mesh, double dt) {
  for (int64_t b = 0; b < mesh->block_count(); ++b) {
    std::array<double*, 6> faces{};
    for (int face = 0; face < 2 * mesh->shape().dim; ++face) {
      faces[face] = mesh->fluxes().face_fluxes(static_cast<int32_t>(b), face);
    }
    scheme_.advance(mesh->block(b), cell_sizes(*mesh, mesh->leaves()[b]), dt, faces);
  }
  mesh->fluxes().exchange();
  correct_coarse_faces(mesh, dt);
  derive_interiors(mesh);
}

void Hydro::correct_coarse_faces(Mesh* mesh, double dt) const {
  const BlockShape& shape = mesh->shape();
  for (const auto& coarse : mesh->fluxes().coarse_faces()) {
    const int d = coarse.face / 2;
    const bool upper = coarse.face % 2 == 1;
    const double ratio = dt / cell_sizes(*mesh, mesh->leaves()[coarse.block])[d];
    auto [inner, outer] = FluxCorrection::face_dimensions(coarse.face);
    const double* own = mesh->fluxes().own_fluxes(coarse);
    const double* wanted = mesh->fluxes().fine_fluxes(coarse);
    std::array<int, 3> at{};
    at[d] = upper ? shape.cells[d] - 1 : 0;
    for (int b = 0; b < shape.cells[outer]; ++b) {
      for (int a = 0; a < shape.cells[inner]; ++a) {
        at[outer] = b;
        at[inner] = a;
        double* cell = mesh->block(coarse.block) + shape.offset(at[0], at[1], at[2]);
        add_to_cell(cell, upper ? -ratio : ratio, wanted, own);
        own += kFluxComponents;
        wanted += kFluxComponents;
      }
    }
  }
}

void Hydro::fill_guards(Mesh* mesh) const {
  mesh->fill_guards();
  apply_equation_of_state(gamma_, mesh->unk(), static_cast<long>(mesh->block_count() * mesh->shape().total_cells()));
}

void Hydro::derive_interiors(Mesh* mesh) const {
  const BlockShape& shape = mesh->shape();
  for (int64_t b = 0; b < mesh->block_count(); ++b) {
    for (int k = 0; k < shape.cells[2]; ++k) {
      for (int j = 0; j < shape.cells[1]; ++j) {
        apply_equation_of_state(gamma_, mesh->block(b) + shape.offset(0, j, k), shape.cells[0]);
      }
    }
  }
}

}  // namespace stria::flash
