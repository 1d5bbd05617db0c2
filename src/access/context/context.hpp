// Describes what every method of moving bytes works with, whatever it moves: the ranks, the file,
// the hints, the other writers, and how a failure is told.
#pragma once

#include <functional>
#include <span>

#include "access/failure/abort_signal.hpp"
#include "access/request/hints.hpp"
#include "access/request/request.hpp"
#include "access/writers/writers.hpp"
#include "comm/comm.hpp"
#include "comm/node_locks.hpp"
#include "comm/node_turn.hpp"
#include "storage/driver.hpp"
#include "stria/phases.hpp"

namespace stria::access {

/// Says which other writers the file may have meanwhile, and what keeps the writers out of each
/// other's windows.
struct OtherWriters {
  enum class Known {
    kAnybody,  ///< all that have the file open
    kNobody,   ///< only the ranks of the operation know the file, and they do nothing else with it
    /// The caller has locked the file exclusively from the first byte of a write to the last.
    kShutOut,
  };
  Known known = Known::kAnybody;
  NodeLocks* locks = nullptr;  ///< among the ranks of this node; null: none
  /// How the node stands to others; null: nothing is arranged with them.
  Writers* writers = nullptr;

  bool are_none() const { return known == Known::kNobody; }
  bool are_shut_out() const { return known == Known::kShutOut; }
};

/// Says what every method works with.
struct Context {
  Comm& comm;
  storage::File* file;  ///< this rank's handle; null only where the method needs none
  const ResolvedHints& hints;
  PhaseTimes& times;
  OtherWriters others = {};
  /// Ranks that move their bytes alone hear of failures by this; null: they don't.
  AbortSignal* signal = nullptr;
};

/// Holds what a caller that has planned a write with all ranks adds to it.
struct WriteAids {
  storage::File* direct_file = nullptr;  ///< the same file past the page cache; null: none
  /// It is held while writing to cached pages; null: not needed.
  NodeTurn* turn = nullptr;
  /// A write in batches calls this once, unless it has nothing to write, when all bytes of this
  /// rank are packed and the last are not yet written. Returns more to write together with them,
  /// which must stay until the write ends.
  std::function<std::span<const storage::WriteSegment>()> packed = {};
  /// Room for so many bytes, where the file keeps them as they are when they are written next: a
  /// batch is packed there, whatever memory holds it. Null when there is none; never throws.
  std::function<std::byte*(int64_t bytes)> room = {};
};

/// kAborted once the context's signal tells that another rank has failed; without a signal never.
/// Never blocks.
inline Status failure_elsewhere(const Context& context) {
  return failure_elsewhere(context.signal);
}
/// Tells the others that the operation has failed here, by the context's signal if it has one.
void tell_failure(const Context& context);

/// kCorrupted if a read without an error found fewer than all bytes of `lanes`: for files that
/// must have them.
Status require_all(const Moved& moved, const Context& context, std::span<const Lane> lanes);

}  // namespace stria::access
