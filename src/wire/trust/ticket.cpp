#include "wire/trust/ticket.hpp"

#include <sodium.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "wire/trust/user.hpp"

namespace stria::wire {

void Ticket::put(Writer& writer) const {
  writer.fixed(rights);
  writer.fixed(expires_ms);
  writer.bytes(seal);
}

void Ticket::get(Reader& reader) {
  rights = reader.fixed<uint8_t>();
  expires_ms = reader.fixed<uint64_t>();
  const auto from = reader.bytes(seal.size());
  std::copy(from.begin(), from.end(), seal.begin());
  if ((rights & ~(kMayRead | kMayWrite | kMayMove)) != 0) {
    reader.fail();
  }
}

std::array<std::byte, 16> store_identity(const StoreSecret& secret) {
  constexpr std::string_view kWhat = "the identity of a store";
  std::array<std::byte, 16> identity{};
  crypto_generichash(reinterpret_cast<unsigned char*>(identity.data()), identity.size(),
                     reinterpret_cast<const unsigned char*>(kWhat.data()), kWhat.size(),
                     reinterpret_cast<const unsigned char*>(secret.data()), secret.size());
  return identity;
}

StoreSecret ticket_secret(const StoreSecret& secret, uint64_t epoch) {
  if (epoch == 0) {
    return secret;
  }
  std::string what = "tickets of epoch ";
  what += std::to_string(epoch);
  StoreSecret derived{};
  crypto_generichash(reinterpret_cast<unsigned char*>(derived.data()), derived.size(),
                     reinterpret_cast<const unsigned char*>(what.data()), what.size(),
                     reinterpret_cast<const unsigned char*>(secret.data()), secret.size());
  return derived;
}

Status foreign_ticket() {
  return Status(ErrorCode::kPermissionDenied, "the ticket isn't this store's for the file", ErrorReason::kForeignTicket);
}

bool is_foreign_ticket(const Status& status) {
  return status.reason() == ErrorReason::kForeignTicket;
}

Ticket issue_ticket(const StoreSecret& secret, uint64_t file, uint8_t rights, uint64_t expires_ms) {
  Ticket ticket{rights, expires_ms, {}};
  static_assert(crypto_generichash_BYTES_MIN <= sizeof ticket.seal && crypto_generichash_KEYBYTES_MAX >= sizeof secret);
  std::array<unsigned char, 17> said{};
  for (size_t i = 0; i < 8; ++i) {
    said[i] = static_cast<unsigned char>(file >> (8 * i));
    said[8 + i] = static_cast<unsigned char>(expires_ms >> (8 * i));
  }
  said[16] = rights;
  crypto_generichash(reinterpret_cast<unsigned char*>(ticket.seal.data()), ticket.seal.size(), said.data(), said.size(),
                     reinterpret_cast<const unsigned char*>(secret.data()), secret.size());
  return ticket;
}

bool is_genuine(const StoreSecret& secret, uint64_t file, const Ticket& ticket) {
  const Ticket issued = issue_ticket(secret, file, ticket.rights, ticket.expires_ms);
  return sodium_memcmp(issued.seal.data(), ticket.seal.data(), ticket.seal.size()) == 0;
}

}  // namespace stria::wire
