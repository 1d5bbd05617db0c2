// Tests what every communicator must do: one set of checks, which the test of each implementation
// runs on every rank.
#pragma once

#include <cstdint>

#include "comm/comm.hpp"

namespace stria::testing {

struct CommConformance {
  uint64_t seed = 1;
  int64_t large_bytes = 3 << 20;  ///< size of the largest messages
  int rounds = 20;                ///< rounds of random collectives and of random messages
};

/// Runs every check; GoogleTest reports failures. Collective: yes.
void check_comm(Comm& comm, const CommConformance& options);

}  // namespace stria::testing
