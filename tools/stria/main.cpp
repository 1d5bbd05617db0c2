// stria: the command line of the project. Each subcommand has a file of its own.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "bench/bench_command.hpp"
#include "command.hpp"
#include "describe.hpp"
#include "store/store_command.hpp"
#include "stria/status.hpp"
#include "suggestion.hpp"
#include "tracing/trace_command.hpp"
#include "tune/tune_command.hpp"

namespace stria::tool {
namespace {

// The rank; 0 without MPI, when there is no communicator.
int rank_in(MPI_Comm comm) {
  int rank = 0;
  if (comm != MPI_COMM_NULL) {
    MPI_Comm_rank(comm, &rank);
  }
  return rank;
}

// Prints on rank 0 what is wrong.
int refuse(MPI_Comm comm, const std::string& message) {
  if (rank_in(comm) == 0) {
    std::fflush(stdout);
    fmt::print(stderr, "stria: {}\n", message);
  }
  return kUnusableInput;
}

int parse_error(MPI_Comm comm, const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {  // --help, --version
    return rank_in(comm) == 0 ? app.exit(error) : 0;
  }
  // When a word was mistyped, the parser only says that a command or a file is missing.
  std::string what = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::string unknown = unknown_word(app);
    what = unknown.empty() ? what : unknown;
  }
  const std::string conversion = "Could not convert: ";
  if (what.compare(0, conversion.size(), conversion) == 0) {
    what = what.substr(conversion.size()) + " is not a value that this option takes";
  }
  return refuse(comm, what + " (try --help)");
}

int run(MPI_Comm comm, int argc, char** argv) {
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
  add_convection(app, action);
  add_bench(app, action);
  CLI::App* trace = app.add_subcommand("trace", "what a traced run did: tables, timeline, report, export");
  trace->require_subcommand(1);
  add_trace_tools(*trace, action);
  add_trace_view(*trace, action);
  add_trace_report(*trace, action);
  add_inspect(app, action);
  add_verify(app, action);
  add_join(app, action);
  add_drain(app, action);
  add_tune(app, action);
  add_papers(app, action);
  add_serve(app, action);
  add_ls(app, action);
  add_cp(app, action);
  add_rm(app, action);
  add_mv(app, action);
  add_mkdir(app, action);
  add_stat(app, action);
  add_df(app, action);
  add_chmod(app, action);
  add_key(app, action);
  add_scrub(app, action);
  add_status(app, action);
  add_mount(app, action);
  if (argc == 2 && argv[1] == std::string_view(kDescribe)) {
    fmt::print("{}\n", described(app).dump(1));
    return kDone;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return parse_error(comm, app, error);
  }
  try {
    return action(comm);
  } catch (const Error& error) {
    return refuse(comm, error.what());
  }
}

// Needs neither ranks nor MPI's threads and signals.
bool is_alone(const std::string& word) {
  return word == kDescribe || runs_alone(word);
}

// Servers and commands on stores have no ranks, and run without MPI's threads and signals.
int run_alone(int argc, char** argv) {
  try {
    return run(MPI_COMM_NULL, argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "stria: {}\n", error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace
}  // namespace stria::tool

int main(int argc, char** argv) {
  if (argc > 1 && (stria::tool::is_alone(argv[1]) || stria::tool::starts_ranks(argc, argv))) {
    return stria::tool::run_alone(argc, argv);
  }
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int status = EXIT_FAILURE;
  try {
    status = stria::tool::run(MPI_COMM_WORLD, argc, argv);
  } catch (const std::exception& error) {
    // This is no stria::Error, so it may be on this rank alone. The others must not wait for it.
    fmt::print(stderr, "stria: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return status;
}
