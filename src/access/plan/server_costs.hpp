// Describes what it costs servers when each rank sends them its own pieces, beside an exchange
// between the ranks first.
//
// Problem: a description of many pieces is a short message, but the servers still look at each
// piece, and at each block of which a request touches a part (its checksum changes, and its lock
// excludes others). An exchange moves every byte once more, and leaves whole blocks.
// Method: both are counted in bytes that could be exchanged meanwhile, an exchange's own work for
// each piece of a read too. The prices are measured
// (docs/performance.md).
// Cost: O(streams), without a message: each rank counts its own, and the agreement adds them up.
#pragma once

#include <cstdint>
#include <span>

#include "access/plan/planner.hpp"
#include "access/request/request.hpp"

namespace stria::access {

/// Returns the shape of a rank's own lanes.
IndependentShape shape_of(std::span<const Lane> lanes, bool write);

/// Returns what a rank's own requests cost the servers beyond their bytes, in bytes that could be
/// exchanged meanwhile. 0 where the storage has no servers that take datatypes.
int64_t server_cost_bytes(const IndependentShape& shape, const storage::Capabilities& capabilities);

/// Tells whether each rank should ask the servers by itself. The same on every rank.
bool is_cheap_for_servers(const RequestShape& shape, bool on_one_node);

}  // namespace stria::access
