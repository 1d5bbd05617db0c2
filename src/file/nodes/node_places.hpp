// Places for parts on the nodes' own disks: "{node}" in the hint stria_part_places.
//
// Problem: a disk in a node is the fastest place for a checkpoint, and no other node sees it.
// Method: each part lies on the node of the rank that makes it, in the place of that node: its name
// stands for "{node}". Parity lies on the nodes that have the fewest files. Ranks of other nodes
// reach them through one that sees them (nodes_driver.hpp). When the file is opened, on whatever
// nodes, each rank looks which of its files it sees.
// Cost: one gathering of names when a file is made; two small reductions when it is opened.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "file/session/environment.hpp"

namespace stria::file {

/// Tells whether places have "{node}" in them.
bool name_nodes(const std::vector<std::string>& places);
/// Finds the nodes' names, and makes the driver of `environment` one that reaches the places of all
/// nodes. Collective: yes.
Status begin_on_nodes(Environment& environment);
/// Ends a call in which some rank may still ask others: returns when no rank does any more, and all
/// is removed that is to be. Collective: yes.
void end_on_nodes(Environment& environment);
/// Returns the node of the rank that makes part `part` of `parts`.
int node_of_part(const Comm& comm, int part, int parts);
/// Returns the nodes for the parity of a file of so many parts: those with the fewest files, the
/// last first.
std::vector<int> nodes_of_parity(const Comm& comm, int parts, int parities);
/// Returns the places as they are on a node; without "{node}", and where none was named, as they
/// are.
std::vector<std::string> places_on(const Environment& environment, int node);
/// Says how many files of a set a node has, where one that is lost takes more than the parity makes
/// up for; else empty.
std::string warn_of_shared_nodes(const Comm& comm, const std::string& path, int parts, int parities);

/// Has the driver of `environment` reach files that lie at `real_paths` on some nodes' own disks.
/// Whether there are some that this or another rank doesn't see by itself, but others do: then they
/// are served. Collective: yes; the same everywhere.
bool reach_nodes(Environment& environment, const std::vector<std::string>& real_paths);

}  // namespace stria::file
