// Describes how a standby becomes the store's manager (`stria promote`).
//
// Problem: from some moment on only one of the two may change names, and none that a client was
// told of may be lost. Method, in this order: ask the servers whether the standby has every change;
// have the manager, if it answers, and then the servers keep the new epoch, after which the old
// manager gets nothing done any more; fetch what the old manager still has; become the manager.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/standby/follower.hpp"
#include "server/standby/names_copy.hpp"
#include "server/standby/role_calls.hpp"
#include "wire/standby.hpp"

namespace stria::server {

struct Promotion {
  NamesCopy& copy;
  Follower& follower;
  RoleCalls& calls;
  wire::Identity server{};  ///< the standby
  std::string address;      ///< its own
  /// The newest mark when it was decided; kept for a second attempt.
  std::optional<wire::Mark>& decided_by;
  /// The last step: the names are the manager's now. `away`: servers that didn't answer.
  std::function<Status(const wire::Promoted& done, std::vector<wire::Identity> away)> become;
};

/// kAborted, which says what to do, where the standby is behind or too few servers answer.
Result<wire::Promoted> promote(const Promotion& what, const wire::Promote& request);

}  // namespace stria::server
