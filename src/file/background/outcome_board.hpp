// Holds what the ranks of a node tell each other of a commit in the background: memory that they
// share, and no call of MPI.
//
// Method: each rank has a place for its own outcome. The node's first rank reads them all, and puts
// the outcome of the commit into a second place of its own, where all read it. A rank whose process
// has ended without an outcome counts as failed.
#pragma once

#include <sched.h>

#include <memory>
#include <optional>
#include <vector>

#include "comm/comm.hpp"
#include "stria/status.hpp"

namespace stria::file {

class OutcomeBoard {
 public:
  explicit OutcomeBoard(const Comm& comm);
  /// Makes the node's board. Collective: yes; the status is this rank's.
  Status share(Comm& comm);

  bool is_root() const { return is_first() && first_rank() == 0; }
  /// Tells whether this is the node's first rank.
  bool is_first() const { return node_rank_ == 0; }
  int first_rank() const { return ranks_[0]; }
  /// Returns the number of ranks of all nodes.
  int size() const { return size_; }

  // Any thread may call these, and none of them waits.
  /// How many of the node's ranks before this one have yet to tell their outcome.
  int64_t ranks_before() const;
  /// Returns the processors on which no rank of the job was bound to run when the board was made;
  /// empty where there is none, and where the node has ranks of the job that don't share this
  /// board.
  cpu_set_t idle_processors() const;
  /// Notes how much this rank has staged, and how much of it is written.
  void note_staged(int64_t bytes) const noexcept;
  void note_written(int64_t bytes) const noexcept;
  /// The same of all ranks of the node.
  struct Progress {
    int64_t staged_bytes = 0;
    int64_t written_bytes = 0;
  };
  Progress progress() const;
  /// Returns how many of the node's ranks have yet to tell their outcome.
  int64_t ranks_to_come() const;
  /// Tells this rank's outcome. Once.
  void tell(const Status& outcome) const noexcept;
  /// Returns, on the first rank, the first failure, or success, once all of the node have told
  /// theirs.
  std::optional<Status> collect() const;
  /// The first rank tells the node the outcome of the commit. Once.
  void decide(const Status& outcome) const noexcept;
  /// True once the commit's outcome is known.
  bool is_decided() const;
  /// Returns the commit's outcome, if it is known or can't be any more.
  std::optional<Status> decision() const;

 private:
  struct Word;
  struct Part;
  Part& part(int node_rank) const;
  int64_t count_untold(int end_rank) const;

  std::shared_ptr<SharedBuffer> memory_;
  std::vector<int> ranks_;  // the ranks of the node
  int node_rank_;
  int size_;
};

}  // namespace stria::file
