// A checkpoint of AMR blocks with ghost cells: variables interleaved in memory, one dataset per
// variable in the file, nothing packed first.
//   mpiexec -n 4 ./checkpoint_cpp checkpoint.h5
#include <mpi.h>

#include <stria/file.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int64_t blocks = 20;  // the blocks of one rank
  const int64_t n = 8, ghosts = 4, wide = n + 2 * ghosts, variables = 2;
  std::vector<double> unk(static_cast<size_t>(blocks * wide * wide * wide * variables));
  for (size_t i = 0; i < unk.size(); ++i) {
    const auto block = static_cast<int64_t>(i) / (wide * wide * wide * variables);
    unk[i] = static_cast<double>(rank * blocks + block) + 0.1 * static_cast<double>(i % variables);
  }
  {
    stria::File file = stria::File::create(MPI_COMM_WORLD, argc > 1 ? argv[1] : "checkpoint.h5");
    for (int64_t v = 0; v < variables; ++v) {
      const auto cells = stria::Memory::box(unk.data(), {blocks, wide, wide, wide, variables}, {0, ghosts, ghosts, ghosts, v},
                                            {blocks, n, n, n, 1});
      stria::Dataset dataset = file.create_dataset<double>(v == 0 ? "dens" : "pres", {ranks * blocks, n, n, n});
      dataset.put({{rank * blocks, 0, 0, 0}, {blocks, n, n, n}}, cells);
    }
    file.set_attribute("/", "time", 0.25);
    file.commit();  // all variables travel as one write; only now does the file have its name
  }
  MPI_Finalize();
  return 0;
}
