// Collective I/O in which contributions travel along one axis of a grid of nodes at a time.
//
// Problem: where the blocks of an array are dealt to the nodes in turn, each node has bytes for
// most aggregators. Even with one delegate a node (delegates.hpp) every node then speaks to every
// other in every round, and with small blocks the messages cost more than their bytes.
// Method (multidimensional redistribution along the axes of a process grid, as in parallel FFTs and
// in proposals for MPICH's ROMIO; for all-to-alls in general: Bruck et al. 1997, IEEE TPDS 8(11)):
// aggregators that follow each other in the file are a column of a grid, and each node belongs to a
// row. First the ranks of a node gather what the node has for a column at one of them. Then that
// travels along the row, to the aggregator of the column that gathers for the row (its relay).
// Last, relays take part in two-phase in place of the ranks, and meet their own column only.
// Invariant: what a rank asked to move lies in exactly one parcel, which is described by the rank's
// own datatype and cut at columns, so that two-phase moves the same bytes as without the grid.
// Cost: where N nodes all meet each other, a node speaks to some 2 sqrt(N) others instead of N, by
// three messages a hop and as many a round; the bytes travel twice, and are copied twice more. A
// write agrees twice more, a read three times.
// Memory: a relay holds what its row has for its column: on average what a node has, and at most
// the column's domains. The planner leaves out requests of more than 32 MiB a node.
#pragma once

#include <span>

#include "access/context/context.hpp"
#include "access/plan/plan.hpp"
#include "access/request/endpoint.hpp"
#include "access/request/request.hpp"
#include "access/together/exchange/kept_buffers.hpp"

namespace stria::access {

/// Returns the rows of the grid by which this operation's contributions should travel; 0: straight
/// to the aggregators. Nothing is sent unless plan.axes is kAutomatic. Collective: yes; the same on
/// every rank.
int rows_of_grid(const Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, bool write);

struct ByAxes {
  int rows = 1;                          ///< what rows_of_grid() returns
  storage::File* direct_file = nullptr;  ///< for a write the same file past the page cache, or null
  KeptBuffers* kept = nullptr;           ///< what stays from one operation to the next, or null
};

/// Moves all ranks' streams. The status is the same on every rank; after a failure no bytes count.
/// Collective: yes.
Moved move_by_axes(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, Endpoint endpoint,
                   const ByAxes& by);

}  // namespace stria::access
