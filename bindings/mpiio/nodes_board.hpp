// Where ranks learn, without a message, how background collectives went on other nodes.
//
// Problem: a nonblocking collective must fail on every rank when one can't write, but the thread that writes may not speak MPI,
// and the program's own thread may be waiting for a message of a rank that waits for this one: an agreement to which all must
// come would lock up. Method: when the ranks of a node have finished an operation (job_board.hpp), the thread of the first of
// them notes it in memory that an MPI window exposes, failures with their classes beside it; who waits for the operation
// fetches that from the other nodes. The other side need not do anything but call MPI now and then, as MPI asks of any program.
// Cost: who has finished, a store; who waits, an 8-byte get a node, again as long as that one isn't done; a failure one get
// more. Memory: O(nodes) a rank.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace stria::mpiio {

class NodesBoard {
 public:
  static constexpr int kFailures = 64;  ///< that are kept; of older ones only is told that there were some
  /// What the first rank of each node exposes; all zero at first.
  struct Exposed {
    int64_t progress;             ///< operations finished, the first ones of all, and the number of failures: see pack()
    int64_t failures[kFailures];  ///< the n-th at n modulo kFailures: operation and class
  };

  /// `exposed` begins at element `first_word` of the window, whose units are 8 bytes, on every rank of `leaders`, the first
  /// ones of the other nodes; `own` is this rank's, null where it is not the first of its node. The window is locked.
  NodesBoard(MPI_Win window, MPI_Aint first_word, Exposed* own, const std::vector<int>& leaders);

  /// Notes that all ranks of this node have finished an operation, with an error class or MPI_SUCCESS. Any thread, one at a
  /// time; not MPI's.
  void publish(int64_t number, int error_class);
  /// Asks for what it doesn't know. True when all other nodes have finished the operation; then sets the class of a failure,
  /// MPI_SUCCESS without one. Not to be asked again after that. One thread at a time; never blocks.
  bool complete(int64_t number, int& error_class);

 private:
  /// Another node, as far as it is known here.
  struct Node {
    int leader = 0;
    int64_t progress = 0;
    std::map<int64_t, int> failures;  ///< classes, by operation
    MPI_Request request = MPI_REQUEST_NULL;
    bool fetches_failures = false;
    Exposed fetched{};
  };

  static int64_t pack(int64_t operations, int64_t failures);
  static int64_t operations_of(int64_t progress);
  static int64_t failures_of(int64_t progress);
  void look_at(Node& node, int64_t number);
  void take_failures(Node& node);

  MPI_Win window_;
  MPI_Aint first_word_;
  Exposed* own_;
  int64_t own_operations_ = 0;
  int64_t own_failures_ = 0;
  std::set<int64_t> ahead_;  ///< operations that this node has finished before an earlier one
  std::vector<Node> nodes_;
};

}  // namespace stria::mpiio
