// Data sieving as ROMIO's independent calls of the papers' time made it.
#pragma once

#include "run/engine.hpp"

namespace stria::simulate {

/// Each rank works by itself. For each call a window of ind_rd_buffer_size from the next byte that
/// is wanted, but not past the last one, is locked, read as a whole, and looked through. To write,
/// it has ind_wr_buffer_size, and is changed and written back before the lock is given up (Thakur,
/// Gropp and Lusk 1999). The library's own sieving ends each window with its last piece and reads
/// without a lock. Collective: yes, for the file.
Status sieve_as_romio(RunShared& shared, Comm& comm, const bench::Workload& workload);

}  // namespace stria::simulate
