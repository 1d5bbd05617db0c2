// Decides which parts of files are to go to which servers: `stria server drain` and `rebalance`.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "store/check/fsck.hpp"
#include "wire/moves.hpp"

namespace stria::tool {

/// A server that may get parts.
struct TakingServer {
  int64_t index = 0;
  int64_t free_bytes = 0;  ///< less what has been moved to it
};

struct MovablePart {
  uint64_t file = 0;
  int64_t from = 0;
  bool second = false;
  int64_t bytes = 0;
  std::vector<int64_t> places;  ///< the places of the file
  uint64_t number() const { return wire::part_number(file, second); }
};

/// The store's files and servers, as far as moves need them. Throws stria::Error.
class StoreMap {
 public:
  explicit StoreMap(const StoreAsker& asker) : asker_(asker) {}

  /// Servers that are up and take new files. Waits some seconds for those of which a manager that
  /// was started a moment ago has heard nothing yet.
  std::vector<TakingServer> taking_servers() const;
  /// Returns the parts on the server, with their sizes.
  std::vector<MovablePart> parts_on(const wire::ServerPlace& server) const;

 private:
  wire::StoreServers servers_once_heard() const;

  const StoreAsker& asker_;
};

/// Returns the best server for the part: one without a part of the file before one with, then the
/// one with most space. -1: none may have it, or has space.
int64_t target_for(const MovablePart& part, const std::vector<TakingServer>& servers, const std::set<int64_t>& refused = {});

}  // namespace stria::tool
