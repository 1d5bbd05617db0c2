#include "server/connections/tickets.hpp"

#include <algorithm>
#include <chrono>

namespace stria::server {

namespace {

int64_t steady_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

bool Tickets::Known::has(uint64_t file, const wire::Ticket& ticket, uint64_t secret_number) const {
  return secret_number != 0 && std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
           return entry.secret_number == secret_number && entry.file == file && entry.ticket == ticket;
         });
}

void Tickets::Known::add(uint64_t file, const wire::Ticket& ticket, uint64_t secret_number) {
  entries_[next_] = {file, secret_number, ticket};
  next_ = (next_ + 1) % entries_.size();
}

void Tickets::seal_by(const wire::StoreSecret& secret) {
  if (secret_number_ == 0 || secret != secret_) {
    secret_ = secret;
    ++secret_number_;
  }
}

void Tickets::fence(uint64_t epoch) {
  const std::lock_guard lock(mutex_);
  if (knows_store_) {
    seal_by(wire::ticket_secret(store_secret_, epoch));
  }
}

void Tickets::learn(const wire::StoreSecret& secret, uint64_t epoch, uint64_t manager_now_ms) {
  const std::lock_guard lock(mutex_);
  store_secret_ = secret;
  knows_store_ = true;
  seal_by(wire::ticket_secret(secret, epoch));
  ahead_ms_ = static_cast<int64_t>(manager_now_ms) - steady_ms();
}

bool Tickets::is_genuine(uint64_t file, const wire::Ticket& ticket, Known& known) const {
  if (known.has(file, ticket, secret_number_)) {
    return true;
  }
  wire::StoreSecret secret;
  uint64_t secret_number = 0;
  {
    const std::lock_guard lock(mutex_);
    secret = secret_;
    secret_number = secret_number_;
  }
  const bool genuine = secret_number != 0 && wire::is_genuine(secret, file, ticket);
  if (genuine) {
    known.add(file, ticket, secret_number);
  }
  return genuine;
}

Status Tickets::check(uint64_t file, const wire::Ticket& ticket, uint8_t any_of, Known& known) const {
  if (!is_genuine(file, ticket, known)) {
    return wire::foreign_ticket();
  }
  if (ticket.expires_ms < static_cast<uint64_t>(ahead_ms_ + steady_ms())) {
    return Status(ErrorCode::kPermissionDenied, "the ticket has expired");
  }
  if (any_of != 0 && (ticket.rights & any_of) == 0) {
    return Status(ErrorCode::kPermissionDenied, "the ticket doesn't allow that");
  }
  return {};
}

}  // namespace stria::server
