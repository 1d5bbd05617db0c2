// The manager's side of the protocol. Names are kept by names.hpp, and servers by fleet.hpp. This
// class keeps what holds only while clients are connected: which session has which file open, and
// which files are locked. For one thread, which may wait for the disk.
//
// Invariant: a file without a name lives as long as a session has it open, or may come back and
// claim it. Handles belong to a session. A session whose connection has ended has none, and claims
// them again when it returns. Whoever gets a ticket (wire/trust/ticket.hpp) for a file was allowed
// to have it at that moment; a handle's ticket is renewed only while the file's mode still allows
// that, or for its owner, who may change the mode.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/manager/database/replies.hpp"
#include "server/manager/fleet/fleet.hpp"
#include "server/manager/moves.hpp"
#include "server/manager/names/names.hpp"
#include "server/manager/names/names_backup.hpp"
#include "server/manager/names_check.hpp"
#include "server/manager/quotas.hpp"
#include "server/manager/succession/succession.hpp"
#include "server/manager/tree.hpp"
#include "wire/frame.hpp"
#include "wire/messages.hpp"

namespace stria::server {

/// A small request and who asks.
struct Question {
  wire::Identity session{};
  wire::Kind kind = wire::Kind::kError;
  uint64_t request = 0;
  std::vector<std::byte> body;
  Caller caller;
  uint16_t version = wire::kVersion;  ///< the version of the protocol that the asker speaks
};

struct Answer {
  Status status;
  std::vector<std::byte> body;
  int64_t handles = 0;  ///< handles that the session has afterwards
  /// The client may have it when the standby has this change; none: at once.
  std::optional<uint64_t> after_change = {};
  /// Nothing was done, as the manager has just started: it is to be asked again in a moment.
  bool too_early = false;
  /// There is so much in the log of the names that tidy() should come soon.
  bool log_is_long = false;
};

class Manager {
 public:
  struct Options {
    std::chrono::milliseconds ticket_life{300000};  ///< how long tickets are good
    std::shared_ptr<EventLog> log;                  ///< null: nothing is told
    std::shared_ptr<ChangeStream> stream;           ///< to a standby; null: there can't be one
    wire::Identity server{};                        ///< the one of its process; can't be taken out
    std::vector<wire::Identity> away = {};          ///< servers that didn't answer a moment ago
  };
  static Result<std::unique_ptr<Manager>> open(const std::string& path, const Options& options);
  Manager(std::unique_ptr<Names> names, const std::string& path, const Options& options);
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  Answer answer(const Question& question);
  /// Notes that the session's connection ended.
  void session_ended(const wire::Identity& session);
  /// Must be called every second or so, and after an answer that says so. Waits for the disk.
  void tidy();

  // Any thread may call these two.
  const FleetCounts& servers() const { return fleet_.counts(); }
  /// When the last whole backup was taken, in seconds since 1970; 0: none since the start.
  int64_t last_backup_s() const { return backup_.last_s(); }
  uint64_t epoch() const { return succession_.epoch(); }

  Succession& succession() { return succession_; }

 private:
  using Clock = std::chrono::steady_clock;
  using HandleKey = std::pair<wire::Identity, uint64_t>;

  Answer dispatch(const Question& question);
  /// Answers what only those ask who look after the store.
  Answer dispatch_upkeep(const Question& question);
  /// It makes a file, and it isn't known yet which servers live.
  bool is_too_early(const Question& question);
  Status check_renamed(const Question& question, const std::string& from);
  Result<wire::Attributes> stat(const Question& question, const std::string& path);
  /// Returns a ticket and how long it is good.
  wire::Renewed ticket_for(uint64_t file, uint8_t rights) const;
  Status room_for_handle(const wire::Identity& session) const;
  Answer change(const Question& question);
  Answer change_once(const Question& question);
  /// Gives the reply of before to the same request, with a ticket that is good from now.
  template <typename Reply>
  Answer open_as_before(const Question& question, std::span<const std::byte> before);
  Result<wire::Made> make_file(const Question& question, const wire::Open& request);
  Result<wire::Opened> open_file(const Question& question, const wire::Open& request);
  Result<wire::Opened> describe(const NamedFile& file, uint8_t rights);
  Result<wire::Renewed> reclaim(const Question& question, const wire::Handle& handle);
  void hold(const HandleKey& key, uint64_t file, bool exclusive);
  void let_go(const HandleKey& key);
  Status unnamed(std::optional<uint64_t> file);

  std::unique_ptr<Names> names_;
  Fleet fleet_;
  Replies replies_;
  NamesBackup backup_;
  Moves moves_;
  Quotas quotas_;
  NamesCheck check_;
  Tree tree_;
  Succession succession_;
  std::shared_ptr<ChangeStream> stream_;
  std::chrono::milliseconds ticket_life_;
  std::map<HandleKey, std::pair<uint64_t, bool>> handles_;  // file, exclusive
  std::map<wire::Identity, int64_t> handle_counts_;
  std::map<uint64_t, int64_t> open_count_;
  std::map<uint64_t, HandleKey> locked_;
  std::map<uint64_t, Clock::time_point> nameless_;  // since when nobody had it open
  int64_t ticks_ = 0;
};

}  // namespace stria::server
