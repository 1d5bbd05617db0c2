// Who a connection's client is, by what it has proven and what the kernel says.
#pragma once

#include <optional>

#include "server/manager/permissions.hpp"
#include "wire/key.hpp"

namespace stria::server {

/// The user of the process at the other end of a Unix socket, by the kernel; none for others.
std::optional<wire::User> peer_of(int socket);

/// True when the client has to prove its claim by a key.
bool needs_proof(const wire::Key* key, const std::optional<wire::User>& peer, const wire::Claim& claim);

/// Who it is, once it has proven what it had to. kPermissionDenied when its key is over.
Result<Caller> caller_of(const wire::Key* key, const std::optional<wire::User>& peer, const wire::Claim& claim);

}  // namespace stria::server
