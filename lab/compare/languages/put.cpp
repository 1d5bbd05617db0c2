// Measures what a put costs, and a FLASH checkpoint: the program in C++, with which those in the
// other languages are compared. They print the seconds of each round.
//   put calls ROUNDS COUNT PATH        puts of one block of 8^3 cells with guard cells
//   put checkpoint ROUNDS BLOCKS PATH  24 variables interleaved in memory, blocks of 16^3 a rank
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <stria/file.hpp>
#include <string>
#include <vector>

namespace {

constexpr int64_t kGuard = 4, kVariables = 24;

stria::Datatype interior(int64_t blocks, int64_t n) {
  const int64_t wide = n + 2 * kGuard;
  const int64_t sizes[] = {blocks, wide, wide, wide, kVariables}, cells[] = {blocks, n, n, n, 1};
  const int64_t starts[] = {0, kGuard, kGuard, kGuard, 0};
  return stria::Datatype::subarray(sizes, cells, starts, stria::Order::kC, stria::Datatype::bytes(8)).value();
}

stria::File create(const std::string& path) {
  stria::CreateOptions options;
  options.sync = false;
  return stria::File::create(MPI_COMM_WORLD, path, options);
}

double calls(int64_t count, const std::string& path) {
  const int64_t n = 8;
  const stria::Datatype cells = interior(1, n);
  const std::vector<double> unk(static_cast<size_t>((n + 2 * kGuard) * (n + 2 * kGuard) * (n + 2 * kGuard) * kVariables), 1.0);
  stria::File file = create(path);
  auto dataset = file.create_dataset("dens", stria::ElementType::kFloat64, {count, n, n, n});
  const double begin = MPI_Wtime();
  for (int64_t i = 0; i < count; ++i) {
    dataset.put({{i, 0, 0, 0}, {1, n, n, n}}, {unk.data(), cells, stria::ElementType::kFloat64});
  }
  const double seconds = MPI_Wtime() - begin;
  file.abandon();
  return seconds;
}

double checkpoint(int64_t blocks, const std::vector<double>& unk, const std::string& path) {
  const int64_t n = 16;
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  const stria::Datatype cells = interior(blocks, n);
  stria::File file = create(path);
  for (int64_t v = 0; v < kVariables; ++v) {
    auto dataset = file.create_dataset("v" + std::to_string(v + 1), stria::ElementType::kFloat64, {ranks * blocks, n, n, n});
    dataset.put({{rank * blocks, 0, 0, 0}, {blocks, n, n, n}}, {unk.data() + v, cells, stria::ElementType::kFloat64});
  }
  file.commit();
  return MPI_Wtime() - begin;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 5) {
    std::fprintf(stderr, "usage: %s calls|checkpoint ROUNDS COUNT|BLOCKS PATH\n", argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const bool whole = std::string(argv[1]) == "checkpoint";
  const int64_t rounds = std::atoll(argv[2]), count = std::atoll(argv[3]);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<double> unk(whole ? static_cast<size_t>(count * 24 * 24 * 24 * kVariables) : 0);
  for (size_t i = 0; i < unk.size(); ++i) {
    unk[i] = static_cast<double>(i % 1000) + rank;
  }
  for (int64_t round = 0; round < rounds; ++round) {
    const double seconds = whole ? checkpoint(count, unk, argv[4]) : calls(count, argv[4]);
    if (rank == 0) {
      std::printf("%.9f\n", seconds);
    }
  }
  MPI_Finalize();
}
