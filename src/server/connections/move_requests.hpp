// Requests for parts that may be on their way to another server (objects/moving_parts.hpp).
#pragma once

#include <memory>
#include <span>

#include "server/connections/shared_state.hpp"
#include "wire/moves.hpp"

namespace stria::server {

/// Says who wants which part, with a ticket that was found good.
struct PartUse {
  uint64_t part = 0;
  wire::Ticket ticket;
  bool creates = false;
  wire::Striped place;  ///< the place as Objects::find() takes it
};

/// Finds the part's object, null where it has none. kNotFound when it is on its way. As long as the
/// caller has the object, the part isn't held for its move.
Result<std::shared_ptr<Object>> find_part(SharedState& shared, const PartUse& use);

Status sync_part(SharedState& shared, const wire::LocalFile& request);

/// Answers kMovePart. May wait for clients in the midst of a request.
Answer move_part(SharedState& shared, const Caller& caller, std::span<const std::byte> body);

}  // namespace stria::server
