// usage: program_end PATH RANK exit|finalize|abort|put|open: writes a file, but one rank ends its
// program before the commit. The others print what they heard, and after how many seconds. put,
// open: an uncaught error, of that rank only or of all.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "stria/file.hpp"

namespace {

void end(const std::string& way) {
  if (way == "exit") {
    std::exit(0);
  } else if (way == "abort") {
    MPI_Abort(MPI_COMM_WORLD, 3);
  } else {
    MPI_Finalize();
    std::exit(0);
  }
}

void commit(stria::File& file, int rank) {
  const auto begin = std::chrono::steady_clock::now();
  std::string text = "success";
  try {
    file.commit();
  } catch (const stria::Error& error) {
    text = error.what();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("rank %d heard after %.3f s: %s\n", rank, seconds.count(), text.c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  stria::File file = stria::File::create(MPI_COMM_WORLD, argv[1]);
  stria::Dataset dataset = file.create_dataset("dens", stria::ElementType::kFloat64, {ranks});
  const double number = rank;
  dataset.put({{rank}, {1}}, {&number, 1});
  file.flush();
  const std::string way = argv[3];
  if (way == "open") {
    stria::File::open(MPI_COMM_WORLD, std::string(argv[1]) + ".none");
  }
  if (rank == std::atoi(argv[2])) {
    way == "put" ? dataset.put({{ranks}, {1}}, {&number, 1}) : end(way);
  }
  commit(file, rank);
  MPI_Finalize();
  return 0;
}
