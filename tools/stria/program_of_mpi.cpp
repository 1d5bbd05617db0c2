#include "program_of_mpi.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <vector>

#include "comm/end_of_mpi.hpp"
#include "describe.hpp"
#include "program.hpp"
#include "ranks.hpp"
#include "ranks_of_mpi.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

bool needs_no_ranks(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && (words[0] == kDescribe || runs_alone(argv[1]))) {
    return true;
  }
  const bool only_tells = words.empty() || words[0].starts_with('-') || words.back() == "--help";
  return only_tells && !launched_rank();  // The ranks of a launcher tell once.
}

int run_on_ranks(int argc, char** argv, bool alone, const std::function<void(Command, Action&)>& add) {
  if (alone) {
    RanksOfMpi process(MPI_COMM_NULL);
    return run_alone(process, argc, argv, add);
  }
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int status = EXIT_FAILURE;
  try {
    RanksOfMpi ranks(MPI_COMM_WORLD);
    status = run(ranks, argc, argv, add);
  } catch (const std::exception& error) {
    // This is no stria::Error, so it may be on this rank alone. The others must not wait for it.
    fmt::print(stderr, "stria: {}\n", error.what());
    abort_job(EXIT_FAILURE);
  }
  MPI_Finalize();
  return status;
}

}  // namespace stria::tool
