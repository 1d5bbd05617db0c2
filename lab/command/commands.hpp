// The laboratory's subcommands of `stria` that need no MPI.
#pragma once

#include "command.hpp"

namespace stria::tool {

void add_papers(Command app, Action& action);
void add_simulate(Command app, Action& action);

}  // namespace stria::tool
