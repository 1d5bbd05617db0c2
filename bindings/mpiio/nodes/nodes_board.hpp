// Tells ranks how background collectives went on other nodes.
//
// Problem: a nonblocking collective must fail on every rank when one can't write, but the thread
// that writes may not call MPI. The program's own thread may be waiting for a message from a rank
// that waits for this one. So an agreement to which all must come would deadlock, and so would one
// that needs the program to call MPI.
// Method: when the ranks of a node have finished an operation (job_board.hpp), the background
// thread of the first of them reports it to rank 0, with failures and their classes
// (nodes_server.hpp). Rank 0 tells all ranks that wait, once every node has reported. Reports say
// "all operations below this number". So one message serves many operations, and any number of them
// may be under way.
// Cost: one message per node and one answer per rank, for all operations that have ended meanwhile.
// Memory: that of failures.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "mpiio/nodes/nodes_client.hpp"
#include "mpiio/nodes/nodes_server.hpp"

namespace stria::mpiio {

class NodesBoard {
 public:
  /// `node`: this rank's node if the rank is the first of it; else -1. `place`: that of the
  /// channel's ledger.
  NodesBoard(const NodesPlace& place, int rank, int node);

  /// Notes that all ranks of this node have finished an operation, with an error class
  /// or MPI_SUCCESS. After std::bad_alloc it may be noted again.
  void publish(int64_t number, int error_class);
  /// True when all nodes have finished the operation; then sets the class of a failure, MPI_SUCCESS
  /// without one. Not to be asked again after that, but after std::bad_alloc. Never blocks.
  bool complete(int64_t number, int& error_class);
  // One thread at a time may call both functions, any thread; they don't call MPI.

 private:
  NodesReport report() const;
  void exchange(int64_t wanted);
  void take(const NodesAnswer& answer);

  NodesPlace place_;
  int rank_;
  int node_;
  NodesClient client_;
  int64_t known_ = 0;                     ///< the outcomes of all operations below are known
  std::map<int64_t, int> failures_;       ///< failed operations, for which no rank has asked yet
  int64_t finished_ = 0;                  ///< all operations below are finished on this node
  int64_t reported_ = 0;                  ///< the last that rank 0 has been told
  int64_t acknowledged_ = 0;              ///< the last of which rank 0 has said that it knows it
  std::set<int64_t> ahead_;               ///< finished before an earlier one
  std::map<int64_t, int64_t> to_report_;  ///< failures that rank 0 may not know
};

}  // namespace stria::mpiio
