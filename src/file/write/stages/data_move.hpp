// Moves all pending puts of a new file by the plan of all ranks.
//
// What is gathered on the way is kept. The last time, a rank that moves its bytes alone hands it in
// before its last bytes are written.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "access/failure/abort_signal.hpp"
#include "access/failure/message_signal.hpp"
#include "access/move.hpp"
#include "base/out_of_memory.hpp"
#include "file/move/progress_meter.hpp"
#include "file/session/session.hpp"
#include "file/write/metadata/gathering.hpp"
#include "file/write/target/new_file.hpp"

namespace stria::file {

/// One collective move. Built and run once, by all ranks.
class DataMove {
 public:
  /// What a move works with; it must outlive this.
  struct Means {
    const Environment& environment;
    const storage::Capabilities& capabilities;  ///< of rank 0's file
    std::span<DatasetEntry> datasets;
    NewFile& file;
    Gathering& gathering;
    access::MemoryReserve& reserve;
    PhaseTimes& times;
    const std::function<void(const Progress&)>& progress;
  };
  struct What {
    std::span<const Transfer> pending;
    bool checksums = false;
    bool last = false;  ///< everything is gathered afterwards
  };

  /// Finds out how the ranks hear of failures. Collective: yes.
  DataMove(const Means& means, const access::Plan& plan, const access::RequestShape& shape);
  DataMove(const DataMove&) = delete;
  DataMove& operator=(const DataMove&) = delete;

  /// Opens what this rank needs and moves. `prepare` is called in between where there is anything
  /// else to do meanwhile. The outcome is this rank's own. Collective: yes.
  template <typename Prepare>
  Status run(const access::StorageUse& use, const What& what, Prepare&& prepare) {
    const Status ready = or_out_of_memory([&]() -> Status {
      STRIA_RETURN_IF_ERROR(reserve_space(use));
      STRIA_RETURN_IF_ERROR(prepare());
      // A rank whose chunks all lie with others still has the sums of its rows.
      return open(use, !what.pending.empty() || means_.gathering.has_row_sums());
    });
    return signal_->end(transfer(ready, what));
  }
  /// What the ranks chose besides the plan; empty where that says all.
  const std::string& choice() const { return choice_; }

 private:
  bool is_alone() const { return plan_.as<access::Alone>() != nullptr; }
  Status reserve_space(const access::StorageUse& use);
  Status open(const access::StorageUse& use, bool has_data);
  Status transfer(const Status& ready, const What& what);
  Status move(TransferSet& set, const What& what, ProgressMeter& progress);

  Means means_;
  const access::Plan& plan_;
  std::string choice_;
  NodeTurn* turn_;
  FailureWord on_node_;
  access::WordSignal by_memory_{on_node_};
  std::optional<access::MessageSignal> by_messages_;
  access::AbortSignal* signal_ = &by_memory_;
};

}  // namespace stria::file
