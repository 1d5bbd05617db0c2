// The rest of a commit after commit_async() has returned: what this rank still has to write, and on
// rank 0 the file's name.
//
// The session fills it in and gives it to the thread (background.hpp); from then on the session has
// no part in it. It owns its handles. The program's ticket only reads the board.
//
// Method: each rank writes what it has and tells its node's board. When all of a node have written,
// its first rank goes on (commit_ending.hpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>

#include "comm/waiting.hpp"
#include "file/background/commit_ending.hpp"
#include "file/background/outcome_board.hpp"
#include "file/background/pace.hpp"
#include "file/background/staging.hpp"

namespace stria::file {

class BackgroundCommit {
 public:
  using About = AboutCommit;
  BackgroundCommit(About about, int64_t staging_limit_bytes, Comm& comm)
      : about_(std::move(about)),
        staging_(staging_limit_bytes),
        board_(std::make_shared<OutcomeBoard>(comm)),
        ending_(about_, board_),
        node_size_(comm.node_size()),
        ranks_(key_of(comm)) {}
  BackgroundCommit(const BackgroundCommit&) = delete;
  BackgroundCommit& operator=(const BackgroundCommit&) = delete;

  // The session calls the following functions.
  Staging& staging() { return staging_; }
  /// Makes the node's board. Collective: yes; the outcome is the same everywhere.
  Status share(Comm& comm);
  /// Connects the nodes, where there are several. Collective: yes; the outcome is the same
  /// everywhere.
  Status join(Comm& comm) { return ending_.join(comm); }
  /// Rank 0 says how large the file is to be.
  void set_end(int64_t file_bytes) { ending_.set_end(file_bytes); }
  using Handles = CommitEnding::Handles;
  void take_handles(Handles handles) noexcept;

  // The thread calls the following functions.
  bool is_root() const { return board_->is_root(); }
  /// Tells whether this rank speaks for its node.
  bool is_first() const { return board_->is_first(); }
  /// It is the same for commits of one communicator.
  const void* ranks() const { return ranks_; }
  std::shared_ptr<const OutcomeBoard> board() const { return board_; }
  /// The node writes nothing of this file before it has written all of another, which was begun
  /// before by the same ranks. Null: there is none.
  void follow(std::shared_ptr<const OutcomeBoard> before) noexcept { before_ = std::move(before); }
  const std::string& stored_path() const { return about_.stored_path; }
  uint16_t trace_id() const { return about_.trace_id; }
  /// Returns how many ranks of the node must write before this one may, so that not too many do at
  /// a time.
  int64_t turns_to_wait() const {
    return std::max<int64_t>(board_->ranks_before() + 1 - about_.writers, 0) +
           (before_ != nullptr ? before_->ranks_to_come() : 0);
  }
  /// Writes a piece of what is staged. True once that was the last, and the others are told.
  bool write_piece(Pace& pace) noexcept;
  enum class Step { kNotYet, kGoesOn, kDone, kFailed };
  /// The first rank of a node goes on if the others have come so far. Rank 0 ends the commit when
  /// all ranks have written, and tells the others; kGoesOn: it has done a piece of that.
  Step try_to_end(Pace& pace) noexcept;

  // The program calls the following functions.
  bool is_done() const { return board_->decision().has_value(); }
  /// Waits until the commit has ended, and returns its outcome, which is the same on every rank.
  Status wait() const;
  const WaitLimits& wait_limits() const { return about_.wait_limits; }
  /// Is called while the program waits for this commit: rank 0 says when that lasts, and any rank
  /// ends the job after the deadline.
  void look_at_wait(LongWait& wait) const;
  /// Returns the outcome; success until the commit has ended.
  Status outcome() const;

  /// Tells whether this is rank 0 of that communicator, and the program has not heard of the
  /// outcome.
  bool is_unheard_at(Comm& comm) const { return is_root() && ranks_ == key_of(comm) && !heard_; }
  /// Says, on rank 0 and on standard error, that the commit has failed, unless the program has
  /// heard of it or STRIA_VERBOSE is 0. Once.
  void tell_if_unheard() const;

 private:
  /// Tells one communicator from others. All of a single process count as one.
  static const void* key_of(Comm& comm) { return comm.size() == 1 ? nullptr : &comm.innermost(); }

  About about_;
  Staging staging_;
  std::shared_ptr<OutcomeBoard> board_;
  CommitEnding ending_;
  std::shared_ptr<const OutcomeBoard> before_;
  int64_t node_size_;
  bool has_begun_ = false;
  const void* ranks_;
  mutable std::atomic<bool> heard_{false};  // by the program
};

}  // namespace stria::file
