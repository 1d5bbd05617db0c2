// Finds out whether the manager's database has changes that a power loss would undo.
#pragma once

#include <cstdint>

#include "server/manager/database/database.hpp"
#include "stria/status.hpp"

namespace stria::server {

class Unsynced {
 public:
  /// The database outlives this.
  explicit Unsynced(Database& database) : database_(database) {}
  Unsynced(const Unsynced&) = delete;
  Unsynced& operator=(const Unsynced&) = delete;

  /// Something is about to change.
  void note() { dirty_ = true; }
  /// Everything so far survives a power loss.
  Status sync();
  /// Returns how often that was made so.
  int64_t syncs() const { return syncs_; }

 private:
  Database& database_;
  bool dirty_ = true;
  int64_t syncs_ = 0;
};

}  // namespace stria::server
