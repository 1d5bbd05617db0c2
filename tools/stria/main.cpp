// stria: the command, which needs no MPI. Each subcommand has a file of its own.
//
// Problem: files are looked at on machines without MPI, and verified by many ranks elsewhere; what
// measures and reproduces is a laboratory that not everybody installs.
// Method: this program has the product's subcommands. Where it is one of several ranks, it becomes
// the part for that MPI, which has the same ones (main_of_mpi.cpp). For any other word it becomes
// the laboratory's program, which has all, for an MPI or without.
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

// The laboratory's subcommands.
constexpr std::string_view kNeedMpi[] = {"flash", "convection", "bench", "tune"};
constexpr std::string_view kNeedNoMpi[] = {"papers", "simulate"};

template <size_t kCount>
bool is_one_of(const std::string_view (&words)[kCount], const std::string& word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool is_of_laboratory(const std::string& word) {
  return is_one_of(kNeedMpi, word) || is_one_of(kNeedNoMpi, word);
}

// A message is the first rank's, or that of a process without others.
int refuse_once(const std::string& message) {
  return launched_rank().value_or("0") == "0" ? refuse(alone(), message) : kUnusableInput;
}

// Adds the program in that folder beside the command's, if it is installed.
void add_program(const std::string& folder, std::vector<std::string>& found) {
  const auto parts = std::filesystem::path(own_program()).parent_path() / STRIA_PARTS_FROM_COMMAND;
  std::string program = (parts / folder / "stria").lexically_normal().string();
  if (access(program.c_str(), X_OK) == 0) {
    found.push_back(std::move(program));
  }
}

// Finds the programs that are installed for MPIs, in folders of such names; that of the MPI which
// has started this process comes first.
std::vector<std::string> find_programs(const std::string& prefix) {
  std::vector<std::string> mpis{"openmpi", "mpich"};
  if (std::getenv("PMI_RANK") != nullptr && std::getenv("OMPI_COMM_WORLD_RANK") == nullptr) {
    std::reverse(mpis.begin(), mpis.end());
  }
  std::vector<std::string> found;
  for (const std::string& mpi : mpis) {
    add_program(prefix + mpi, found);
  }
  return found;
}

// Finds the laboratory's programs that may have the subcommand.
std::vector<std::string> find_laboratory(const std::string& word) {
  std::vector<std::string> found;
  if (is_one_of(kNeedNoMpi, word) && !launched_rank()) {
    add_program("laboratory", found);  // it starts where MPI's libraries are not
  }
  const std::vector<std::string> over_mpi = find_programs("laboratory_");
  found.insert(found.end(), over_mpi.begin(), over_mpi.end());
  if (!is_one_of(kNeedMpi, word)) {
    add_program("laboratory", found);
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

// Handles a word that no program has.
int refuse_or_list(const std::string& word, int argc, char** argv) {
  const bool without_mpi = find_programs("").empty();
  if (without_mpi && is_one_of(kNeedMpi, word)) {
    return refuse_once(
        fmt::format("'stria {}' needs MPI: install the command's part for Open MPI or MPICH, which is the "
                    "package stria-openmpi or stria-mpich, or a build for that MPI",
                    word));
  }
  if (is_of_laboratory(word)) {
    return refuse_once(
        fmt::format("'stria {}' needs the laboratory, which is not installed: the packages stria, stria-openmpi "
                    "and stria-mpich have it, and a build with STRIA_BUILD_LAB",
                    word));
  }
  return run(alone(), argc, argv, [without_mpi](Command app, Action& action) {
    add_commands(app, action);
    app.footer(without_mpi
                   ? "flash, convection, bench and tune need MPI, for which nothing is installed."
                   : "flash, convection, bench, tune, papers and simulate need the laboratory, which is not installed.");
  });
}

int run_program(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  const bool here = is_here(word);
  if (here && !launched_rank()) {
    return run(alone(), argc, argv, add_commands);
  }
  std::vector<std::string> programs = here ? find_programs("") : find_laboratory(word);
  if (programs.empty() && launched_rank() && !is_of_laboratory(word)) {
    programs = find_programs("");  // It says once what is wrong.
  }
  for (const std::string& program : programs) {
    std::vector<std::string> words(argv, argv + argc);
    words[0] = program;
    become(std::move(words));
  }
  if (here) {
    return refuse_once(
        fmt::format("'stria {}' on ranks of MPI needs the command's part for that MPI, which is not "
                    "installed: start it without mpiexec, on one process",
                    word));
  }
  return refuse_or_list(word, argc, argv);
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
