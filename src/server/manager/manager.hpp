// The manager's side of the protocol. Names are kept by names.hpp. This class keeps what holds only
// while clients are connected: which session has which file open, which files are locked, which
// servers are alive. For one thread, which may wait for the disk.
//
// Invariant: a file without a name lives as long as a session has it open, or may come back and
// claim it. Handles belong to a session. A session whose connection has ended has none, and claims
// them again when it returns. Whoever gets a ticket (wire/ticket.hpp) for a file was allowed to
// have it at that moment; a handle's ticket is renewed only while the file's mode still allows
// that, or for its owner, who may change the mode.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "server/manager/names.hpp"
#include "server/manager/replies.hpp"
#include "server/manager/roster.hpp"
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
};

struct Answer {
  Status status;
  std::vector<std::byte> body;
  int64_t handles = 0;  ///< that the session has afterwards
};

class Manager {
 public:
  /// Tickets are good for `ticket_life`.
  static Result<std::unique_ptr<Manager>> open(const std::string& path, std::chrono::milliseconds ticket_life);
  /// The server with which the manager shares its process; it can't be taken out.
  void lives_with(const wire::Identity& server) { own_server_ = server; }
  Manager(std::unique_ptr<Names> names, std::chrono::milliseconds ticket_life)
      : names_(std::move(names)),
        roster_(names_->database(), names_->unsynced()),
        replies_(names_->database()),
        ticket_life_(ticket_life) {}

  Answer answer(const Question& question);
  /// The session's connection ended.
  void session_ended(const wire::Identity& session);
  /// To be called every second or so.
  void tidy();

 private:
  using Clock = std::chrono::steady_clock;
  struct Alive {
    Clock::time_point last_pulse;
    int64_t total_bytes = 0;
    int64_t free_bytes = 0;
    /// What was moved of late: halved with each pulse, and grown by what that pulse tells.
    int64_t load_bytes = 0;
  };
  using HandleKey = std::pair<wire::Identity, uint64_t>;

  Answer dispatch(const Question& question);
  Result<wire::Attributes> stat(const Question& question, const std::string& path);
  /// A ticket and how long it is good.
  wire::Renewed ticket_for(uint64_t file, uint8_t rights) const;
  Status room_for_handle(const wire::Identity& session) const;
  Answer change(const Question& question);
  Answer change_once(const Question& question);
  /// What frees space, and finds none, is done again with what is kept for it.
  template <typename Body>
  Status with_reserve(Body body) {
    const Status outcome = body();
    return outcome.code() == ErrorCode::kNoSpace && names_->reserve().give_up() ? body() : outcome;
  }
  Result<wire::Opened> open_file(const Question& question, const wire::Open& request);
  Result<wire::Opened> describe(const NamedFile& file, uint8_t rights);
  Result<Placement> place(const wire::Open& request);
  size_t best_first(std::span<const int64_t> able, size_t wanted) const;
  Result<wire::Renewed> reclaim(const Question& question, const wire::Handle& handle);
  void hold(const HandleKey& key, uint64_t file, bool exclusive);
  void let_go(const HandleKey& key);
  Status unnamed(std::optional<uint64_t> file);
  void give_address(int64_t server, const std::string& address);
  /// What a server is told, without files to remove.
  wire::PulseAnswer store_of(int64_t server) const;
  Result<wire::PulseAnswer> pulse(const wire::Pulse& pulse);
  Result<wire::StoreServers> servers();
  Result<wire::Retired> retire(const Question& question, const wire::Retire& request);
  std::vector<int64_t> heard_of_within(Clock::duration time) const;

  std::unique_ptr<Names> names_;
  Roster roster_;
  Replies replies_;
  std::chrono::milliseconds ticket_life_;
  std::map<HandleKey, std::pair<uint64_t, bool>> handles_;  // file, exclusive
  std::map<wire::Identity, int64_t> handle_counts_;
  std::map<uint64_t, int64_t> open_count_;
  std::map<uint64_t, HandleKey> locked_;
  std::map<uint64_t, Clock::time_point> nameless_;  // since when nobody had it open
  std::map<int64_t, Alive> alive_;
  std::map<int64_t, std::string> addresses_;
  std::set<int64_t> retired_;
  std::optional<wire::Identity> own_server_;
  int64_t own_index_ = -1;
  size_t next_first_ = 0;
  int64_t ticks_ = 0;
};

}  // namespace stria::server
