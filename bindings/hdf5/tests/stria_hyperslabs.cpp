// The same checkpoint as hyperslabs.cpp's by the library's own interface: one put for each variable
// out of the guarded memory, and a commit; one get for each, and a commit.
//
// usage: stria_hyperslabs FILE VARIABLES BLOCKS NXB ROUNDS [float]
//   As hdf5_hyperslabs.
#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "guarded_mesh.hpp"
#include "stria/file.hpp"

namespace {

/// Returns the interior of all blocks, of one variable.
stria::Memory interior_of(GuardedMesh& mesh, uint64_t variable) {
  const auto signed_of = [](uint64_t number) { return static_cast<int64_t>(number); };
  const int64_t width = signed_of(mesh.width());
  const int64_t guard = signed_of(kGuard);
  const int64_t n = signed_of(mesh.nxb);
  return stria::Memory::box(mesh.unk.data(), {signed_of(mesh.blocks), width, width, width, signed_of(mesh.variables)},
                            {0, guard, guard, guard, signed_of(variable)}, {signed_of(mesh.blocks), n, n, n, 1});
}

double transfer_all(GuardedMesh& mesh, const std::string& path, bool writes) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  const auto blocks = static_cast<int64_t>(mesh.blocks);
  const auto n = static_cast<int64_t>(mesh.nxb);
  const stria::Hyperslab slab{{blocks * rank, 0, 0, 0}, {blocks, n, n, n}};
  const stria::ElementType element = mesh.narrow ? stria::ElementType::kFloat32 : stria::ElementType::kFloat64;
  {
    stria::File file = writes ? stria::File::create(MPI_COMM_WORLD, path) : stria::File::open(MPI_COMM_WORLD, path);
    for (uint64_t variable = 0; variable < mesh.variables; ++variable) {
      const std::string name = "v" + std::to_string(variable);
      const stria::Memory memory = interior_of(mesh, variable);
      if (writes) {
        file.create_dataset(name, element, {blocks * rank_count, n, n, n}).put(slab, memory);
      } else {
        file.dataset(name).get(slab, memory);
      }
    }
    file.commit();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - begin;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  need(argc == 6 || (argc == 7 && std::strcmp(argv[6], "float") == 0),
       "usage: stria_hyperslabs FILE VARIABLES BLOCKS NXB ROUNDS [float]");
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  const bool is_narrow = argc == 7;
  const std::string path = argv[1];
  try {
    GuardedMesh mesh(number(2), number(3), number(4), is_narrow);
    run_rounds(mesh, path, number(5), is_narrow ? 4 : 8, [&](bool writes) { return transfer_all(mesh, path, writes); });
  } catch (const stria::Error& error) {
    need(false, error.what());
  }
  MPI_Finalize();
  return 0;
}
