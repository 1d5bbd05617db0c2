// What the ranks of a node tell each other of a commit in the background: memory that they share,
// and no call of MPI.
//
// Method: each rank has a place for its own outcome. Rank 0 reads them all, and puts the outcome of
// the commit into a second place of its own, where all read it. A rank whose process has ended
// without an outcome counts as failed.
#pragma once

#include <memory>
#include <optional>

#include "comm/comm.hpp"
#include "stria/status.hpp"

namespace stria::file {

class OutcomeBoard {
 public:
  /// Makes the board. \pre all ranks are on one node. Collective: yes; the status is this rank's.
  Status share(Comm& comm);

  int rank() const { return rank_; }
  int size() const { return size_; }

  // Any thread may call these, and none of them waits.
  /// Tells this rank's outcome. Once.
  void tell(const Status& outcome) const noexcept;
  /// Rank 0: the first failure, or success, once all have told theirs.
  std::optional<Status> collect() const;
  /// Rank 0: tells the outcome of the commit. Once.
  void decide(const Status& outcome) const noexcept;
  /// True once the commit's outcome is known.
  bool is_decided() const;
  /// The commit's outcome, if it is known or can't be any more.
  std::optional<Status> decision() const;

 private:
  struct Word;
  struct Part;
  Part& part(int rank) const;

  std::shared_ptr<SharedBuffer> memory_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace stria::file
