// The laboratory's subcommands of `stria` that need MPI.
#pragma once

#include "ranks_of_mpi.hpp"

namespace stria::tool {

void add_bench(Command app, Action& action);
void add_convection(Command app, Action& action);
void add_flash_io(Command flash, Action& action);
void add_flash_picture(Command flash, Action& action);
#ifdef STRIA_WITH_SEDOV
void add_flash_sedov(Command flash, Action& action);
#endif

}  // namespace stria::tool
