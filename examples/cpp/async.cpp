// Commits in the background: a snapshot after every step is written while the next step computes.
//   mpiexec -n 4 ./async_cpp snapshot    writes snapshot_0.h5, snapshot_1.h5, snapshot_2.h5
#include <mpi.h>

#include <stria/file.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string base = argc > 1 ? argv[1] : "snapshot";
  const int64_t cells = 1000;  // the cells of one rank
  std::vector<double> field(cells, rank);
  {
    stria::Commit previous;  // An empty commit counts as one that has ended well.
    for (int step = 0; step < 3; ++step) {
      for (double& value : field) {  // the computation: the snapshot before may still be on its way
        value += 0.5;
      }
      previous.wait();  // throws what went wrong, the same on every rank
      stria::File file = stria::File::create(MPI_COMM_WORLD, base + "_" + std::to_string(step) + ".h5");
      file.create_dataset<double>("field", {ranks * cells}).put({{rank * cells}, {cells}}, field);
      file.set_attribute("/", "step", step);
      previous = file.commit_async();  // returns once all is packed: field may change then
    }
    previous.wait();
  }
  MPI_Finalize();
  return 0;
}
