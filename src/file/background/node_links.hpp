// The connections by which the nodes of a commit in the background tell each other how it went.
//
// Problem: MPI may not be called from the thread that writes.
// Method: in the call, rank 0 listens at a port and gives all ranks its addresses and a secret,
// which is made anew for each commit and travels by MPI only. The first rank of each other node
// connects. Each side proves by HMAC over both sides' random numbers that it knows the secret, so
// that no stranger takes part, and nobody takes a stranger for rank 0.
// Cost: a broadcast and two round trips of the network. Rank 0 holds a socket a node.
// Limits: what the nodes then say is not encrypted; it is no secret.
#pragma once

#include <optional>
#include <vector>

#include "comm/comm.hpp"
#include "file/background/link.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Another node's first rank, or rank 0 for these.
struct Peer {
  int rank = 0;
  Link link;
  std::optional<Status> told;  ///< how its node has written
};

/// Returns the connections of this rank: of rank 0 to the first rank of each other node, by number
/// of node; of those to rank 0; of other ranks none. Waits for some seconds at most where a node
/// can't be reached. kUnsupported, at once, where that has happened before. Collective: yes; the
/// outcome is the same everywhere.
Result<std::vector<Peer>> join_nodes(Comm& comm);

}  // namespace stria::file
