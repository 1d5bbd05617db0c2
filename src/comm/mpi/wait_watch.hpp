// Finds out whom the ranks of a communicator wait for, when that takes long.
//
// Problem: who waits in a collective operation of MPI knows nobody who is late; who waits for a message knows one rank, which
// may itself wait for another; and a line from each rank of a thousand helps nobody. Method: a rank that waits answers, every
// 50 ms, those that ask whether it waits. After the limit a rank asks a few lower ones, 0 and those at distances of powers of
// two: if one of them waits too, it says nothing, for that one will. Otherwise it asks all. Who doesn't answer isn't waiting
// here: it is whom all wait for, because it is elsewhere, has ended, or can't be reached. Cost: nothing before the first 50 ms
// of a wait but a look at the clock in each sleep, then a probe for messages; after the limit 2 log2(ranks) short messages a
// rank.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "comm/waiting.hpp"

namespace stria {

class WaitWatch {
 public:
  /// Among the ranks of `comm`, by messages with that tag.
  WaitWatch(MPI_Comm comm, int tag);
  /// What the words call the nodes, in the order of their numbers; both must outlive this.
  void set_names(const std::vector<int>* node_of_rank, const std::vector<std::string>* hosts);

  /// To be called between the sleeps of a loop that waits for others; `begins` the first time. Ends the job after the deadline.
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
  LongWait wait_;
  Clock::time_point next_look_;
  Stage stage_ = Stage::kQuiet;
  Clock::time_point stage_end_;
  int64_t question_ = 0;
  std::vector<int> asked_;
  std::vector<std::string> calls_;  ///< of each rank that has answered; of others empty
};

/// Receives what is left of such messages before the communicator is freed. Local.
void drain_wait_messages(MPI_Comm comm, int tag);

/// Waits, with polite pauses, for an operation of all ranks of `comm`, on which no messages of ours may be sent: there rank 0
/// or 1 says that it lasts.
void wait_for_all(MPI_Comm comm, MPI_Request& request);

/// Ends all ranks of the job: MPI is told, and this process ends even where MPI can't do it.
[[noreturn]] void give_up_job();

}  // namespace stria
