// Moves all pending puts of a new file by the plan of all ranks.
//
// What is gathered on the way is kept. The last time, a rank that moves its bytes alone hands it in
// before its last bytes are written.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "access/failure/abort_signal.hpp"
#include "access/failure/message_signal.hpp"
#include "access/move.hpp"
#include "file/session/open_file.hpp"
#include "file/write/metadata/gathering.hpp"
#include "file/write/target/new_file.hpp"

namespace stria::file {

/// Knows how the ranks of one move hear that it has failed on one of them.
class MoveSignal {
 public:
  /// Collective: yes.
  MoveSignal(OpenFile& file, const access::Plan& plan, const access::RequestShape& shape);
  MoveSignal(const MoveSignal&) = delete;
  MoveSignal& operator=(const MoveSignal&) = delete;

  access::AbortSignal* get() const { return signal_; }
  /// The ranks of a node write in these turns, one after the other; null where they need none.
  NodeTurn* turn() const { return turn_; }
  /// Ends this rank's part, and returns what has become of the move as far as the rank knows.
  Status end(Status mine) { return signal_->end(std::move(mine)); }

 private:
  NodeTurn* turn_;
  FailureWord on_node_;
  access::WordSignal by_memory_{on_node_};
  std::optional<access::MessageSignal> by_messages_;
  access::AbortSignal* signal_ = &by_memory_;
};

/// Says how what is pending moves, and where to.
struct DataMove {
  NewFile& target;
  Gathering& gathering;
  const access::Plan& plan;
  access::StorageUse use;
  bool checksums = false;
  bool last = false;  ///< everything is gathered afterwards
};

/// Opens what this rank needs and moves. `prepare` is called in between, to do what else there is
/// to do meanwhile. What the ranks chose besides the plan is noted. The outcome is this rank's own.
/// Collective: yes.
Status move_data(OpenFile& file, const DataMove& data, MoveSignal& signal, const std::function<Status()>& prepare);

}  // namespace stria::file
