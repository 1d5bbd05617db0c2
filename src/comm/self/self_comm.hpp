// The communicator of a program that is one process: every collective is the identity, and MPI isn't touched.
#pragma once

#include <memory>

#include "comm/comm.hpp"

namespace stria {

/// Makes a communicator of one rank. Messages to rank 0 itself work and are buffered.
std::unique_ptr<Comm> make_self_comm();

}  // namespace stria
