// Holds what the two programs of the command share: stria, which needs no MPI, and its part for an
// MPI.
#pragma once

#include <functional>
#include <string>

#include "command.hpp"

namespace stria::tool {

/// Adds the subcommands that need no MPI.
void add_commands(Command app, Action& action);

/// Prints on rank 0 what is wrong, and returns the exit status.
int refuse(Ranks& ranks, const std::string& message);

/// Runs a command line, and returns the exit status.
int run(Ranks& ranks, int argc, char** argv, const std::function<void(Command, Action&)>& add);

/// Does the same as run(), in a process without other ranks: whatever is thrown is told.
int run_alone(Ranks& ranks, int argc, char** argv, const std::function<void(Command, Action&)>& add);

}  // namespace stria::tool
