// A compressed dataset: chunks that are shuffled and deflated, which every HDF5 reads. Ranks put
// what they have; it needn't fit the chunks.
//   mpiexec -n 4 ./compressed_cpp compressed.h5
#include <mpi.h>

#include <cstdio>
#include <stria/file.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int64_t mine = 64, columns = 256;  // rows of one rank
  std::vector<float> temperature(static_cast<size_t>(mine * columns));
  for (int64_t i = 0; i < mine * columns; ++i) {
    const int64_t row = rank * mine + i / columns, column = i % columns;
    temperature[static_cast<size_t>(i)] = 300 + 0.25F * static_cast<float>((row + column) / 8);
  }
  {
    stria::File file = stria::File::create(MPI_COMM_WORLD, argc > 1 ? argv[1] : "compressed.h5");
    stria::DatasetOptions options;
    options.chunk = {50, 100};  // left out: whole rows, about a megabyte of them
    options.filters = stria::Filters::compress();
    file.create_dataset<float>("temperature", {ranks * mine, columns}, options)
        .put({{rank * mine, 0}, {mine, columns}}, temperature);
    file.commit();
    const stria::Report& report = file.report();
    if (rank == 0) {
      std::printf("%lld bytes of numbers, a file of %lld\n", static_cast<long long>(report.useful_bytes),
                  static_cast<long long>(report.file_bytes));
    }
  }
  MPI_Finalize();
  return 0;
}
