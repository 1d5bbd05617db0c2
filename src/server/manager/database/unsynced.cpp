#include "server/manager/database/unsynced.hpp"

namespace stria::server {

// A commit that is synced takes all earlier ones with it: the log is in order.
Status Unsynced::sync() {
  if (!dirty_) {
    return {};
  }
  STRIA_RETURN_IF_ERROR(database_.script("PRAGMA synchronous=FULL"));
  const Status outcome = database_.run("UPDATE meta SET value = value + 1 WHERE key = 'syncs'");
  STRIA_RETURN_IF_ERROR(database_.script("PRAGMA synchronous=NORMAL"));
  dirty_ = !outcome.ok();
  syncs_ += outcome.ok() ? 1 : 0;
  return outcome;
}

}  // namespace stria::server
