// The reply to the last change that a session asked for, so that the same request is not done
// twice. A session counts its requests up: one above all that have been remembered is new, and is
// not looked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "server/manager/database/database.hpp"
#include "stria/status.hpp"
#include "wire/messages.hpp"

namespace stria::server {

class Replies {
 public:
  /// The database outlives this.
  explicit Replies(Database& database) : database_(database) {}

  Status remember(const wire::Identity& session, uint64_t request, std::span<const std::byte> reply);
  Result<std::optional<std::vector<std::byte>>> recall(const wire::Identity& session, uint64_t request);
  Status forget_old_sessions();

 private:
  Database& database_;
  std::map<wire::Identity, uint64_t> last_;  // requests of sessions since the start
};

}  // namespace stria::server
