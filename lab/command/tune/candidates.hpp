// The hints that `stria tune` tries.
#pragma once

#include <string>
#include <vector>

#include "stria/hints.hpp"
#include "tune/race.hpp"

namespace stria::tool {

struct Machine {
  int ranks = 1;
  bool store = false;  ///< the storage is a store, which takes stripes
  int servers = 0;     ///< the servers of the store; 0: not known
};

/// Returns each method by buffer, for two-phase also by aggregators, and on a store by stripes; in
/// an order that mixes them, because the last ones may not be reached.
std::vector<Hints> candidates(const Machine& machine);

/// Returns the same questions one after the other: the method and its aggregators, the buffer, and
/// on a store the size of stripes and the number of servers.
std::vector<Stage> stages(const Machine& machine);

/// Why one would set this hint, for a comment.
std::string meaning(const std::string& name);

bool is_store(const std::string& directory);

}  // namespace stria::tool
