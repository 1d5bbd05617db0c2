// The manager's marks, as it tells them to the store's servers: which standby has every change, or
// that none has (wire/standby.hpp).
//
// Problem: a manager that goes on without its standby must not be replaced by it unnoticed, even
// when both ends of a cut network act at once. Method: more than half of the servers, without the
// standby, have to keep the mark before a client is answered again; a standby that is to take over
// asks so many that one of them has it.
// Cost: a message to each server when a standby comes or is lost.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "server/manager/succession/change_stream.hpp"
#include "server/objects/role_record.hpp"
#include "server/standby/role_calls.hpp"

namespace stria::server {

/// One thread may use this.
class Marks {
 public:
  /// Says what the manager's thread is asked.
  struct Manager {
    std::function<Result<wire::Mark>(const wire::Identity& in_step, uint64_t newest)> next_mark;
    std::function<Result<std::vector<Roster::Server>>(const wire::Identity& standby)> voters;
  };
  /// All but `calls` outlive this. `self`: this server; `address`: its own.
  Marks(RoleCalls calls, Manager manager, ChangeStream& stream, RoleRecord& role, const wire::Identity& self)
      : calls_(std::move(calls)), manager_(std::move(manager)), stream_(stream), role_(role), self_(self) {}

  /// Tells those servers that don't know yet. To be called again and again.
  Status tell(uint64_t epoch, const std::string& address);
  /// True when some server doesn't know the mark yet, and now and then, as new ones may have come.
  /// To be called some times a second, and not during tell().
  bool is_due();

 private:
  /// Has another mark be made, if that one is another and not older.
  void give_way_to(const wire::Mark& known);
  /// Takes what a server said; false where another is the manager.
  Status take(const wire::Identity& server, const Result<wire::RoleTold>& told);

  RoleCalls calls_;
  Manager manager_;
  ChangeStream& stream_;
  RoleRecord& role_;
  wire::Identity self_;
  std::optional<wire::Mark> mark_;
  uint64_t newest_ = 0;       // number of a mark that a server knows
  bool is_outdated_ = false;  // by that one
  std::set<wire::Identity> told_;
  size_t voters_ = 0;
  int calls_since_ = 0;
};

}  // namespace stria::server
