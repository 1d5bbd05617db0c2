#include "program.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <string_view>

#include "describe.hpp"
#include "help.hpp"
#include "store/store_command.hpp"
#include "stria/status.hpp"
#include "suggestion.hpp"
#include "tracing/trace_command.hpp"

namespace stria::tool {

namespace {

int parse_error(Ranks& ranks, const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {  // --help, --version
    std::ostringstream text;
    app.exit(error, text);
    print(ranks, shown_help(text.str()));
    return kDone;
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
  return refuse(ranks, what + " (try --help)");
}

}  // namespace

void add_commands(CLI::App& app, Action& action) {
  CLI::App* trace = app.add_subcommand("trace", "what a traced run did: tables, timeline, report, export");
  trace->require_subcommand(1);
  add_trace_tools(*trace, action);
  add_trace_view(*trace, action);
  add_trace_report(*trace, action);
  add_inspect(app, action);
  add_verify(app, action);
  add_join(app, action);
  add_compact(app, action);
  add_drain(app, action);
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
  add_retire(app, action);
  add_mount(app, action);
}

int refuse(Ranks& ranks, const std::string& message) {
  if (ranks.rank() == 0) {
    std::fflush(stdout);
    fmt::print(stderr, "stria: {}\n", message);
  }
  return kUnusableInput;
}

int run(Ranks& ranks, int argc, char** argv, const std::function<void(CLI::App&, Action&)>& add) {
  CLI::App app("Parallel I/O for simulation codes: FLASH checkpoints written, checked and looked at.", "stria");
  app.set_version_flag("--version", STRIA_VERSION);
  app.require_subcommand(1);
  Action action;
  add(app, action);
  if (argc == 2 && argv[1] == std::string_view(kDescribe)) {
    fmt::print("{}\n", described(app).dump(1));
    return kDone;
  }
  if (argc == 1) {  // nobody knows a program's commands at first
    print(ranks, shown_help(app.help()));
    return kUnusableInput;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return parse_error(ranks, app, error);
  }
  try {
    return action(ranks);
  } catch (const Error& error) {
    return refuse(ranks, error.what());
  }
}

int run_alone(Ranks& ranks, int argc, char** argv, const std::function<void(CLI::App&, Action&)>& add) {
  try {
    return run(ranks, argc, argv, add);
  } catch (const std::exception& error) {
    fmt::print(stderr, "stria: {}\n", error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace stria::tool
