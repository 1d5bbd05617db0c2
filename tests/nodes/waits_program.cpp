// Collective calls on one file, and nothing else between the ranks: for tests of the
// report of a wait.
//
// usage: waits_program library|mpiio FILE SECONDS [LATE_RANK]: calls for so many seconds by rank
// 0's clock. LATE_RANK sleeps for five seconds before its second call. Rank 0 says when the
// first call is made.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "stria/file.hpp"

namespace {

using Clock = std::chrono::steady_clock;

struct Plan {
  std::string path;
  double seconds = 0;
  int late_rank = -1;
  int rank = 0;
  Clock::time_point begin = Clock::now();

  /// Before call `call` of this rank.
  void begin_call(int call) const {
    if (call == 1 && rank == 0) {
      std::puts("every rank calls");
      std::fflush(stdout);
    }
    if (call == 1 && rank == late_rank) {
      std::this_thread::sleep_for(std::chrono::seconds(5));
    }
  }
  /// Whether rank 0 leaves before call `call`. It makes at least two calls, however slow
  /// the machine is.
  bool is_over(int call) const {
    return rank == 0 && call > 1 && std::chrono::duration<double>(Clock::now() - begin).count() > seconds;
  }
};

// The ranks agree on the end through the file itself: when its time is over, rank 0 stops
// calling and leaves.
void call_library(const Plan& plan) {
  stria::File file = stria::File::create(MPI_COMM_WORLD, plan.path);
  stria::Dataset values = file.create_dataset("values", stria::ElementType::kFloat64, {1});
  for (int call = 0; !plan.is_over(call); ++call) {
    plan.begin_call(call);
    try {
      file.flush();
    } catch (const stria::Error&) {
      return;  // rank 0 has left
    }
  }
}

// A byte that rank 0 writes into the file tells the others.
void call_mpiio(const Plan& plan) {
  MPI_File file = MPI_FILE_NULL;
  if (MPI_File_open(MPI_COMM_WORLD, plan.path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
    std::fputs("MPI_File_open has failed\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  char over = 0;
  for (int call = 0; over == 0; ++call) {
    plan.begin_call(call);
    over = plan.is_over(call) ? 1 : 0;
    MPI_File_write_at_all(file, 0, &over, plan.rank == 0 ? 1 : 0, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_File_read_at_all(file, 0, &over, 1, MPI_CHAR, MPI_STATUS_IGNORE);
  }
  MPI_File_close(&file);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Plan plan;
  MPI_Comm_rank(MPI_COMM_WORLD, &plan.rank);
  if (argc < 4) {
    std::fputs("usage: waits_program library|mpiio FILE SECONDS [LATE_RANK]\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  plan.path = argv[2];
  plan.seconds = std::atof(argv[3]);
  plan.late_rank = argc > 4 ? std::atoi(argv[4]) : -1;
  std::string(argv[1]) == "library" ? call_library(plan) : call_mpiio(plan);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
