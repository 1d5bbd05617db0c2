// Small independent accesses of a file behind a network: gathered into few requests
// (storage/small/small_requests.hpp).
//
// What is kept on this rank is written before anything that could let another rank know: calls of
// MPI that order ranks (calls/ordering_calls.cpp), and all other accesses of the file. What the
// node has read ahead is of no use to the rank after them. So a program sees what it would see
// without.
#pragma once

#include <span>

#include "mpiio/file/file.hpp"
#include "storage/driver.hpp"

namespace stria::mpiio {

/// Lets a file that has just been opened gather, if its storage and hints want that. Collective:
/// yes.
void begin_to_gather(File& file);

/// Writes what this rank has kept of the file. A failure is kept for the next access, and for the
/// sync or close that tells all ranks.
void settle_small(File& file);

/// A call by which ranks may hear of one another. What this process keeps of all files is written
/// before, and after it reads give nothing that was fetched earlier. Cheap where no file gathers.
/// Any thread.
class OrderingCall {
 public:
  OrderingCall();
  OrderingCall(const OrderingCall&) = delete;
  OrderingCall& operator=(const OrderingCall&) = delete;
  ~OrderingCall();
};

/// Writes pieces, and stays out of windows which others are sieving.
Status write_beside_others(File& file, storage::File& storage, std::span<const storage::WriteSegment> pieces);

}  // namespace stria::mpiio
