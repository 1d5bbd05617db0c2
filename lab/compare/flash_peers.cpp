// bench_flash_peers: the FLASH I/O pattern through the libraries with which Stria is compared, side
// by side in one run.
#include <fmt/format.h>
#include <mpi.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "peers/options.hpp"
#include "peers/report.hpp"
#include "peers/rounds.hpp"

namespace stria::bench {
namespace {

constexpr int kBadUsage = 2;

/// Says why nothing can be written there; empty when it can. Looks only on the calling rank.
std::string directory_problem(const Options& options, int64_t needed_bytes) {
  if (access(options.directory.c_str(), W_OK | X_OK) != 0) {
    return fmt::format("cannot write to --dir {}: {}", options.directory, std::strerror(errno));
  }
  struct statvfs space {};
  if (statvfs(options.directory.c_str(), &space) != 0) {
    return fmt::format("cannot use --dir {}: {}", options.directory, std::strerror(errno));
  }
  const double free_bytes = static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
  if (free_bytes < 1.05 * static_cast<double>(needed_bytes)) {
    return fmt::format("--dir {} has {:.0f} MB free; the largest file needs {:.0f} MB", options.directory, free_bytes / 1e6,
                       static_cast<double>(needed_bytes) / 1e6);
  }
  return {};
}

/// Asks rank 0 whether the bench can run and tells all; prints the problem once. Collective: yes.
bool environment_usable(const Options& options, int rank, int ranks) {
  int usable = 1;
  if (rank == 0) {
    int64_t blocks = 0;
    for (int other = 0; other < ranks; ++other) {
      blocks += options.workload.blocks_on(other);
    }
    const std::string problem =
        directory_problem(options, flash::useful_bytes(options.workload, blocks, options.workload.nvar, 8));
    std::ofstream json;
    if (problem.empty() && !options.json_path.empty()) {
      json.open(options.json_path, std::ios::app);
    }
    usable = problem.empty() && (options.json_path.empty() || json.is_open()) ? 1 : 0;
    if (usable == 0) {
      fmt::print(
          stderr, "bench_flash_peers: {}\n",
          problem.empty() ? fmt::format("cannot write --json {}: {}", options.json_path, std::strerror(errno)) : problem);
    }
  }
  MPI_Bcast(&usable, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return usable != 0;
}

void publish(const std::vector<ModeResult>& results, const Options& options, int ranks) {
  fmt::print("{}", to_table(results, options, ranks));
  if (!options.json_path.empty()) {
    std::ofstream file(options.json_path, std::ios::trunc);
    file << to_json(results, options, ranks);
    require(static_cast<bool>(file.flush()), "cannot write " + options.json_path);
  }
}

int run(int argc, char** argv, int rank, int ranks) {
  const ParsedOptions parsed = parse_options(argc, argv);
  if (!parsed.run) {
    if (rank == 0) {
      fmt::print(parsed.exit_code == 0 ? stdout : stderr, "{}", parsed.message);
    }
    return parsed.exit_code;
  }
  const Options& options = parsed.options;
  if (options.list_modes) {
    for (const Mode& mode : all_modes()) {
      if (rank == 0) {
        fmt::print("{:<36}{}{}\n", mode.name, mode_kind_name(mode.kind), mode.slow ? ", slow" : "");
      }
    }
    return 0;
  }
  if (!environment_usable(options, rank, ranks)) {
    return kBadUsage;
  }
  const std::vector<Mode> modes = chosen_modes(options);
  BenchData data = make_data(options, modes, MPI_COMM_WORLD);
  std::vector<ModeResult> results = run_rounds(options, modes, &data, MPI_COMM_WORLD);
  add_packed_limit(&results);
  if (rank == 0) {
    publish(results, options, ranks);
  }
  return 0;
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int exit_code = stria::bench::run(argc, argv, rank, ranks);
  MPI_Finalize();
  return exit_code;
}
