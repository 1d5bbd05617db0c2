// Describes what the ranks of a collective request agree on before they move: how large it is,
// where it lies, and the plan.
//
// Problem: the agreement is the fixed cost of a small call.
// Method: ranks of one node meet once in memory that they share, and bring what they have left to
// do. Otherwise few ranks gather their requests in one step (gathered_requests.hpp), and many need
// two reductions and a broadcast.
// Cost: no message on one node, otherwise log2(ranks) short ones per rank, or three times as many.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "access/context/context.hpp"
#include "access/plan/plan.hpp"
#include "access/together/domains/gathered_requests.hpp"
#include "access/together/node/kept_windows.hpp"
#include "base/check.hpp"

namespace stria::access {

/// Says how far a rank is when it comes to the meeting. Of several ranks, the last stage counts.
enum class Stage : int64_t { kAllToDo, kMoved, kFailed };

inline bool is_stage(Stage stage) {
  return Stage::kAllToDo <= stage && stage <= Stage::kFailed;
}

/// What a rank has done before the meeting.
struct Arrival {
  Stage stage = Stage::kAllToDo;
  bool was_short = false;  ///< it has moved one short piece (short_calls.hpp)
};

/// A collective request with what the ranks agreed on.
struct Agreed {
  std::vector<Lane> lanes;  ///< this rank's, with the hulls of all
  Plan plan = {};
  int64_t granule_bytes = 1;
  int64_t total_bytes = 0;  ///< bytes of all ranks that are left to move
  bool all_moved = false;   ///< nothing is left to move
  bool failed = false;      ///< a rank that tried to move its bytes before the meeting has failed
  bool is_off = false;      ///< a rank does without the others: each moves what it has, alone
  /// All ranks' requests, where they were gathered.
  std::optional<GatheredRequests> gathered = {};

  /// Says what the last stage of all ranks means. \pre total_bytes is known
  void set_stage(Stage last) {
    STRIA_ASSERT(total_bytes >= 0 && is_stage(last), total_bytes, last);
    failed = last == Stage::kFailed;
    all_moved = last == Stage::kMoved && total_bytes == 0;
  }
};

/// Agrees on what is left to move, by `windows` or, where they are null, by messages.
/// Collective: yes.
Agreed agree_on_request(Context& context, NodeWindows* windows, std::span<const Lane> lanes, Arrival arrival, bool write);

/// Does the same as Comm::agree(), but without a message where all is well and the ranks share
/// `windows`.
Status agree_on_outcome(Context& context, NodeWindows* windows, const Status& mine);

/// Returns the windows that the ranks share where they are all on one node, made at the first call.
/// Null: messages are used instead. Collective: yes.
NodeWindows* windows_of(Context& context, KeptWindows* kept, std::span<const Lane> lanes);

}  // namespace stria::access
