// Holds what the ranks of an open file share: the shared file pointer and the turn of atomic mode.
//
// Problem: the usual home of a shared file pointer is a hidden file beside the data, which costs
// file-system operations, needs locks that reach every node, and is left behind by killed programs.
// Method: a number in memory that the ranks of rank 0's node share, advanced by an atomic addition;
// ranks of other nodes ask a thread of rank 0's process for it (nodes_message.hpp). It is made with
// the channel, once per communicator, and has no name anywhere.
// Cost: nanoseconds on rank 0's node, a round trip over the network on others.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "comm/comm.hpp"
#include "comm/node_locks.hpp"
#include "comm/node_meeting.hpp"
#include "comm/node_turn.hpp"
#include "mpiio/nodes/nodes_board.hpp"
#include "mpiio/nodes/nodes_client.hpp"
#include "mpiio/ranks/job_board.hpp"

namespace stria::mpiio {

class SharedState {
 public:
  /// `comm` is the channel's. Collective: yes; the outcome is the same everywhere.
  static Result<std::shared_ptr<SharedState>> create(Comm& comm);
  ~SharedState();
  SharedState(const SharedState&) = delete;
  SharedState& operator=(const SharedState&) = delete;

  /// Adds to the shared pointer (bytes of the view's stream) and returns what it was. Any rank at
  /// any time. On rank 0's node it always succeeds.
  Result<int64_t> advance(int64_t bytes);
  Result<int64_t> position() { return advance(0); }
  /// Rank 0 sets it while no other rank uses it.
  void set(int64_t position);

  /// The first rank of each node prepares a file just opened, before the others know
  /// that it is open.
  void begin_on_node();
  /// Rank 0 does the same.
  void begin(int64_t position);
  /// Puts the pointer to 0 again after a change of the view, which all ranks have entered. Method:
  /// two pointers; the one that nobody uses is cleared by rank 0 long before it is needed, which
  /// spares a barrier.
  void restart(bool is_first_rank);

  /// Returns the turn that atomic accesses take on one node; null when the ranks are on several
  /// nodes.
  /// Collective: the first call is.
  NodeTurn* atomic_turn(Comm& comm);
  /// Tells whether this process still takes part in such memory, of which a program that opens many
  /// files at once would otherwise use up its node's. Local.
  bool may_gather_together() const { return gathering_memory_ != nullptr || gathering_channels < kGatheringChannels; }
  /// Memory of the node's first rank for what its ranks fetch and write together. It stays for the
  /// next file of the channel. Collective: yes; the outcome is the node's.
  Result<std::shared_ptr<SharedBuffer>> gathering_memory(Comm& comm, int64_t bytes);
  /// Returns what keeps this node's writers out of windows that are being sieved.
  NodeLocks& locks() const { return *locks_; }
  /// Returns where the ranks of one node agree in collective calls; null when they don't share
  /// memory.
  NodeMeeting* meeting() const { return meeting_.get(); }
  /// Returns where the ranks of each node agree on background collectives, and where they learn of
  /// other nodes: null where there are none, or where they can't be reached.
  JobBoard* board() const { return board_.get(); }
  NodesBoard* nodes() const { return nodes_.get(); }
  bool has_several_nodes() const { return several_nodes_; }
  /// Success, or why ranks of other nodes have no shared pointer and learn of no failure in the
  /// background elsewhere. The same everywhere.
  const Status& reach() const { return reach_; }

 private:
  SharedState() = default;

  static constexpr int kTwins = 2;

  /// Holds what the ranks of a node share, in the memory of its first rank; the pointers are those
  /// of rank 0's node.
  struct Shared {
    std::atomic<int64_t> pointers[kTwins];
    JobBoard::Place places[JobBoard::kPlaces];
  };

  Status share_on_node(Comm& comm);
  Status make_locks(Comm& comm);
  void connect(Comm& comm);
  void forget_gathering_memory();

  bool several_nodes_ = false;
  std::shared_ptr<SharedBuffer> memory_;      // a Shared
  int current_ = 0;                           // the twin that is used
  std::atomic<int64_t>* pointers_ = nullptr;  // in memory_, on rank 0's node
  Status reach_;
  Token token_;                          // the channel's ledger has it, on rank 0 of several nodes
  std::unique_ptr<NodesClient> client_;  // on other nodes
  std::mutex client_mutex_;
  std::unique_ptr<JobBoard> board_;
  std::unique_ptr<NodesBoard> nodes_;
  std::unique_ptr<NodeLocks> locks_;
  std::unique_ptr<NodeMeeting> meeting_;
  std::unique_ptr<NodeTurn> turn_;
  std::shared_ptr<SharedBuffer> gathering_memory_;
  int64_t gathering_bytes_ = 0;
  static constexpr int kGatheringChannels = 4;
  static inline std::atomic<int> gathering_channels{0};  // the channels of this process
};

}  // namespace stria::mpiio
