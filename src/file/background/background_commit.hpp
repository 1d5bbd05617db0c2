// The rest of a commit after commit_async() has returned: what this rank still has to write, and on
// rank 0 the file's name.
//
// The session fills it in and gives it to the thread (background.hpp); from then on the session has
// no part in it. It owns its handles. The program's ticket only reads the board.
//
// Method: each rank writes what it has and tells its node's board. The node's first rank, when all
// of its node have written, makes that durable and tells rank 0 (node_links.hpp). Rank 0, when it
// has heard of all nodes, gives the file its name and tells them; they tell their boards.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/waiting.hpp"
#include "file/background/node_links.hpp"
#include "file/background/outcome_board.hpp"
#include "file/background/pace.hpp"
#include "file/background/staging.hpp"
#include "file/background/staging_place.hpp"
#include "file/background/unpublished_file.hpp"
#include "file/parity/lone_parity.hpp"
#include "storage/driver.hpp"

namespace stria::file {

class BackgroundCommit {
 public:
  struct About {
    std::string path;  ///< as the program gave it
    std::string stored_path;
    uint16_t trace_id = 0;
    bool sync = true;
    int64_t writers = 1;         ///< ranks of a node that write at a time
    int64_t bytes_a_second = 0;  ///< that a node writes; 0: any number
    WaitLimits wait_limits{};
  };
  BackgroundCommit(About about, int64_t staging_limit_bytes, Comm& comm)
      : about_(std::move(about)),
        staging_(staging_limit_bytes),
        board_(std::make_shared<OutcomeBoard>(comm)),
        node_size_(comm.node_size()),
        ranks_(key_of(comm)) {}

  // For the session.
  Staging& staging() { return staging_; }
  /// Makes the node's board. Collective: yes; the outcome is the same everywhere.
  Status share(Comm& comm);
  /// Connects the nodes, where there are several. Collective: yes; the outcome is the same
  /// everywhere.
  Status join(Comm& comm);
  /// Rank 0: how large the file is to be.
  void set_end(int64_t file_bytes) { file_bytes_ = file_bytes; }
  /// Takes this rank's handles: rank 0 has `target`, another rank `opened` or nothing. The first
  /// rank of another node has `opened` where it is to sync. `drain`, of rank 0, is to follow where
  /// the file is written at another place than its own.
  struct Handles {
    std::shared_ptr<storage::Driver> driver;
    std::unique_ptr<UnpublishedFile> target;
    std::unique_ptr<storage::File> opened;
    std::unique_ptr<Drain> drain;
    std::unique_ptr<LoneParity> parity;  ///< rank 0's, where the file gets some
  };
  void take_handles(Handles handles) noexcept;

  // For the thread.
  bool is_root() const { return board_->is_root(); }
  /// Whether this rank speaks for its node.
  bool is_first() const { return board_->is_first(); }
  /// The same for commits of one communicator.
  const void* ranks() const { return ranks_; }
  std::shared_ptr<const OutcomeBoard> board() const { return board_; }
  /// The node writes nothing of this file before it has written all of another, which was begun
  /// before by the same ranks. Null: there is none.
  void follow(std::shared_ptr<const OutcomeBoard> before) noexcept { before_ = std::move(before); }
  const std::string& stored_path() const { return about_.stored_path; }
  uint16_t trace_id() const { return about_.trace_id; }
  /// How many ranks of the node must write before this one may, so that not too many do at a time.
  int64_t turns_to_wait() const {
    return std::max<int64_t>(board_->ranks_before() + 1 - about_.writers, 0) +
           (before_ != nullptr ? before_->ranks_to_come() : 0);
  }
  /// Writes a piece of what is staged. True once that was the last, and the others are told.
  bool write_piece(Pace& pace) noexcept;
  enum class Step { kNotYet, kGoesOn, kDone, kFailed };
  /// The first rank of a node: goes on if the others have come so far. Rank 0 ends the commit when
  /// all ranks have written, and tells the others; kGoesOn: it has done a piece of that.
  Step try_to_end(Pace& pace) noexcept;

  // For the program.
  bool is_done() const { return board_->decision().has_value(); }
  /// Waits until the commit has ended, and returns its outcome, which is the same on every rank.
  Status wait() const;
  const WaitLimits& wait_limits() const { return about_.wait_limits; }
  /// To be called while the program waits for this commit: rank 0 says when that lasts, and any
  /// rank ends the job after the deadline.
  void look_at_wait(LongWait& wait) const;
  /// The outcome; success until the commit has ended.
  Status outcome() const;

  /// Whether this is rank 0 of that communicator, and the program has not heard of the outcome.
  bool is_unheard_at(Comm& comm) const { return is_root() && ranks_ == key_of(comm) && !heard_; }
  /// Rank 0: says on standard error that the commit has failed, unless the program has heard of it
  /// or STRIA_VERBOSE is 0. Once.
  void tell_if_unheard() const;

 private:
  /// Tells one communicator from others. All of a single process count as one.
  static const void* key_of(Comm& comm) { return comm.size() == 1 ? nullptr : &comm.innermost(); }
  std::optional<Status> look(Pace& pace);
  Status end_node(const Status& written);
  std::optional<Status> collect_nodes();
  static std::optional<Status> hear(Link& link, const std::string& when_lost);
  std::optional<Status> end(const Status& written, Pace& pace);
  std::optional<Status> bring_piece(Pace& pace);
  Status publish();
  Status about_outcome(const Status& outcome) const;
  void leave_busy_processors() const;
  Status close() noexcept;
  void decide(const Status& outcome) noexcept;

  About about_;
  Staging staging_;
  std::shared_ptr<OutcomeBoard> board_;
  std::shared_ptr<const OutcomeBoard> before_;
  int64_t node_size_;
  bool has_begun_ = false;
  bool goes_on_ = false;  // the last look has done something
  const void* ranks_;
  std::vector<Peer> peers_;
  std::optional<Status> node_written_;
  int64_t file_bytes_ = 0;
  Handles handles_;
  mutable std::atomic<bool> heard_{false};  // by the program
};

}  // namespace stria::file
