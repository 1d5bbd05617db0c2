// Finds who a connection's client is, by what it has proven and what the kernel says.
#pragma once

#include <optional>
#include <string>

#include "server/manager/names/permissions.hpp"
#include "wire/trust/key.hpp"
#include "wire/trust/munge.hpp"

namespace stria::server {

/// Returns the user of the process at the other end of a Unix socket, by the kernel; none for
/// others.
std::optional<wire::User> peer_of(int socket);

/// Returns the address at the other end of a socket, for people: "10.0.0.7:40112", or "unix" with
/// the user of the process there.
std::string name_of_peer(int socket);

/// Returns how the client has to prove who it is.
wire::ProofKind wanted_proof(const wire::Key* key, const wire::Munge* munge, const std::optional<wire::User>& peer,
                             const wire::Claim& claim);

/// Returns who a credential of MUNGE says it is, with the groups that this machine knows.
Result<Caller> caller_of(const wire::Munge& munge, const std::string& credential, const wire::Proof& proof);

/// Returns who another client is, once it has proven what it had to. kPermissionDenied when its key
/// is over.
Result<Caller> caller_of(const wire::Key* key, const std::optional<wire::User>& peer, const wire::Claim& claim);

}  // namespace stria::server
