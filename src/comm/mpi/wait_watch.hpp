// Finds out whom the ranks of a communicator wait for, when that takes long.
//
// Problem: a rank in a collective operation of MPI doesn't know who is late. A rank that waits for
// a message knows one rank, which may itself wait for another. And a line from each of a thousand
// ranks helps no one.
// Method: every 50 ms a waiting rank answers those that ask whether it waits. After the limit a
// rank asks a few lower ranks: rank 0 and those at distances of powers of two. If one of them waits
// too, this rank says nothing and leaves the report to that one. Otherwise it asks all ranks. A
// rank that doesn't answer isn't waiting here. It is the one that all wait for, because it is
// elsewhere, has ended, or can't be reached.
// Cost: in the first 50 ms of a wait only a look at the clock in each sleep; then a probe for
// messages; after the limit 2 log2(ranks) short messages per rank.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "comm/waiting.hpp"

namespace stria {

class WaitWatch {
 public:
  /// Watches for the ranks of `comm`, which send each other messages with this tag.
  WaitWatch(MPI_Comm comm, int tag);
  /// Sets the names of the nodes for the report, by number of the node. Both must outlive this.
  void set_names(const std::vector<int>* node_of_rank, const std::vector<std::string>* hosts);

  /// Must be called between the sleeps of a loop that waits for others; `begins` is true in the
  /// first call. Ends the job after the deadline. Any thread; of several that wait at once, the
  /// last to begin counts.
  void look(bool begins);

 private:
  using Clock = std::chrono::steady_clock;
  enum class Stage { kQuiet, kAskedLower, kAskedAll, kGivingUp };
  struct Message;
  class Sent;

  void ask(const std::vector<int>& ranks);
  void take_messages();
  void send(const Message& message, int to);
  void begin_asking(Stage stage, std::vector<int> ranks);
  void go_on();
  bool somebody_answered() const;
  std::string find_out() const;
  std::string describe_calls() const;

  MPI_Comm comm_;
  int tag_;
  int rank_ = 0;
  int size_ = 1;
  const std::vector<int>* node_of_rank_ = nullptr;
  const std::vector<std::string>* hosts_ = nullptr;
  std::mutex mutex_;  // for what follows
  LongWait wait_;
  Clock::time_point next_look_;
  Stage stage_ = Stage::kQuiet;
  Clock::time_point stage_end_;
  int64_t question_ = 0;
  std::vector<int> asked_;
  /// The call that each rank has answered; empty where it has not.
  std::vector<std::string> calls_;
};

/// Receives the messages of this kind that are left, before the communicator is freed. Local.
void drain_wait_messages(MPI_Comm comm, int tag);

/// Waits, with polite pauses, for an operation of all ranks of `comm`. The library may send no
/// messages of its own on it, so that only rank 0 or 1 reports that the wait lasts.
void wait_for_all(MPI_Comm comm, MPI_Request& request);

/// Ends all ranks of the job by MPI. This process ends even where MPI can't end it.
[[noreturn]] void give_up_job();

}  // namespace stria
