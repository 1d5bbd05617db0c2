// The background collectives whose outcome this rank doesn't know yet, by file, in the order in
// which they began.
//
// Problem: any number of operations may be under way. A look at what other ranks have done must not
// go through all of them. And it must lose none where memory is scarce, because other ranks wait.
// Method: the operations of one board end in their order. So only the first ones are looked at:
// until all ranks of this node have done their part (job_board.hpp), then until the other nodes
// have (nodes_board.hpp). An operation takes the memory for its place when it begins, and goes with
// it from list to list. What can't be told for want of memory is told at the next look.
// Cost: at most JobBoard::kPlaces looks per file each time. Not thread-safe.
#pragma once

#include <list>
#include <map>
#include <memory>

#include "mpiio/background/jobs.hpp"

namespace stria::mpiio {

class Agreements {
 public:
  using JobPtr = std::shared_ptr<Job>;
  using Queue = std::list<JobPtr>;

  /// Adds a collective that this rank has begun, and gives it its number.
  void begin(const JobPtr& job);
  /// True when the outcome of everything that this rank has begun is known.
  bool empty() const { return files_.empty(); }
  /// Tells others which parts are done (Job::part_done). Returns the operations whose
  /// outcome is now known.
  Queue look() noexcept;

 private:
  /// The operations on one file that this rank has begun and whose outcome it doesn't know yet.
  struct UnderWay {
    NodesBoard* nodes = nullptr;  ///< null on one node, and where other nodes can't be reached
    Queue here;                   ///< begun, and not ended on this node
    Queue away;                   ///< ended on this node
  };

  void look_at_node(JobBoard& board, UnderWay& file);
  void look_at_others(UnderWay& file);

  std::map<JobBoard*, UnderWay> files_;  ///< each has some
  Queue known_;
};

}  // namespace stria::mpiio
