// Picks the access method of a collective operation from what the storage can do, the shape of the request and the hints.
//
// Rules, in order (the reason is kept and can be asked for):
//   1. a hint that names the method or disables collective buffering decides;
//   2. one rank: list I/O;
//   3. all ranks on one node with storage of its own, long pieces: list I/O, since exchanging would only add a copy;
//   4. otherwise two-phase.
// Much data that must be durable goes past the page cache where the storage lets it: the sync at the end would wait for the
// same writing.
#pragma once

#include <cstdint>
#include <string>

#include "access/hints.hpp"
#include "access/two_phase.hpp"
#include "comm/comm.hpp"
#include "storage/driver.hpp"

namespace stria::access {

/// The shape of a collective request; sums over all ranks, the same on every rank.
struct RequestShape {
  int64_t total_bytes = 0;
  int64_t piece_count = 0;  ///< pieces of all file types
  bool write = true;
  bool durable = false;  ///< the write will be followed by a sync
};

struct Plan {
  Method method = Method::kListIo;
  TwoPhasePlan two_phase;
  bool direct = false;  ///< write aligned stretches past the page cache
  std::string reason;
};

/// The same inputs give the same plan on every rank; `capabilities` must be those that one rank found and told the others.
Plan make_plan(const RequestShape& shape, const storage::Capabilities& capabilities, const ResolvedHints& hints,
               const Comm& comm);

}  // namespace stria::access
