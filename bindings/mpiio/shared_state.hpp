// What the ranks of an open file share: the shared file pointer and the turn of atomic mode.
//
// Problem: the usual home of a shared file pointer is a hidden file beside the data, which costs file-system operations, needs
// locks and is left behind by killed programs. Method: a number in memory that the ranks of a node share, advanced by an atomic
// addition; for ranks of several nodes an MPI window on rank 0. Either is made with the channel, once a communicator, and
// nothing of it has a name. Cost: nanoseconds on one node, a message on several.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "comm/comm.hpp"
#include "comm/node_locks.hpp"
#include "comm/node_meeting.hpp"
#include "comm/node_turn.hpp"
#include "job_board.hpp"
#include "nodes_board.hpp"

namespace stria::mpiio {

class SharedState {
 public:
  /// `comm` is the channel's, made from `parent`. Collective: yes; the outcome is the same everywhere.
  static Result<std::shared_ptr<SharedState>> create(Comm& comm, MPI_Comm parent);
  ~SharedState();
  SharedState(const SharedState&) = delete;
  SharedState& operator=(const SharedState&) = delete;

  /// Adds to the shared pointer (bytes of the view's stream) and returns what it was. Any rank at any time.
  int64_t advance(int64_t bytes);
  int64_t position() { return advance(0); }
  /// One rank sets it while no other uses it.
  void set(int64_t position);

  /// Rank 0 prepares a file just opened, before the others know that it is open.
  void begin(int64_t position);
  /// After a change of the view, which all ranks have entered: the pointer is at 0 again. Method: two pointers; the one that
  /// nobody uses is cleared by rank 0 long before it is needed, which spares a barrier.
  void restart(bool is_first_rank);

  /// The turn that atomic accesses take on one node; null when the ranks are on several nodes. Collective: yes at the first
  /// call.
  NodeTurn* atomic_turn(Comm& comm);
  /// What keeps writers on a node out of windows that are being sieved; null when the ranks don't share memory.
  NodeLocks* locks() const { return locks_.get(); }
  /// Where the ranks of one node agree in calls that all make; null when they don't share memory.
  NodeMeeting* meeting() const { return meeting_.get(); }
  /// Where the ranks of each node agree on background collectives, and where they learn of other nodes: null where there are
  /// none.
  JobBoard* board() const { return board_.get(); }
  NodesBoard* nodes() const { return nodes_.get(); }

 private:
  SharedState() = default;

  static constexpr int kTwins = 2;

  /// What the ranks of a node share, in the memory of its first rank.
  struct Shared {
    std::atomic<int64_t> pointers[kTwins];
    JobBoard::Place places[JobBoard::kPlaces];
  };

  /// What the first rank of each node has in the window; the pointers are rank 0's.
  struct Exposed {
    int64_t pointers[kTwins];
    NodesBoard::Exposed board;
  };

  Status share_on_node(Comm& comm);
  void expose(Comm& comm, MPI_Comm parent);
  void set(int twin, int64_t position);

  std::shared_ptr<SharedBuffer> memory_;      // a Shared
  int current_ = 0;                           // which of the twins
  std::atomic<int64_t>* pointers_ = nullptr;  // in memory_, where all ranks share it
  MPI_Win window_ = MPI_WIN_NULL;             // on several
  std::unique_ptr<JobBoard> board_;
  std::unique_ptr<NodesBoard> nodes_;
  std::unique_ptr<NodeLocks> locks_;
  std::unique_ptr<NodeMeeting> meeting_;
  std::unique_ptr<NodeTurn> turn_;
};

}  // namespace stria::mpiio
