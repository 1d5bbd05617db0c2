// How every collective call on a file begins: the ranks meet, add up a few numbers, and hear of a rank that has left the file.
//
// Problem: a rank whose put() has thrown leaves the scope of its File, and may then compute for hours while the others wait in
// commit(). What it does on leaving must wait for nobody, and a collective operation of MPI can't be left. Method: a meeting is
// made of messages of our own, recursive doubling along the edges of a hypercube; ranks beyond the largest power of two meet
// through a partner. Each meeting takes one message each way along each edge. A rank that leaves sends those of its next
// meeting at once, saying so, and its receives stay behind (Comm::park). A rank that hears of it tells those of its partners
// that it has not spoken to, and returns; as it looks at all of its edges while it waits for one, the news passes those ranks
// that have not come yet. After that the file has no more meetings, so that every message still meets its receive, whoever
// leaves and in whatever order. Cost: the messages and steps of an all-reduce, 2 log2(ranks) of them for a rank, half a
// kilobyte each; leaving costs the same messages and no wait.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "access/failure/memory_reserve.hpp"
#include "comm/comm.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// The collective calls on a file, which all ranks make in the same order.
enum class Call : int32_t { kCreate, kOpen, kFlush, kCommit, kAbandon, kReadTable, kReadStrings, kAttribute, kVerify };

/// As the public interface names it, e.g. "commit()".
const char* call_name(Call call);

class RollCall {
 public:
  static constexpr size_t kMostSums = 32;

  /// Of the file with that number (Comm::count_file) among those of `comm`, which must outlive this.
  RollCall(Comm& comm, int number);
  RollCall(const RollCall&) = delete;
  RollCall& operator=(const RollCall&) = delete;
  ~RollCall();

  /// Replaces the sums, at most kMostSums and as many on every rank, by those over all ranks. kAborted when a rank has left:
  /// then so it is on every rank, with that rank's reason, from now on and without communication; where several have left,
  /// ranks may name different ones. kInvalidArgument, the same on all ranks, when they made different calls. Collective: yes.
  Status meet(Call call, std::span<int64_t> sums, access::MemoryReserve& memory);

  /// Answers for this rank in the meeting that comes next, which then fails on the others. Once, or after somebody else has
  /// left, nothing is done any more. Takes from `memory` what its messages need where memory runs out. Waits for nobody and
  /// doesn't throw. Collective: no.
  void leave(std::string_view reason, access::MemoryReserve& memory) noexcept;
  /// Why there are no more meetings; success as long as there are.
  const Status& ended() const { return ended_; }

 private:
  struct Message;
  struct Edge;
  struct Edges;

  void listen(access::MemoryReserve& memory);
  void speak(Edge& edge, const Message& message, access::MemoryReserve& memory);
  bool wait_for(Edge& edge);
  Edge* news();
  Status exchange(Message& mine, access::MemoryReserve& memory);
  Status end_with(const Message& news, access::MemoryReserve& memory);
  void stay_behind(access::MemoryReserve& memory);
  void wait_for_sends();

  Comm& comm_;
  int tag_;
  bool beyond_power_ = false;     // this rank meets through its one partner
  bool has_follower_ = false;     // the first edge leads to a rank beyond the power of two
  std::unique_ptr<Edges> edges_;  // null once they were parked
  Status ended_;
};

}  // namespace stria::file
