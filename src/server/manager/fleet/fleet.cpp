#include "server/manager/fleet/fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/check.hpp"
#include "server/manager/database/names_fields.hpp"

namespace stria::server {

namespace {

constexpr int64_t kDefaultStripeBytes = 256 << 10;
// A server that lives sends news every second. After a pause of the whole machine there is
// none of any, for a moment.
constexpr std::chrono::seconds kAliveFor{6};
constexpr std::chrono::seconds kPerhapsAliveFor{10};
// A server that lives has told a manager that has just started so by then.
constexpr std::chrono::seconds kAllHeardIn{3};
// One that had signed off, and was started while there was no manager, asks twice a second for one.
constexpr std::chrono::milliseconds kAllBackIn{1500};
constexpr const char* kWasEnded = "it was ended";
// A server with less than this part of its space free gets new files last among servers that all
// are nearly full by their reserve, or aren't yet.
constexpr int64_t kFullPart = 20;

}  // namespace

Fleet::Fleet(Names& names, std::shared_ptr<EventLog> log)
    : names_(names), roster_(names.database(), names.unsynced()), log_(std::move(log)) {}

void Fleet::tell(Level level, std::string_view what, int64_t server, const std::string& text) const {
  if (log_ != nullptr) {
    const std::string& address = members_.at(server).address;
    log_->tell({level,
                what,
                fmt::format("server {} ({}) {}", server, address.empty() ? "gone" : address, text),
                {{"of_server", std::to_string(server)}, {"address", address}}});
  }
}

Status Fleet::load() {
  STRIA_ASSIGN_OR_RETURN(const auto servers, roster_.servers());
  for (const Roster::Server& server : servers) {
    Member& member = members_[server.index];
    member.address = server.address;
    member.retired = server.retired;
    member.closed = server.closed;
    if (server.left && !server.retired) {
      member.condition = wire::Condition::kLeaving;
      member.why = kWasEnded;
    }
    if (!server.retired) {
      awaited_[server.identity] = server.index;
    }
  }
  started_ = Clock::now();
  return {};
}

// Where no server takes files, those that are late may be the ones that do.
bool Fleet::has_settled() const {
  const auto age = Clock::now() - started_;
  const auto may_come = [&](const auto& each) { return age < kAllBackIn || !members_.at(each.second).left(); };
  return std::none_of(awaited_.begin(), awaited_.end(), may_come) || age >= kPerhapsAliveFor ||
         (age >= kAllHeardIn && !able_servers().empty());
}

bool Fleet::heard_within(const Member& member, Clock::duration time) const {
  return member.last_pulse && Clock::now() - *member.last_pulse < time;
}

/// Returns the servers that take new files, in their order: those in good condition, or where there
/// is none of these, those that are nearly full.
std::vector<int64_t> Fleet::able_servers() const {
  using wire::Condition;
  const bool anyone_heard =
      std::any_of(members_.begin(), members_.end(), [&](const auto& each) { return heard_within(each.second, kAliveFor); });
  const Clock::duration time = anyone_heard ? kAliveFor : kPerhapsAliveFor;
  for (const Condition worst : {Condition::kGood, Condition::kNearlyFull}) {
    std::vector<int64_t> able;
    for (const auto& [index, member] : members_) {
      if (heard_within(member, time) && !member.closed && member.condition <= worst) {
        able.push_back(index);
      }
    }
    if (!able.empty()) {
      return able;
    }
  }
  return {};
}

Status Fleet::nobody_takes_files() const {
  std::string reasons;
  bool read_only = false;
  for (const auto& [index, member] : members_) {
    if (heard_within(member, kPerhapsAliveFor)) {
      reasons += fmt::format("{}server {} {}", reasons.empty() ? "" : "; ", index,
                             member.closed ? "is closed to new files (stria server new-files)"
                                           : fmt::format("is {}: {}", condition_name(member.condition), member.why));
      read_only = read_only || member.condition == wire::Condition::kReadOnly;
    }
  }
  return reasons.empty()
             ? Status(ErrorCode::kIo, "no I/O server of this store is up")
             : Status(read_only ? ErrorCode::kReadOnly : ErrorCode::kIo, "no server of this store takes new files: " + reasons);
}

// Looks at all stretches of `wanted` servers in their order, round and round: best has the fewest
// nearly full servers, then the least load on all of them, then the least on the first. Among
// equals they take turns. Returns the place of its first in `able`.
size_t Fleet::best_first(std::span<const int64_t> able, size_t wanted) const {
  STRIA_ASSERT(0 < wanted && wanted <= able.size(), wanted, able.size());
  std::tuple<int64_t, int64_t, int64_t> least;
  size_t best = 0;
  for (size_t turn = 0; turn < able.size(); ++turn) {
    const size_t first = (next_first_ + turn) % able.size();
    int64_t full = 0;
    int64_t load_bytes = 0;
    for (size_t slot = 0; slot < wanted; ++slot) {
      const Member& server = members_.at(able[(first + slot) % able.size()]);
      full += server.free_bytes < server.total_bytes / kFullPart ? 1 : 0;
      load_bytes += server.load_bytes;
    }
    const std::tuple now(full, load_bytes, members_.at(able[first]).load_bytes);
    if (turn == 0 || now < least) {
      least = now;
      best = first;
    }
  }
  return best;
}

// The first server goes round, or is chosen by load, so that small files spread.
Result<Placement> Fleet::place(const wire::Open& request) {
  const std::vector<int64_t> able = able_servers();
  if (able.empty()) {
    return nobody_takes_files();
  }
  const auto count = static_cast<int64_t>(able.size());
  Placement placement;
  placement.stripe_bytes = request.stripe_bytes == 0 ? kDefaultStripeBytes : request.stripe_bytes;
  const int64_t wanted = request.server_count == 0 ? count : std::min(request.server_count, count);
  if (!wire::Layout{placement.stripe_bytes, wanted}.valid()) {
    return Status(ErrorCode::kInvalidArgument, "stripes are of 4 KiB to 1 GiB");
  }
  // A server that takes no files is left out as if it were none of the store's.
  auto first = static_cast<size_t>(std::lower_bound(able.begin(), able.end(), request.first_server) - able.begin());
  if (request.first_server < 0) {
    first = request.by_load ? best_first(able, static_cast<size_t>(wanted)) : next_first_;
    next_first_ = (first + 1) % able.size();
    // The load is counted at once: else a crowd of new files would go to one server before its next
    // pulse.
    members_.at(able[first % able.size()]).load_bytes += placement.stripe_bytes;
  }
  for (size_t slot = 0; slot < static_cast<size_t>(wanted); ++slot) {
    placement.servers.push_back(able[(first + slot) % able.size()]);
  }
  STRIA_CHECK(wanted >= 1 && static_cast<int64_t>(placement.servers.size()) == wanted && wanted <= count, wanted, count);
  return placement;
}

Status Fleet::describe(std::span<const int64_t> servers, std::vector<wire::ServerPlace>& slots) const {
  for (const int64_t place : servers) {
    const auto found = members_.find(wire::server_of(place));
    if (found == members_.end()) {
      return Status(ErrorCode::kCorrupted, "the file is on a server that the store doesn't know");
    }
    slots.push_back({found->first, found->second.address, wire::is_second(place)});
  }
  return {};
}

Result<int64_t> Fleet::index_of(const wire::Identity& server) const {
  const auto found = indices_.find(server);
  return found != indices_.end() ? Result<int64_t>(found->second)
                                 : Status(ErrorCode::kNotFound, "the store has not heard of that server yet");
}

bool Fleet::anyone_left() const {
  return std::any_of(members_.begin(), members_.end(), [](const auto& each) { return each.second.left(); });
}

Status Fleet::check_present(std::span<const int64_t> servers) const {
  for (const int64_t place : servers) {
    const int64_t server = wire::server_of(place);
    if (const auto found = members_.find(server); found != members_.end() && found->second.left()) {
      return Status(ErrorCode::kAborted,
                    fmt::format("server {} ({}) has ended, and the file that was written has a part there: "
                                "it can't be opened before that server is started again",
                                server, found->second.address));
    }
  }
  return {};
}

wire::PulseAnswer Fleet::store_of(int64_t server) const {
  return {server, names_.seals().store, static_cast<uint64_t>(now_ns() / 1000000), {}, names_.seals().epoch};
}

// Two directories can't answer at one address: the one that is heard of has it.
void Fleet::give_address(int64_t server, const std::string& address) {
  for (auto& [index, member] : members_) {
    if (index != server && member.address == address) {
      member.address.clear();
      member.last_pulse.reset();
      tell(Level::kWarning, "server_gone", index, fmt::format("is gone: server {} answers at its address now", server));
    }
  }
  members_[server].address = address;
}

Result<wire::PulseAnswer> Fleet::pulse(const wire::Pulse& said) {
  if (said.address.empty()) {
    return store_of(0);
  }
  STRIA_ASSIGN_OR_RETURN(const int64_t index, roster_.register_server(said.server, said.address));
  const bool is_new = !members_.contains(index);
  give_address(index, said.address);
  indices_[said.server] = index;
  awaited_.erase(said.server);
  if (said.server == own_server_) {
    own_index_ = index;
  }
  Member& member = members_[index];
  const bool was_silent = !member.last_pulse || member.told_silent;
  if (member.left()) {
    // What can't be noted now is noted when the manager has started again, and hears the server.
    static_cast<void>(with_reserve(names_.reserve(), [&] { return roster_.set_left(index, false); }));
    member.condition = wire::Condition::kGood;
    member.why.clear();
  }
  member.last_pulse = Clock::now();
  member.total_bytes = said.total_bytes;
  member.free_bytes = said.free_bytes;
  member.load_bytes = member.load_bytes / 2 + said.busy_bytes;
  member.told_silent = false;
  if (was_silent) {
    tell(Level::kInfo, "server_joined", index, is_new ? "is new in the store" : "is there again");
  }
  STRIA_RETURN_IF_ERROR(with_reserve(names_.reserve(), [&] { return roster_.removed(index, said.removed); }));
  wire::PulseAnswer answer = store_of(index);
  STRIA_ASSIGN_OR_RETURN(answer.remove, roster_.to_remove(index));
  // A loss of power must not bring back the name of a file whose bytes are gone.
  STRIA_RETURN_IF_ERROR(answer.remove.empty() ? Status()
                                              : with_reserve(names_.reserve(), [&] { return names_.unsynced().sync(); }));
  return answer;
}

Status Fleet::hear(const wire::ServerCondition& said) {
  // A server may end before a manager that has just started has heard its pulse.
  const auto known = said.condition == wire::Condition::kLeaving ? awaited_.find(said.server) : awaited_.end();
  STRIA_ASSIGN_OR_RETURN(const int64_t index, known != awaited_.end() ? known->second : index_of(said.server));
  Member& member = members_.at(index);
  const bool changes = member.condition != said.condition;
  member.condition = said.condition;
  member.why = said.why;
  if (member.left()) {
    member.last_pulse.reset();
  }
  if (changes && said.condition == wire::Condition::kGood) {
    tell(Level::kInfo, "server_condition", index, "takes new files again");
  } else if (changes) {
    const bool is_bad = said.condition == wire::Condition::kReadOnly || said.condition == wire::Condition::kFailing;
    tell(is_bad ? Level::kError : Level::kWarning, "server_condition", index,
         member.left() ? "signs off"
                       : fmt::format("takes no new files, as it is {}: {}", condition_name(said.condition), said.why));
  }
  const bool left_now = changes && member.left();
  return left_now ? with_reserve(names_.reserve(), [&] { return roster_.set_left(index, true); }) : Status();
}

wire::StoreServers Fleet::servers() const {
  wire::StoreServers list;
  for (const auto& [index, member] : members_) {
    if (member.retired) {
      continue;
    }
    wire::StoreServers::Entry entry;
    entry.place = {index, member.address, false};
    if (member.last_pulse) {
      entry.total_bytes = member.total_bytes;
      entry.free_bytes = member.free_bytes;
      entry.load_bytes = member.load_bytes;
      entry.silent_ms = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - *member.last_pulse).count();
    }
    list.servers.push_back(std::move(entry));
  }
  return list;
}

