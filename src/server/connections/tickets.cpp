#include "server/connections/tickets.hpp"

namespace stria::server {

void Tickets::learn(const wire::StoreSecret& secret, uint64_t manager_now_ms) {
  const std::lock_guard lock(mutex_);
  secret_ = secret;
  manager_ms_ = manager_now_ms;
  heard_at_ = std::chrono::steady_clock::now();
}

Status Tickets::check(uint64_t file, const wire::Ticket& ticket, uint8_t any_of) const {
  wire::StoreSecret secret;
  uint64_t now_ms = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto since = std::chrono::steady_clock::now() - heard_at_;
    now_ms = manager_ms_ + static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
    secret = secret_;
  }
  if (!wire::is_genuine(secret, file, ticket)) {
    return Status(ErrorCode::kPermissionDenied, "the ticket isn't this store's for the file");
  }
  if (ticket.expires_ms < now_ms) {
    return Status(ErrorCode::kPermissionDenied, "the ticket has expired");
  }
  if (any_of != 0 && (ticket.rights & any_of) == 0) {
    return Status(ErrorCode::kPermissionDenied, "the ticket doesn't allow that");
  }
  return {};
}

}  // namespace stria::server
