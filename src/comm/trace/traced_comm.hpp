// A communicator that records its messages and collective operations as spans, and passes them on
// to the one inside.
#pragma once

#include <memory>

#include "comm/comm.hpp"

namespace stria {

/// Records at level full. At other levels it costs a branch and a call.
std::unique_ptr<Comm> make_traced_comm(std::unique_ptr<Comm> comm);

}  // namespace stria
