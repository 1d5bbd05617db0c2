// The I/O servers as the manager knows them: who lives, which of them take new files, and on which
// a new file lies. For one thread.
//
// Each server says every second that it lives, and how its disk is. One that is nearly full, whose
// disk is read-only or fails, that has signed off or was closed by hand, gets no new files while
// another can take them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/events/event_log.hpp"
#include "server/manager/fleet/roster.hpp"
#include "server/manager/names/names.hpp"
#include "wire/upkeep.hpp"

namespace stria::server {

/// Says how many servers there are; read by any thread.
struct FleetCounts {
  std::atomic<int64_t> servers = 0;
  std::atomic<int64_t> up = 0;
  std::atomic<int64_t> take_new_files = 0;
};

class Fleet {
 public:
  /// `names` outlives this.
  Fleet(Names& names, std::shared_ptr<EventLog> log);

  /// Loads what the database knows of servers.
  Status load();
  /// Nobody waits for a server that is known not to answer.
  void is_away(const wire::Identity& server) { awaited_.erase(server); }
  /// False for some seconds after the start, while a server that the store knows was not heard of:
  /// new files wait, so that they lie on all servers that live.
  bool has_settled() const;
  /// Names the server with which the manager shares its process; it can't be taken out.
  void lives_with(const wire::Identity& server) { own_server_ = server; }
  Roster& roster() { return roster_; }

  /// Returns where a new file goes.
  Result<Placement> place(const wire::Open& request);
  /// Describes the servers' places, by slot. `servers`: as a file's row has them, with second
  /// parts.
  Status describe(std::span<const int64_t> servers, std::vector<wire::ServerPlace>& slots) const;
  /// kNotFound for one that was not heard of yet.
  Result<int64_t> index_of(const wire::Identity& server) const;
  /// kAborted, which names it, when one of the servers has signed off and not come back.
  Status check_present(std::span<const int64_t> servers) const;
  /// True when check_present() could fail.
  bool anyone_left() const;

  Result<wire::PulseAnswer> pulse(const wire::Pulse& said);
  Status hear(const wire::ServerCondition& said);
  wire::StoreServers servers() const;
  wire::Conditions conditions() const;
  Status set_new_files(const Caller& caller, const wire::NewFiles& request);
  Result<wire::Retired> retire(const Caller& caller, const wire::Retire& request);

  /// Tells of servers that are silent. Must be called every second or so.
  void tidy();
  const FleetCounts& counts() const { return counts_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Member {
    std::string address = {};
    std::optional<Clock::time_point> last_pulse = {};  // none since the start, or it has left
    int64_t total_bytes = 0;
    int64_t free_bytes = 0;
    /// What was moved of late: halved with each pulse, and grown by what that pulse tells.
    int64_t load_bytes = 0;
    wire::Condition condition = wire::Condition::kGood;
    std::string why = {};
    bool closed = false;
    bool retired = false;
    bool told_silent = false;
    bool left() const { return condition == wire::Condition::kLeaving; }
  };
  bool heard_within(const Member& member, Clock::duration time) const;
  std::vector<int64_t> able_servers() const;
  Status nobody_takes_files() const;
  size_t best_first(std::span<const int64_t> able, size_t wanted) const;
  void give_address(int64_t server, const std::string& address);
  /// Returns what a server is told, without files to remove.
  wire::PulseAnswer store_of(int64_t server) const;
  void tell(Level level, std::string_view what, int64_t server, const std::string& text) const;

  Names& names_;
  Roster roster_;
  std::shared_ptr<EventLog> log_;
  std::map<int64_t, Member> members_;
  std::map<wire::Identity, int64_t> indices_;  // the indices of those heard of
  std::map<wire::Identity, int64_t> awaited_;  // known since the start, and not heard of yet
  Clock::time_point started_ = Clock::now();
  std::optional<wire::Identity> own_server_;
  int64_t own_index_ = -1;
  size_t next_first_ = 0;
  FleetCounts counts_;
};

}  // namespace stria::server
