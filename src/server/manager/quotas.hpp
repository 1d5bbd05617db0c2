// Describes how much of the store a user may have, and how much a directory: the manager's side.
//
// Method: servers tell the sizes of parts that have changed (objects/growth.hpp); the table `sizes`
// keeps them. What lies below a directory with a quota, when that is set or when it comes there,
// has the directory's number in `members`. A file belongs to its owner's account, and to that of
// the nearest directory above it that has a quota. The sums are made anew by one pass over the
// sizes now and then, which takes at most a twentieth of the manager's time; in between new files
// are counted up. Nothing is counted where there are no quotas.
// For one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "server/manager/fleet/fleet.hpp"
#include "server/manager/names/names.hpp"
#include "wire/quotas.hpp"

namespace stria::server {

class Quotas {
 public:
  /// Both outlive this.
  Quotas(Names& names, const Fleet& fleet) : names_(names), fleet_(fleet) {}
  Status load();

  Status set(const Caller& caller, const wire::SetQuota& wanted);
  /// Returns all for who may do everything; a user's own, and those of directories, for others.
  Result<wire::Quotas> list(const Caller& caller);
  /// A server of the store says this.
  Result<wire::UsageAnswer> hear(const wire::Usage& usage);

  /// kNoSpace, with whose quota it is, when the caller may not make a file there.
  Status may_make(const Caller& caller, const std::string& path);
  /// A name has come there: what it names belongs to the directory's account now.
  Status came(const std::string& path);
  /// Names, owners or sizes are others now.
  void changed() { dirty_ = true; }
  /// Must be called every second or so.
  void tidy();

 private:
  using Clock = std::chrono::steady_clock;
  struct Limit {
    int64_t bytes = 0;
    int64_t files = 0;
  };
  struct Used {
    int64_t bytes = 0;
    int64_t files = 0;
  };
  /// Returns the inodes on the way to a name, as far as there are any, from the root on.
  Result<std::vector<int64_t>> chain(const std::string& path);
  /// `ended`: a directory whose quota is about to end.
  Status take_in(int64_t inode, int64_t directory, int64_t ended = 0);
  Status count();
  Status keep_sizes(int64_t server, const wire::Usage& usage);
  Result<std::vector<wire::Account>> accounts_of(uint64_t file);
  Result<bool> all_told();
  Status over(const wire::Account& account, bool makes_file) const;
  std::string sentence(const wire::Account& account, const Limit& limit, const Used& used) const;
  bool has_directories() const;

  Names& names_;
  const Fleet& fleet_;
  std::map<wire::Account, Limit> limits_;
  std::map<wire::Account, Used> used_;
  std::map<uint64_t, std::string> paths_;  ///< paths of directories with a quota, as they were set
  bool dirty_ = true;
  Clock::time_point next_count_ = {};
};

}  // namespace stria::server
