// Holds what the subcommands of `stria` share: how they register, and how they print.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "ranks.hpp"

namespace stria::tool {

/// Exit statuses of every subcommand.
inline constexpr int kDone = 0;
inline constexpr int kAnswerIsNo = 1;
inline constexpr int kUnusableInput = 2;

/// The subcommand that the command line chose; returns the exit status. It runs on all ranks, and
/// throws stria::Error on all of them or on none.
using Action = std::function<int(Ranks&)>;

void add_compact(Command app, Action& action);
void add_drain(Command app, Action& action);
void add_inspect(Command app, Action& action);
void add_join(Command app, Action& action);
void add_repair(Command app, Action& action);
void add_verify(Command app, Action& action);
void add_trace_report(Command trace, Action& action);
void add_trace_view(Command trace, Action& action);

/// Prints on rank 0 only.
void print(Ranks& ranks, const std::string& text);

/// Prints a warning on rank 0's stderr.
void warn(Ranks& ranks, const std::string& text);

/// Returns the path of the command. Throws stria::Error.
std::string own_program();

/// Becomes another program, which is looked for as a shell does. Throws stria::Error.
[[noreturn]] void become(std::vector<std::string> words);

/// Splits entries "name=value" and warns of those that the library can't use. Throws stria::Error
/// (kInvalidArgument).
std::map<std::string, std::string> parse_hints(Ranks& ranks, const std::vector<std::string>& entries);

/// Writes a text file on rank 0; throws on all ranks when that fails. Collective: yes.
void write_text(Ranks& ranks, const std::string& path, const std::string& text);

/// Throws what write_text() would throw, so that an error shows before the work whose result is to
/// be written. Leaves no file. Collective: yes.
void check_writable(Ranks& ranks, const std::string& path);

/// Runs `action` on rank 0; what it throws there is thrown on all ranks. Collective: yes.
void on_root(Ranks& ranks, const std::function<void()>& action);

}  // namespace stria::tool
