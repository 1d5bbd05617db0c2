// The part of the command for an MPI: the product's subcommands, on ranks. The command becomes this
// program where it is one of several ranks.
#include "program.hpp"
#include "program_of_mpi.hpp"

int main(int argc, char** argv) {
  using namespace stria::tool;
  return run_on_ranks(argc, argv, needs_no_ranks(argc, argv), add_commands);
}
