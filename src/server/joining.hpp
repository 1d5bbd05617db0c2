// Describes how a server that joins a store waits for the store's manager.
//
// Problem: when all machines are switched on at once, the manager's may be the slowest. Method: a
// server that finds no manager asks again and again, and says in its log for what it waits. What
// another attempt can't mend, as a manager of another store or another key, ends it at once.
#pragma once

#include <functional>

#include "server/connections/watch.hpp"
#include "stria/status.hpp"

namespace stria::server {

struct Joining {
  /// kIo where there is no manager yet. Takes some seconds at most.
  std::function<Status()> attempt;
  /// This is called between attempts, some times a second.
  std::function<void()> meanwhile;
  /// True ends the waiting with kAborted; empty: nothing does.
  std::function<bool()> gives_up;
};

/// Returns what the last attempt came to, which isn't kIo. `first`: what one has come to already.
Status wait_for_manager(const Joining& joining, const Status& first, const Watch& watch);

}  // namespace stria::server
