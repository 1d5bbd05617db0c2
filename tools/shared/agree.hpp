// One outcome for all ranks.
#pragma once

#include <mpi.h>

#include "stria/status.hpp"

namespace stria::shared {

/// Returns success if all ranks succeeded, else the failure of the lowest rank that failed.
/// `failed_rank`, unless null, gets that rank, or -1. Collective: yes.
Status agree(MPI_Comm comm, const Status& mine, int* failed_rank = nullptr);

}  // namespace stria::shared
