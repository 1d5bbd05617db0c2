// What the manager knows of the I/O servers: who lives, and where a new file goes.
#include <algorithm>
#include <tuple>

#include "server/manager/manager.hpp"
#include "server/manager/names_fields.hpp"

namespace stria::server {

namespace {

constexpr int64_t kDefaultStripeBytes = 256 << 10;
// A server that lives sends news every second. After a pause of the whole machine there is
// none of any, for a moment.
constexpr std::chrono::seconds kAliveFor{6};
constexpr std::chrono::seconds kPerhapsAliveFor{10};
// A server with less than this part of its space free gets new files last.
constexpr int64_t kFullPart = 20;

}  // namespace

/// The servers of which there was news of late, in their order.
std::vector<int64_t> Manager::heard_of_within(Clock::duration time) const {
  std::vector<int64_t> servers;
  for (const auto& [index, alive] : alive_) {
    if (Clock::now() - alive.last_pulse < time) {
      servers.push_back(index);
    }
  }
  return servers;
}

// Looks at all stretches of `wanted` servers in their order, round and round: best has the fewest
// nearly full servers, then the least load on all of them, then the least on the first. Among
// equals they take turns. Returns the place of its first in `able`.
size_t Manager::best_first(std::span<const int64_t> able, size_t wanted) const {
  std::tuple<int64_t, int64_t, int64_t> least;
  size_t best = 0;
  for (size_t turn = 0; turn < able.size(); ++turn) {
    const size_t first = (next_first_ + turn) % able.size();
    int64_t full = 0;
    int64_t load_bytes = 0;
    for (size_t slot = 0; slot < wanted; ++slot) {
      const Alive& server = alive_.at(able[(first + slot) % able.size()]);
      full += server.free_bytes < server.total_bytes / kFullPart ? 1 : 0;
      load_bytes += server.load_bytes;
    }
    const std::tuple now(full, load_bytes, alive_.at(able[first]).load_bytes);
    if (turn == 0 || now < least) {
      least = now;
      best = first;
    }
  }
  return best;
}

// The first server goes round, or is chosen by load, so that small files spread.
Result<Placement> Manager::place(const wire::Open& request) {
  std::vector<int64_t> able = heard_of_within(kAliveFor);
  if (able.empty()) {
    able = heard_of_within(kPerhapsAliveFor);
  }
  if (able.empty()) {
    return Status(ErrorCode::kIo, "no I/O server of this store is up");
  }
  const auto count = static_cast<int64_t>(able.size());
  Placement placement;
  placement.stripe_bytes = request.stripe_bytes == 0 ? kDefaultStripeBytes : request.stripe_bytes;
  const int64_t wanted = request.server_count == 0 ? count : std::min(request.server_count, count);
  if (!wire::Layout{placement.stripe_bytes, wanted}.valid()) {
    return Status(ErrorCode::kInvalidArgument, "stripes are of 4 KiB to 1 GiB");
  }
  // A server that isn't up is left out as if it were none of the store's.
  auto first = static_cast<size_t>(std::lower_bound(able.begin(), able.end(), request.first_server) - able.begin());
  if (request.first_server < 0) {
    first = request.by_load ? best_first(able, static_cast<size_t>(wanted)) : next_first_;
    next_first_ = (first + 1) % able.size();
    // Counted at once: else a crowd of new files would go to one server before its next pulse.
    alive_.at(able[first % able.size()]).load_bytes += placement.stripe_bytes;
  }
  for (size_t slot = 0; slot < static_cast<size_t>(wanted); ++slot) {
    placement.servers.push_back(able[(first + slot) % able.size()]);
  }
  return placement;
}

wire::PulseAnswer Manager::store_of(int64_t server) const {
  return {server, names_->secret(), static_cast<uint64_t>(now_ns() / 1000000), {}};
}

// Two directories can't answer at one address: the one that is heard of has it.
void Manager::give_address(int64_t server, const std::string& address) {
  for (auto& [index, held] : addresses_) {
    if (index != server && held == address) {
      held.clear();
      alive_.erase(index);
    }
  }
  addresses_[server] = address;
}

Result<wire::PulseAnswer> Manager::pulse(const wire::Pulse& said) {
  if (said.address.empty()) {
    return store_of(0);
  }
  STRIA_ASSIGN_OR_RETURN(const int64_t index, roster_.register_server(said.server, said.address));
  give_address(index, said.address);
  if (said.server == own_server_) {
    own_index_ = index;
  }
  const int64_t before_bytes = alive_[index].load_bytes;
  alive_[index] = {Clock::now(), said.total_bytes, said.free_bytes, before_bytes / 2 + said.busy_bytes};
  STRIA_RETURN_IF_ERROR(with_reserve([&] { return roster_.removed(index, said.removed); }));
  wire::PulseAnswer answer = store_of(index);
  STRIA_ASSIGN_OR_RETURN(answer.remove, roster_.to_remove(index));
  // A loss of power must not bring back the name of a file whose bytes are gone.
  STRIA_RETURN_IF_ERROR(answer.remove.empty() ? Status() : with_reserve([&] { return names_->unsynced().sync(); }));
  return answer;
}

Result<wire::StoreServers> Manager::servers() {
  wire::StoreServers list;
  for (const auto& [index, address] : addresses_) {
    if (retired_.contains(index)) {
      continue;
    }
    wire::StoreServers::Entry entry;
    entry.place = {index, address};
    if (const auto found = alive_.find(index); found != alive_.end()) {
      entry.total_bytes = found->second.total_bytes;
      entry.free_bytes = found->second.free_bytes;
      entry.load_bytes = found->second.load_bytes;
      entry.silent_ms = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - found->second.last_pulse).count();
    }
    list.servers.push_back(std::move(entry));
  }
  return list;
}

// A server that is up may go only if nothing is lost with it. One that was retired stays so: the
// request may come twice.
Result<wire::Retired> Manager::retire(const Question& question, const wire::Retire& request) {
  if (!question.caller.is_super) {
    return Status(ErrorCode::kPermissionDenied, "only root and the manager's user take a server out of the store");
  }
  if (!addresses_.contains(request.server)) {
    return Status(ErrorCode::kNotFound, "the store has no server " + std::to_string(request.server));
  }
  if (request.server == own_index_) {
    return Status(ErrorCode::kInvalidArgument,
                  "server " + std::to_string(request.server) + " is the manager, without which there is no store");
  }
  wire::Retired answer;
  STRIA_ASSIGN_OR_RETURN(answer.files, roster_.count_parts(request.server));
  if (answer.files > 0 && !request.lost && !retired_.contains(request.server)) {
    return answer;
  }
  const std::vector<int64_t> up = heard_of_within(kAliveFor);
  if (answer.files > 0 && std::find(up.begin(), up.end(), request.server) != up.end()) {
    return Status(ErrorCode::kInvalidArgument, "server " + std::to_string(request.server) + " is up, and " +
                                                   std::to_string(answer.files) +
                                                   " files have a part on it: nothing is lost yet; end it first");
  }
  STRIA_RETURN_IF_ERROR(with_reserve([&] { return roster_.retire(request.server); }));
  retired_.insert(request.server);
  addresses_[request.server].clear();
  alive_.erase(request.server);
  answer.done = true;
  return answer;
}

}  // namespace stria::server
