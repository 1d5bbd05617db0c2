// The store's manager in another process, as a server of the store asks it: at the address of which
// it has heard last, and then where its options say.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/objects/role_record.hpp"
#include "server/standby/role_calls.hpp"
#include "storage/striped/server_link.hpp"

namespace stria::server {

/// One thread may use this, but for link().
class ManagerElsewhere {
 public:
  /// `check`: of each new connection. `role` outlives this. `join`: a list of addresses, or empty.
  ManagerElsewhere(const std::string& join, Connect connect, RoleRecord& role,
                   std::function<Status(storage::ServerLink&, storage::Clock::time_point)> check);

  /// Returns a further link to it; null where no address is known. From any thread.
  std::unique_ptr<storage::ServerLink> link() const;
  Result<std::vector<std::byte>> ask(wire::Kind kind, std::vector<std::byte> body, std::chrono::milliseconds patience);
  /// Returns the version in which it answered.
  uint16_t version() const { return link_->version(); }
  std::string address() const { return link_->server(); }
  /// Tells the server that has just answered as the manager of that epoch that it is the manager no
  /// more, and asks another next. Returns the error that says it.
  Status refuse(uint64_t epoch);

 private:
  std::vector<wire::Address> joined_;
  Connect connect_;
  RoleRecord& role_;
  std::function<Status(storage::ServerLink&, storage::Clock::time_point)> check_;
  std::unique_ptr<storage::ServerLink> link_;
  std::string known_;  // the manager when the link was made
};

}  // namespace stria::server
