// Output through one rank, as the I/O library of 1995 made it.
#pragma once

#include "run/engine.hpp"

namespace stria::simulate {

/// Writes as Chameleon's sequential mode does (Thakur 1995): rank 0 gathers each array in stretches
/// of 64 KiB of the file, and writes through a cache of cb_buffer_size (1 MiB without the hint). It
/// asks for each contiguous piece of a stretch and waits for it, since neither pieces nor messages
/// are combined. The others wait until they are asked. Collective: yes.
Status write_through_rank_zero(RunShared& shared, Comm& comm, const bench::Workload& workload);

}  // namespace stria::simulate
