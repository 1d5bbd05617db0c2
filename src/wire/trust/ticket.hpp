// The manager's word for what a client may do with a file's bytes, which the client shows to the
// I/O servers.
//
// Problem: only the manager knows owners and modes, and it is not to be asked when data move. A
// client's own word is worth nothing.
// Method: the manager seals number, rights and end of time with a secret that only the servers of
// the store have (BLAKE2b with a key, 128 bits). Each request about bytes carries a ticket, and a
// server looks at nothing but the ticket. Time is the manager's clock, of which the servers hear
// every second, so that their own needn't be right.
// Cost: 25 bytes a request, and a fraction of a microsecond to check them. Rights that are taken
// away last until the ticket's end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stria/status.hpp"
#include "wire/form/codec.hpp"

namespace stria::wire {

using StoreSecret = std::array<std::byte, 32>;

/// Names the store whose secret this is, without telling the secret.
std::array<std::byte, 16> store_identity(const StoreSecret& secret);

/// Returns the secret by which the manager of that epoch (wire/standby.hpp) seals tickets: the
/// store's own for the first one. Tickets of the manager before are then none any more.
StoreSecret ticket_secret(const StoreSecret& secret, uint64_t epoch);

/// A right that tickets alone have: to copy a part while it moves, and nothing besides.
inline constexpr uint8_t kMayMove = 8;

struct Ticket {
  static constexpr const char* kName = "ticket";
  uint8_t rights = 0;       ///< kMayRead, kMayWrite, kMayMove; without any, a file's size
  uint64_t expires_ms = 0;  ///< since 1970, by the manager's clock
  std::array<std::byte, 16> seal{};
  bool operator==(const Ticket&) const = default;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Where the ticket begins in every body that bears one: after the file's number.
inline constexpr size_t kTicketPlace = 8;
inline constexpr size_t kTicketBytes = 25;

/// Returns a ticket for the file, sealed.
Ticket issue_ticket(const StoreSecret& secret, uint64_t file, uint8_t rights, uint64_t expires_ms);

/// Tells whether the ticket is one that was issued for the file, expired or not.
bool is_genuine(const StoreSecret& secret, uint64_t file, const Ticket& ticket);

/// Returns what a server says to a ticket that isn't genuine: another manager may have sealed it.
Status foreign_ticket();
bool is_foreign_ticket(const Status& status);

}  // namespace stria::wire
