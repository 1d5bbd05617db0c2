// The numbers of a machine for `stria simulate`, measured on its ranks and its storage.
//
// Problem: a model predicts only as well as its numbers, and most users know none of theirs.
// Method: short runs that differ in one thing each, as those of storage_figures.hpp. Two lengths of
// a write give a rate and what a file costs besides; many short requests to one server give what a
// request costs it, those of one rank what a request takes on its way. The same bytes in few pieces
// and in many give what a piece costs the engine. Messages and copies are timed directly.
// Limits: a storage without servers counts as one. Locks, forwarders and controllers are not found.
#pragma once

#include <mpi.h>

#include <string>

#include "tune/measuring.hpp"

namespace stria::tool {

/// Measures, and returns a description as docs/simulate.md has it, with "measured" as the source of
/// each number. Throws stria::Error where the storage fails. Collective: yes; all get the same.
std::string described_machine(MPI_Comm comm, Measuring& measuring, const std::string& directory);

}  // namespace stria::tool
