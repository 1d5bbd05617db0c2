// Collective calls on one file, and nothing else between the ranks: for tests of the
// report of a wait.
//
// usage: waits_program library|mpiio FILE SECONDS [LATE_RANK]: calls for so many seconds by rank
// 0's clock. LATE_RANK sleeps for five seconds before its second call. Rank 0 says when the
// first call is made.
// usage: waits_program background FILE SECONDS: one commit in the background, which a node writes
// for so many seconds. Rank 0 says when all ranks have made the call. Each rank R leaves FILE.R
// with the seconds that it has waited after that, and the outcome.
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "stria/file.hpp"

namespace {

using Clock = std::chrono::steady_clock;

struct Plan {
  std::string path;
  double seconds = 0;
  int late_rank = -1;
  int rank = 0;
  Clock::time_point begin = Clock::now();

  /// Is called before call `call` of this rank.
  void begin_call(int call) const {
    if (call == 1 && rank == 0) {
      std::puts("every rank calls");
      std::fflush(stdout);
    }
    if (call == 1 && rank == late_rank) {
      std::this_thread::sleep_for(std::chrono::seconds(5));
    }
  }
  /// Tells whether rank 0 leaves before call `call`. It makes at least two calls, however slow the
  /// machine is.
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

// It ends without MPI_Finalize, which would wait for ranks that can't be reached.
[[noreturn]] void commit_in_background(const Plan& plan) {
  constexpr int64_t kNumbers = 1 << 18;
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int node_ranks = 0;
  MPI_Comm_size(node, &node_ranks);
  const std::vector<double> numbers(kNumbers, plan.rank);
  stria::CreateOptions options;
  const double node_bytes = static_cast<double>(node_ranks * kNumbers) * sizeof(double);
  options.hints = {{"stria_staging_rate", std::to_string(static_cast<int64_t>(node_bytes / plan.seconds))}};
  stria::File file = stria::File::create(MPI_COMM_WORLD, plan.path, options);
  stria::Dataset values = file.create_dataset("values", stria::ElementType::kFloat64, {ranks * kNumbers});
  values.put({{plan.rank * kNumbers}, {kNumbers}}, {numbers.data(), kNumbers});
  const stria::Commit commit = file.commit_async();
  MPI_Barrier(MPI_COMM_WORLD);
  plan.begin_call(1);
  const auto begin = Clock::now();
  std::string outcome = "written";
  try {
    commit.wait();
  } catch (const stria::Error& error) {
    outcome = error.what();
  }
  const std::string path = plan.path + "." + std::to_string(plan.rank);
  std::FILE* const told = std::fopen(path.c_str(), "w");
  if (told != nullptr) {
    std::fprintf(told, "%.1f %s\n", std::chrono::duration<double>(Clock::now() - begin).count(), outcome.c_str());
    std::fclose(told);
  }
  _exit(told != nullptr ? EXIT_SUCCESS : EXIT_FAILURE);
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
    std::fputs("usage: waits_program library|mpiio|background FILE SECONDS [LATE_RANK]\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  plan.path = argv[2];
  plan.seconds = std::atof(argv[3]);
  plan.late_rank = argc > 4 ? std::atoi(argv[4]) : -1;
  const std::string kind = argv[1];
  if (kind == "background") {
    commit_in_background(plan);
  }
  kind == "library" ? call_library(plan) : call_mpiio(plan);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
