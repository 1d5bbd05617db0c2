// The communicator of a program of one process: every collective is the identity, and
// MPI isn't used.
#pragma once

#include <memory>

#include "comm/comm.hpp"

namespace stria {

/// Makes a communicator of one rank. Messages from rank 0 to itself work; they are buffered.
std::unique_ptr<Comm> make_self_comm();

}  // namespace stria
