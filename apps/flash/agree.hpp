// One outcome for all ranks.
#pragma once

#include <mpi.h>

#include "stria/status.hpp"

namespace stria::flash {

/// Success if all ranks succeeded, else the failure of the lowest rank that failed; `failed_rank`,
/// if asked for, is that rank, or -1. Collective: yes.
Status agree(MPI_Comm comm, const Status& mine, int* failed_rank = nullptr);

}  // namespace stria::flash
