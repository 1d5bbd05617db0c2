// Moves all pending puts of a new file by the plan of all ranks.
//
// What is gathered on the way is kept. The last time, a rank that moves its bytes alone hands it in
// before its last bytes are written.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "access/failure/abort_signal.hpp"
#include "access/failure/message_signal.hpp"
#include "access/move.hpp"
#include "file/move/transfer.hpp"
#include "file/session/environment.hpp"
#include "file/write/metadata/gathering.hpp"
#include "file/write/target/new_file.hpp"

namespace stria::file {

/// Knows how the ranks of one move hear that it has failed on one of them.
class MoveSignal {
 public:
  /// `capabilities` are those of rank 0's file. Collective: yes.
  MoveSignal(Comm& comm, access::MemoryReserve& reserve, const access::Plan& plan, const access::RequestShape& shape,
             const storage::Capabilities& capabilities);
  MoveSignal(const MoveSignal&) = delete;
  MoveSignal& operator=(const MoveSignal&) = delete;

  access::AbortSignal* get() const { return signal_; }
  /// The ranks of a node write in these turns, one after the other; null where they need none.
  NodeTurn* turn() const { return turn_; }
  /// Ends this rank's part, and returns what has become of the move as far as the rank knows.
  Status end(const Status& mine) { return signal_->end(mine); }

 private:
  NodeTurn* turn_;
  FailureWord on_node_;
  access::WordSignal by_memory_{on_node_};
  std::optional<access::MessageSignal> by_messages_;
  access::AbortSignal* signal_ = &by_memory_;
};

/// Says what moves, and by what.
struct DataMove {
  std::span<const Transfer> pending;
  Catalog& catalog;
  const access::Plan& plan;
  access::StorageUse use;
  bool checksums = false;
  bool last = false;           ///< everything is gathered afterwards
  bool shares_writes = false;  ///< the file's storage takes the writes of several ranks at a time
};

/// Says what a move changes, besides the bytes of the file.
struct MovedTo {
  const Environment& environment;
  NewFile& file;
  Gathering& gathering;
  access::MemoryReserve& reserve;
  PhaseTimes& times;
  std::string& choice;  ///< what the ranks chose besides the plan; empty where that says all
};

/// Opens what this rank needs and moves. `prepare` is called in between, to do what else there is
/// to do meanwhile; `progress`, where it is one, as the bytes move. The outcome is this rank's own.
/// Collective: yes.
Status move_data(const DataMove& data, const MovedTo& to, MoveSignal& signal, const std::function<Status()>& prepare,
                 const std::function<void(const Progress&)>& progress);

}  // namespace stria::file
