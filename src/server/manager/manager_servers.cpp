// What the manager knows of the I/O servers: who lives, and where a new file goes.
#include <algorithm>

#include "server/manager/manager.hpp"
#include "server/manager/names_fields.hpp"

namespace stria::server {

namespace {

constexpr int64_t kDefaultStripeBytes = 256 << 10;
constexpr std::chrono::seconds kAliveFor{10};

}  // namespace

bool Manager::is_alive(int64_t server) const {
  const auto found = alive_.find(server);
  return found != alive_.end() && Clock::now() - found->second.last_pulse < kAliveFor;
}

// The first server goes round, so that small files spread.
Result<Placement> Manager::place(const wire::Open& request) {
  std::vector<int64_t> able;
  for (const auto& [index, address] : addresses_) {
    if (is_alive(index)) {
      able.push_back(index);
    }
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
  const auto named = std::lower_bound(able.begin(), able.end(), request.first_server) - able.begin();
  const int64_t first = request.first_server < 0 ? next_first_++ : named;
  for (int64_t slot = 0; slot < wanted; ++slot) {
    placement.servers.push_back(able[static_cast<size_t>((first + slot) % count)]);
  }
  return placement;
}

Result<wire::PulseAnswer> Manager::pulse(const wire::Pulse& said) {
  STRIA_ASSIGN_OR_RETURN(const int64_t index, names_->register_server(said.server, said.address));
  addresses_[index] = said.address;
  alive_[index] = {Clock::now(), said.total_bytes, said.free_bytes};
  STRIA_RETURN_IF_ERROR(names_->removed(index, said.removed));
  wire::PulseAnswer answer;
  answer.index = index;
  answer.secret = names_->secret();
  answer.now_ms = static_cast<uint64_t>(now_ns() / 1000000);
  STRIA_ASSIGN_OR_RETURN(answer.remove, names_->to_remove(index));
  return answer;
}

Result<wire::StoreServers> Manager::servers() {
  wire::StoreServers list;
  for (const auto& [index, address] : addresses_) {
    wire::StoreServers::Entry entry;
    entry.place = {index, address};
    if (const auto found = alive_.find(index); found != alive_.end()) {
      entry.total_bytes = found->second.total_bytes;
      entry.free_bytes = found->second.free_bytes;
      entry.silent_ms = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - found->second.last_pulse).count();
    }
    list.servers.push_back(std::move(entry));
  }
  return list;
}

}  // namespace stria::server
