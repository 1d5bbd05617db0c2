// Describes what the peers of the papers' time do with a workload's calls, replayed over the same
// machine.
//
// Method: only which rank sends or writes which bytes, and when ranks meet; no code of theirs.
#pragma once

#include "run/engine.hpp"

namespace stria::simulate {

/// ROMIO's two-phase of 2000 to 2012, for each call: offsets are gathered; the stretch from the
/// first byte to the last is divided evenly among cb_nodes aggregators (one for 32 ranks unless a
/// hint says so), at the file system's blocks unless stria_file_domains is "even". In each round
/// all ranks exchange how much they send, then send it, and each aggregator writes one buffer of
/// cb_buffer_size. Nothing of a round overlaps with the next. Collective: yes.
Status write_as_romio(RunShared& shared, Comm& comm, const bench::Workload& workload);

}  // namespace stria::simulate
