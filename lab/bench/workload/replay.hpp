// The requests of a recorded run as a workload: what each rank moved where, in its order.
//
// Problem: a run may have moved terabytes, with wide gaps between, on more ranks than there are
// now.
// Method: the first requests of all ranks are kept, up to a limit of bytes. Gaps in the file shrink
// to less than 8 MiB, and places keep their alignment up to 4 MiB. A rank plays the recorded
// ranks with its own number, and those a whole number of rounds further on. Ranks beyond the
// recorded ones do the same as these in further stretches of the file, so that each rank keeps its
// share. What a rank wrote before is not written again.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "workload/catalog.hpp"

namespace stria::bench {

struct Recording {
  struct Request {
    int64_t offset = 0;
    int64_t bytes = 0;
  };
  std::vector<std::vector<Request>> ranks;  ///< at least one; each in the order of its requests
  bool is_file_a_rank = false;
};

/// Calls of the same number on the recorded ranks that a rank plays are one call.
WorkloadKind replay_kind(std::shared_ptr<const Recording> recording);

}  // namespace stria::bench
