// The thread of a process that ends commits while the program computes.
//
// Problem: ranks that share several communicators may begin commits in different orders. A thread
// that waited for other ranks in one of them could keep those waiting in another.
// Method: the thread writes what its rank has, piece by piece, when it is its turn among the node's
// ranks; of several commits it takes the first that has its turn. Before each piece it looks which
// commits can be ended. Until then it sleeps, the longer the more
// ranks are before it, so that the waiting of many ranks costs no more than that of a few. On the
// first rank of a node it then looks now and then how far the others have come. Rank 0 of a file
// gives it its name.
// Those of one rank 0 get their names in the order in which their commits began. The thread has a
// low priority, takes no signals and never calls MPI.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/held.hpp"
#include "file/background/background_commit.hpp"
#include "stria/status.hpp"

namespace stria::file {

class Background {
 public:
  using Queue = std::list<std::shared_ptr<BackgroundCommit>>;

  /// Returns the process's. Never destroyed.
  static Background& instance();

  /// Starts the thread, unless it runs.
  Status start();
  /// Takes the one commit of the list. Never fails. \pre there is one, and the
  /// thread runs, as start() has seen to since finish()
  void take(Queue& commit) noexcept;
  /// Waits until no commit that this process has begun will still change the file at `stored_path`,
  /// which is a path as storage drivers take it. Says so when that lasts.
  void wait_for_name(const std::string& stored_path);
  /// Returns, on rank 0 of the communicator, the failure of a commit of it that nobody can wait for
  /// any more, and of which the program has not heard; each once. Else success.
  Status take_unheard_failure(Comm& comm);
  /// Waits until all commits have ended, says which have failed unheard, and ends the thread. It is
  /// called at the end of the program.
  void finish();

 private:
  using Find = std::function<std::shared_ptr<BackgroundCommit>()>;
  /// Waits until `under_way`, which is called with the lock, finds no commit any more.
  void wait_until_none(Held& lock, const Find& under_way);
  /// A commit that was begun and has not ended; null where none is meant.
  std::shared_ptr<BackgroundCommit> find_under_way(const Held& lock,
                                                   const std::function<bool(const BackgroundCommit&)>& is_meant) const;
  /// Has the commit wait for the last one of the same ranks.
  void follow_last(const Held& lock, BackgroundCommit& commit) noexcept;
  /// Does what can be done for the commits that are to be ended. True if there was something.
  bool end_some(Held& lock);
  void run();
  /// Does one piece of work, with the lock given up meanwhile; false when there is none.
  bool work(Held& lock);
  /// Returns how long to sleep until there may be work, while there are commits.
  Pace::Clock::duration pause() const;

  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable ended_;
  Queue to_write_;
  Queue to_end_;  // those in which this rank is its node's first
  Queue failed_;  // the program may not have heard of it
  /// The board of each communicator's last commit, until its node has written all.
  std::map<const void*, std::shared_ptr<const OutcomeBoard>> last_boards_;
  Pace pace_;  // the thread's
  bool stopping_ = false;
  std::thread thread_;
  std::atomic<int> process_{0};  // the process that has the thread: a forked one has none
};

}  // namespace stria::file
