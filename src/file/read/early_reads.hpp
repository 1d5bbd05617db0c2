// Describes what a rank reads before it meets the others.
//
// Problem: the ranks meet to plan a read, and once more to agree on its outcome. Where ranks
// outnumber processors, a meeting takes longer than many a read.
// Method: on storage of the node's own, a rank whose bytes lie close, or in long pieces, reads them
// at once: no plan would have them read otherwise. Then the ranks meet, and tell what is left to be
// read and who has failed. Where nothing is left and nobody has failed, that meeting was all. Else
// what is left is planned and read by all, as it is without early reads.
// Cost: one meeting. A rank hears of a failure elsewhere only when its own bytes are read, so that
// these must be few. A file that is read by its parity takes another meeting.
#pragma once

#include <cstdint>

#include "access/plan/planner.hpp"
#include "file/session/open_file.hpp"

namespace stria::file {

/// Holds what a rank has read before the ranks meet.
struct EarlyReads {
  int64_t bytes = 0;  ///< bytes that are no longer pending
  bool has_failed = false;
};

/// Returns the plan by which those are read.
access::Plan plan_of_early_reads();
/// Tells whether this rank reads the pending gets at once. Local.
bool may_read_early(const OpenFile& file);

}  // namespace stria::file
