// stria: the command, which needs no MPI. Each subcommand has a file of its own.
//
// Problem: files are looked at on machines without MPI, and verified by many ranks elsewhere.
// Method: this program has the subcommands that one process can do. Where it is one of several
// ranks, and for what needs MPI, it becomes the part for that MPI (main_of_mpi.cpp), which has all.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "program.hpp"

namespace stria::tool {
namespace {

constexpr std::string_view kNeedMpi[] = {"flash", "convection", "bench", "tune"};

bool is_set(const char* variable) {
  return std::getenv(variable) != nullptr;
}

// What the launchers of Open MPI, of MPICH and its relatives, and of PMIx tell each rank.
bool is_rank() {
  return is_set("OMPI_COMM_WORLD_RANK") || is_set("PMI_RANK") || is_set("PMIX_RANK");
}

// The parts that are installed; that of the MPI which has started this process comes first.
std::vector<std::string> find_parts() {
  const auto parts = std::filesystem::path(own_program()).parent_path() / STRIA_PARTS_FROM_COMMAND;
  std::vector<std::string_view> mpis{"openmpi", "mpich"};
  if (is_set("PMI_RANK") && !is_set("OMPI_COMM_WORLD_RANK")) {
    std::reverse(mpis.begin(), mpis.end());
  }
  std::vector<std::string> found;
  for (const std::string_view mpi : mpis) {
    const std::string part = (parts / mpi / "stria").lexically_normal().string();
    if (access(part.c_str(), X_OK) == 0) {
      found.push_back(part);
    }
  }
  return found;
}

bool is_here(const std::string& word) {
  CommandLine line("", "");
  Action action;
  add_commands(line.top(), action);
  const std::vector<Command> commands = line.top().subcommands();
  return std::any_of(commands.begin(), commands.end(), [&](const Command& one) { return one.name() == word; });
}

int run_program(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  const bool here = is_here(word);
  if (here && !is_rank()) {
    return run(alone(), argc, argv, add_commands);
  }
  for (const std::string& part : find_parts()) {
    std::vector<std::string> words(argv, argv + argc);
    words[0] = part;
    become(std::move(words));
  }
  if (here) {
    return refuse(alone(), fmt::format("'stria {}' on ranks of MPI needs the command's part for that MPI, which is not "
                                       "installed: start it without mpiexec, on one process",
                                       word));
  }
  if (std::find(std::begin(kNeedMpi), std::end(kNeedMpi), word) != std::end(kNeedMpi)) {
    return refuse(alone(), fmt::format("'stria {}' needs MPI: install the command's part for Open MPI or MPICH, which is the "
                                       "package stria-openmpi or stria-mpich, or a build for that MPI",
                                       word));
  }
  return run(alone(), argc, argv, [](Command app, Action& action) {
    add_commands(app, action);
    app.footer("flash, convection, bench and tune need MPI, for which nothing is installed.");
  });
}

}  // namespace
}  // namespace stria::tool

int main(int argc, char** argv) {
  try {
    return stria::tool::run_program(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "stria: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
