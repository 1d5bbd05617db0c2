// Chooses the ranks that are aggregators: as many on each node as the hint cb_config_list says.
//
// Problem: nodes differ (some have the network card, some are busy with other work), and one
// aggregator per node is not always best.
// Method: ROMIO's list of "host:N" and "*:N". Each node takes the first entry that names it. The
// nodes then give aggregators in turn, so that neighbouring file domains lie on different nodes.
// Cost: O(ranks) for each choice. The nodes' names are exchanged once per file, as hashes, and only
// where there are several nodes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "access/request/aggregator_places.hpp"
#include "access/request/hints.hpp"
#include "comm/comm.hpp"

namespace stria::access {

/// Returns the hashed names of the nodes' hosts, by node, for ResolvedHints::node_hosts. On one
/// node nothing is sent. Collective: yes.
std::vector<uint64_t> hosts_of_nodes(Comm& comm, std::string_view own_host);

/// True when some node has a place for an aggregator. Otherwise the list has no effect, and the
/// message below says so.
inline constexpr const char* kNoPlaceForAggregators = "hint 'cb_config_list' names no node of these ranks and has no effect";
bool names_a_node(const ResolvedHints& hints, const Comm& comm);

/// cb_config_list as it took effect: the list, or where there is none, or none that names a node,
/// as many on each node as the node with the most of these aggregators has.
std::string places_in_effect(const ResolvedHints& hints, const Comm& comm, std::span<const int> aggregators);

/// Chooses the ranks of the aggregators, at least one: cb_nodes of them, or as many as
/// cb_config_list has places for, or `default_count`; never more than there are places. They come
/// by rank, or with `in_turns` one of each node after another.
std::vector<int> choose_aggregators(const Comm& comm, const ResolvedHints& hints, int default_count, bool in_turns);

}  // namespace stria::access
