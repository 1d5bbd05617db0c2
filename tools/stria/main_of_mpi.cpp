// The part of the command for an MPI: all subcommands, on ranks. The command becomes this program
// where it is one of several ranks, and for what needs MPI.
#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "describe.hpp"
#include "program.hpp"
#include "ranks_of_mpi.hpp"
#include "store/store_command.hpp"
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
}

// Needs neither ranks nor MPI's threads and signals.
bool is_alone(int argc, char** argv) {
  return argc > 1 && (std::string_view(argv[1]) == kDescribe || runs_alone(argv[1]) || starts_ranks(argc, argv));
}

}  // namespace
}  // namespace stria::tool

int main(int argc, char** argv) {
  if (stria::tool::is_alone(argc, argv)) {
    stria::tool::RanksOfMpi process(MPI_COMM_NULL);
    return stria::tool::run_alone(process, argc, argv, stria::tool::add_all);
  }
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int status = EXIT_FAILURE;
  try {
    stria::tool::RanksOfMpi ranks(MPI_COMM_WORLD);
    status = stria::tool::run(ranks, argc, argv, stria::tool::add_all);
  } catch (const std::exception& error) {
    // This is no stria::Error, so it may be on this rank alone. The others must not wait for it.
    fmt::print(stderr, "stria: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return status;
}
