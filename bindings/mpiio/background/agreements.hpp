// The background collectives whose outcome this rank doesn't know yet, by file, in the order in
// which they began.
//
// Problem: any number of operations may be under way. A look at what other ranks have done must not
// go through all of them.
// Method: the operations of one board end in their order. So only the first ones are looked at:
// until all ranks of this node have done their part (job_board.hpp), then until the other nodes
// have (nodes_board.hpp).
// Cost: at most JobBoard::kPlaces looks per file each time; an operation enters and leaves two
// queues. Not thread-safe.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "mpiio/background/jobs.hpp"

namespace stria::mpiio {

class Agreements {
 public:
  using JobPtr = std::shared_ptr<Job>;

  /// Adds a collective that this rank has begun, and gives it its number.
  void begin(const JobPtr& job);
  /// True when the outcome of everything that this rank has begun is known.
  bool empty() const { return here_.empty() && away_.empty(); }
  /// Tells others which parts are done (Job::part_done). Returns the operations whose
  /// outcome is now known.
  std::vector<JobPtr> look();

 private:
  using Queue = std::deque<JobPtr>;

  void look_at_node(JobBoard& board, Queue& queue, std::vector<JobPtr>& known);
  static void look_at_others(NodesBoard& nodes, Queue& queue, std::vector<JobPtr>& known);

  std::map<JobBoard*, Queue> here_;    ///< begun, and not ended on this node; no queue is empty
  std::map<NodesBoard*, Queue> away_;  ///< ended on this node; no queue is empty
};

}  // namespace stria::mpiio
