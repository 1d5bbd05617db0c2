// The metadata server of a machine, which ranks wait for.
//
// Problem: thousands of processes that make a file each at one moment wait for longer than the sum
// of what a file costs: the server's threads then wait for each other.
// Method: one request after another. Each creation takes the longer the more of them wait when its
// turn comes, once they are more than a number of the machine.
// Cost: an event for each request; where the machine has no such number, the wait alone.
#pragma once

#include <deque>

#include "clock/clock.hpp"
#include "clock/queue.hpp"
#include "machine/machine.hpp"

namespace stria::simulate {

class NameServer {
 public:
  enum class Work { kCreate, kOther };
  /// What is passed must outlive this.
  NameServer(Clock& clock, const MetadataServer& numbers) : clock_(clock), crowd_(numbers.crowd) {}

  /// The running rank, which has settled, waits until the server has worked so long for it, or
  /// longer in a crowd.
  void serve(double seconds, Work work);

  /// Returns how long it has worked.
  double busy_s() const { return queue_.busy_s() + crowded_s_; }
  void count_anew();

 private:
  struct Request {
    double seconds;
    int rank;
    Work work;
    bool done = false;
  };
  void begin_first();
  void end_first();

  Clock& clock_;
  double crowd_;
  Queue queue_;  ///< where crowds cost nothing
  double crowded_s_ = 0;
  std::deque<Request*> waiting_;  ///< on the stacks of their ranks; the first is being served
  int creations_ = 0;             ///< those of them that create
};

}  // namespace stria::simulate
