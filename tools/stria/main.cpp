// stria: the command line of the project. Each subcommand has a file of its own.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "command.hpp"
#include "stria/status.hpp"
#include "tracing/trace_command.hpp"

namespace stria::tool {
namespace {

// Says on rank 0 what is wrong.
int refuse(MPI_Comm comm, const std::string& message) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    std::fflush(stdout);
    fmt::print(stderr, "stria: {}\n", message);
  }
  return kUnusableInput;
}

int parse_error(MPI_Comm comm, const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {  // --help, --version
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank == 0 ? app.exit(error) : 0;
  }
  std::string what = error.what();
  const std::string conversion = "Could not convert: ";
  if (what.compare(0, conversion.size(), conversion) == 0) {
    what = what.substr(conversion.size()) + " is no value that this option takes";
  }
  return refuse(comm, what + " (try --help)");
}

int run(int argc, char** argv) {
  CLI::App app("Parallel I/O for simulation codes: FLASH checkpoints written, checked and looked at.", "stria");
  app.set_version_flag("--version", STRIA_VERSION);
  app.require_subcommand(1);
  Action action;
  CLI::App* flash = app.add_subcommand("flash", "the FLASH applications: I/O benchmark, Sedov blast, picture");
  flash->require_subcommand(1);
  add_flash_io(*flash, action);
#ifdef STRIA_WITH_SEDOV
  add_flash_sedov(*flash, action);
#endif
  add_flash_picture(*flash, action);
  CLI::App* trace = app.add_subcommand("trace", "what a traced run did: tables, timeline, report, export");
  trace->require_subcommand(1);
  add_trace_tools(*trace, action);
  add_trace_view(*trace, action);
  add_trace_report(*trace, action);
  add_inspect(app, action);
  add_verify(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return parse_error(MPI_COMM_WORLD, app, error);
  }
  try {
    return action(MPI_COMM_WORLD);
  } catch (const Error& error) {
    return refuse(MPI_COMM_WORLD, error.what());
  }
}

}  // namespace
}  // namespace stria::tool

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int status = EXIT_FAILURE;
  try {
    status = stria::tool::run(argc, argv);
  } catch (const std::exception& error) {
    // Not one of ours, so perhaps on this rank alone: the others must not wait for it.
    fmt::print(stderr, "stria: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return status;
}
