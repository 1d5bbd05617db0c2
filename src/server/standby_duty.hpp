// Describes what a server does that is the standby of its store's manager: it follows, and takes
// over when it is told to.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/connections/shared_state.hpp"
#include "server/standby/promotion.hpp"

namespace stria::server {

class StandbyDuty {
 public:
  struct Options {
    std::string copy_path;  ///< the path of its copy of the names
    std::string names_path;
    std::function<std::unique_ptr<storage::ServerLink>()> link;  ///< to the manager
    Connect connect;
    std::function<const std::string&()> address;  ///< its own
    /// This makes the manager of those names, for whom the servers `away` didn't answer.
    std::function<Result<std::unique_ptr<Manager>>(std::vector<wire::Identity> away)> open_manager;
  };
  /// `shared` gets what it has to know of a standby, and outlives this.
  StandbyDuty(SharedState& shared, Options options);

  /// It may be promoted, even if it doesn't find the manager.
  bool has_copy() const { return copy_.exists(); }
  void start() { follower_.start(); }
  void stop() { follower_.stop(); }

 private:
  /// A promotion whose last step is left: the copy is the names of this server as the manager.
  struct Begun {
    wire::Promoted done;
    std::vector<wire::Identity> away;
  };
  Result<wire::Promoted> take_over(const wire::Promote& request);
  Result<wire::Promoted> go_on();
  Status become(const wire::Promoted& done, std::vector<wire::Identity> away);
  Status work_as_manager(const Begun& begun);

  SharedState& shared_;
  Options options_;
  NamesCopy copy_;
  Follower follower_;
  RoleCalls calls_;
  std::optional<wire::Mark> decided_by_;
  std::optional<Begun> begun_;
};

/// Returns whom a server joins, by its options and by what it has become: empty, where it is the
/// manager. A standby that was promoted is the manager, whatever it was started as; a manager that
/// was replaced is one no more.
Result<std::string> whom_to_join(const std::string& join, const std::string& names_path, const SharedState& shared);

}  // namespace stria::server
