// Collective buffers that stay from one operation to the next.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/comm.hpp"

namespace stria::access {

/// One object per open file and rank.
struct KeptBuffers {
  std::shared_ptr<SharedBuffer> memory;
  int64_t bytes = 0;                             ///< each aggregator's buffer for one round
  std::vector<int> aggregators;                  ///< their ranks
  std::shared_ptr<SharedBuffer> board, staging;  ///< those of delegates (delegates.hpp)
};

}  // namespace stria::access
