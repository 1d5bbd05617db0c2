// What every communicator must do, as one body of checks that each implementation's test runs on every one of its ranks.
#pragma once

#include <cstdint>

#include "comm/comm.hpp"

namespace stria::testing {

struct CommConformance {
  uint64_t seed = 1;
  int64_t large_bytes = 3 << 20;  ///< of the largest messages
  int rounds = 20;                ///< of random collectives and of random messages
};

/// Runs every check; failures are GoogleTest's. Collective: yes.
void check_comm(Comm& comm, const CommConformance& options);

}  // namespace stria::testing
