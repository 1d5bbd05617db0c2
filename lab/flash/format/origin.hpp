// Describes what a file says of where it was made.
#pragma once

#include <mpi.h>

#include "format/flash_file.hpp"

namespace stria::flash {

/// Returns rank 0's machine and time, on every rank. Collective: yes.
Origin shared_origin(MPI_Comm comm);

}  // namespace stria::flash