wire::Conditions Fleet::conditions() const {
  wire::Conditions list;
  for (const auto& [index, member] : members_) {
    if (!member.retired) {
      list.entries.push_back({index, member.condition, member.closed, member.why});
    }
  }
  return list;
}

Status Fleet::set_new_files(const Caller& caller, const wire::NewFiles& request) {
  if (!caller.is_super) {
    return Status(ErrorCode::kPermissionDenied, "only root and the manager's user say which servers take new files");
  }
  const auto found = members_.find(request.server);
  if (found == members_.end() || found->second.retired) {
    return Status(ErrorCode::kNotFound, "the store has no server " + std::to_string(request.server));
  }
  STRIA_RETURN_IF_ERROR(with_reserve(names_.reserve(), [&] { return roster_.set_new_files(request.server, request.taken); }));
  found->second.closed = !request.taken;
  tell(Level::kInfo, "new_files", request.server, request.taken ? "is open to new files" : "is closed to new files");
  return {};
}

// A server that is up may go only if nothing is lost with it. One that was retired stays so: the
// request may come twice.
Result<wire::Retired> Fleet::retire(const Caller& caller, const wire::Retire& request) {
  if (!caller.is_super) {
    return Status(ErrorCode::kPermissionDenied, "only root and the manager's user take a server out of the store");
  }
  const auto found = members_.find(request.server);
  if (found == members_.end()) {
    return Status(ErrorCode::kNotFound, "the store has no server " + std::to_string(request.server));
  }
  if (request.server == own_index_) {
    return Status(ErrorCode::kInvalidArgument,
                  "server " + std::to_string(request.server) + " is the manager, without which there is no store");
  }
  Member& member = found->second;
  wire::Retired answer;
  STRIA_ASSIGN_OR_RETURN(answer.files, roster_.count_parts(request.server));
  if (answer.files > 0 && !request.lost && !member.retired) {
    return answer;
  }
  if (answer.files > 0 && heard_within(member, kAliveFor)) {
    return Status(ErrorCode::kInvalidArgument, "server " + std::to_string(request.server) + " is up, and " +
                                                   std::to_string(answer.files) +
                                                   " files have a part on it: nothing is lost yet; end it first");
  }
  STRIA_RETURN_IF_ERROR(with_reserve(names_.reserve(), [&] { return roster_.retire(request.server); }));
  tell(Level::kWarning, "server_retired", request.server, "was taken out of the store");
  member = {.retired = true};
  std::erase_if(awaited_, [&](const auto& each) { return each.second == request.server; });
  answer.done = true;
  return answer;
}

void Fleet::tidy() {
  int64_t known = 0;
  int64_t up = 0;
  int64_t take = 0;
  for (auto& [index, member] : members_) {
    if (member.retired) {
      continue;
    }
    ++known;
    const bool is_up = heard_within(member, kPerhapsAliveFor);
    up += is_up ? 1 : 0;
    take += is_up && !member.closed && member.condition == wire::Condition::kGood ? 1 : 0;
    // The server may be one of which this manager has never heard.
    const bool was_waited_for = member.last_pulse || Clock::now() - started_ >= kPerhapsAliveFor;
    if (!is_up && was_waited_for && !member.left() && !member.address.empty() && !member.told_silent) {
      member.told_silent = true;
      tell(Level::kError, "server_silent", index, fmt::format("was not heard of for {} seconds", kPerhapsAliveFor.count()));
    }
  }
  counts_.servers = known;
  counts_.up = up;
  counts_.take_new_files = take;
}

}  // namespace stria::server
