// stria tune: measures a storage with a workload, and writes the hints that suit it.
#pragma once

#include "ranks_of_mpi.hpp"

namespace stria::tool {

void add_tune(Command app, Action& action);

/// Tells whether the command line is one of `stria tune` that only starts ranks by --mpiexec. Such
/// a process must not begin MPI, whose variables would confuse the launcher.
bool starts_ranks(int argc, char** argv);

}  // namespace stria::tool
