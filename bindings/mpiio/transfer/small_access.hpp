// Small independent accesses of a file behind a network: gathered into few requests
// (storage/small/small_requests.hpp).
//
// What is kept on this rank is written, and what was read ahead is forgotten, before anything that
// could let another rank know: calls of MPI that order ranks (calls/ordering_calls.cpp), and all
// other accesses of the file. So a program sees what it would see without.
#pragma once

#include <span>

#include "mpiio/file/file.hpp"
#include "storage/driver.hpp"

namespace stria::mpiio {

/// Lets a file that has just been opened gather, if its storage and hints want that. Local.
void begin_to_gather(File& file);

/// Writes what this rank has kept of the file, and forgets what it has read ahead. A failure is
/// kept for the next access, and for the sync or close that tells all ranks.
void settle_small(File& file);
/// The same for all files of this process. Cheap where nothing is kept. Any thread.
void settle_all_small();

/// A write of pieces that stays out of windows which others are sieving.
Status write_beside_others(File& file, storage::File& storage, std::span<const storage::WriteSegment> pieces);

}  // namespace stria::mpiio
