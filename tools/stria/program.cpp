#include "program.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "describe.hpp"
#include "help.hpp"
#include "store/store_command.hpp"
#include "stria/status.hpp"
#include "suggestion.hpp"
#include "tracing/trace_command.hpp"

namespace stria::tool {

namespace {

int answer(Ranks& ranks, const Command& top, const CommandLine::Outcome& outcome) {
  if (outcome.result == CommandLine::Result::kAnswer) {  // --help, --version
    print(ranks, shown_help(outcome.text));
    return kDone;
  }
  // When a word was mistyped, the parser only says that a command or a file is missing.
  std::string what = outcome.text;
  if (outcome.result == CommandLine::Result::kMissing) {
    const std::string unknown = unknown_word(top);
    what = unknown.empty() ? what : unknown;
  }
  const std::string conversion = "Could not convert: ";
  if (what.compare(0, conversion.size(), conversion) == 0) {
    what = what.substr(conversion.size()) + " is not a value that this option takes";
  }
  return refuse(ranks, what + " (try --help)");
}

}  // namespace

void add_commands(Command app, Action& action) {
  Command trace = app.add_subcommand("trace", "what a traced run did: tables, timeline, report, export");
  trace.require_subcommand();
  add_trace_tools(trace, action);
  add_trace_view(trace, action);
  add_trace_report(trace, action);
  add_inspect(app, action);
  add_verify(app, action);
  add_join(app, action);
  add_repair(app, action);
  add_compact(app, action);
  add_drain(app, action);
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
  add_promote(app, action);
  add_server(app, action);
  add_quota(app, action);
  add_backup(app, action);
  add_fsck(app, action);
  add_mount(app, action);
}

int refuse(Ranks& ranks, const std::string& message) {
  if (ranks.rank() == 0) {
    std::fflush(stdout);
    fmt::print(stderr, "stria: {}\n", message);
  }
  return kUnusableInput;
}

int run(Ranks& ranks, int argc, char** argv, const std::function<void(Command, Action&)>& add) {
  CommandLine line("Parallel I/O for simulation codes: FLASH checkpoints written, checked and looked at.", "stria");
  line.add_version(STRIA_VERSION);
  line.top().require_subcommand();
  Action action;
  add(line.top(), action);
  if (argc == 2 && argv[1] == std::string_view(kDescribe)) {
    fmt::print("{}\n", described(line.top()));
    return kDone;
  }
  if (argc == 1) {  // nobody knows a program's commands at first
    const char* const asking[] = {argv[0], "--help"};
    print(ranks, shown_help(line.parse(2, asking).text));
    return kUnusableInput;
  }
  const CommandLine::Outcome outcome = line.parse(argc, argv);
  if (outcome.result != CommandLine::Result::kDone) {
    return answer(ranks, line.top(), outcome);
  }
  try {
    return action(ranks);
  } catch (const Error& error) {
    return refuse(ranks, error.what());
  }
}

int run_alone(Ranks& ranks, int argc, char** argv, const std::function<void(Command, Action&)>& add) {
  try {
    return run(ranks, argc, argv, add);
  } catch (const std::exception& error) {
    fmt::print(stderr, "stria: {}\n", error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace stria::tool
