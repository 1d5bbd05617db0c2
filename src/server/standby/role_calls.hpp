// Questions to many servers at once about who is the store's manager (wire/standby.hpp).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/manager/fleet/roster.hpp"
#include "storage/striped/server_link.hpp"
#include "wire/standby.hpp"

namespace stria::server {

/// A link to one of the addresses, as servers of the store speak to each other.
using Connect = std::function<std::unique_ptr<storage::ServerLink>(std::vector<wire::Address> addresses)>;

/// One thread may use this.
class RoleCalls {
 public:
  explicit RoleCalls(Connect connect) : connect_(std::move(connect)) {}

  /// Says what each server answers, by its identity; an error for one that doesn't, or is
  /// another's.
  using Answers = std::map<wire::Identity, Result<wire::RoleTold>>;
  Answers ask(std::span<const Roster::Server> servers, const wire::Role& what, std::chrono::milliseconds patience);

 private:
  Connect connect_;
  std::map<std::string, std::unique_ptr<storage::ServerLink>> links_;
};

/// Returns how many of so many servers have to know that the manager goes on without its standby.
inline size_t enough_to_go_on(size_t servers) {
  return servers / 2 + 1;
}

/// Returns how many of so many servers have to be asked so that one of them knows.
inline size_t enough_to_take_over(size_t servers) {
  return servers - enough_to_go_on(servers) + 1;
}

}  // namespace stria::server
