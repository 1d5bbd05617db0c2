// Holds what the programs for an MPI share: the command's part, and the laboratory's.
#pragma once

#include <functional>

#include "command.hpp"

namespace stria::tool {

/// Tells whether the command line needs neither ranks nor MPI's threads and signals.
bool needs_no_ranks(int argc, char** argv);

/// Runs a command line on all ranks of MPI, which it begins and ends, and returns the exit status.
/// `alone`: on this process, which does not begin MPI. Collective: yes, unless alone.
int run_on_ranks(int argc, char** argv, bool alone, const std::function<void(Command, Action&)>& add);

}  // namespace stria::tool
