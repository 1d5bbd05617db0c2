// The command with the laboratory, for an MPI: all subcommands, on ranks. `stria` becomes this
// program for those of the laboratory.
#include <string_view>

#include "commands.hpp"
#include "commands_of_mpi.hpp"
#include "program.hpp"
#include "program_of_mpi.hpp"
#include "tune/tune_command.hpp"

namespace stria::tool {
namespace {

void add_all(Command app, Action& action) {
  Command flash = app.add_subcommand("flash", "the FLASH applications: I/O benchmark, Sedov blast, picture");
  flash.require_subcommand();
  add_flash_io(flash, action);
#ifdef STRIA_WITH_SEDOV
  add_flash_sedov(flash, action);
#endif
  add_flash_picture(flash, action);
  add_convection(app, action);
  add_bench(app, action);
  add_tune(app, action);
  add_commands(app, action);
  add_papers(app, action);
  add_simulate(app, action);
}

// Papers' scripts start ranks themselves.
bool is_alone(int argc, char** argv) {
  return needs_no_ranks(argc, argv) || (argc > 1 && std::string_view(argv[1]) == "papers") || starts_ranks(argc, argv);
}

}  // namespace
}  // namespace stria::tool

int main(int argc, char** argv) {
  using namespace stria::tool;
  return run_on_ranks(argc, argv, is_alone(argc, argv), add_all);
}
