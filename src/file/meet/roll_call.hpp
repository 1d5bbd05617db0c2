// The beginning of every collective call on a file: the ranks meet, add up a few numbers, and hear
// of a rank that has left the file.
//
// Problem: a rank whose put() has thrown leaves the scope of its File, and may then compute for
// hours while the others wait in commit(). When it leaves, it must not wait for other ranks, and a
// collective operation of MPI can't be left.
// Method: a meeting is made of plain messages, by recursive doubling along the edges of a
// hypercube. Ranks beyond the largest power of two meet through a partner. Each meeting takes one
// message each way along each edge. A rank that leaves sends the messages of its next meeting at
// once and says in them that it leaves; its receives stay behind (Comm::park). A rank that hears
// of it tells those of its partners to which it has not sent yet, and returns. While it waits for
// one edge it looks at all of them, so that the news gets past ranks that have not come yet. After
// that the file has no more meetings. So every message still meets its receive, whichever ranks
// leave, in any order.
// Cost: the messages and steps of an all-reduce, 2 log2(ranks) for each rank, half a kilobyte each.
// Leaving costs the same messages and no wait.
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
enum class Call : int32_t {
  kCreate,
  kOpen,
  kFlush,
  kCommit,
  kAbandon,
  kReadTable,
  kReadStrings,
  kAttribute,
  kVerify,
  kPlaceRows,
  kAppend,
  kCommitAsync,
};

/// Names the call as the public interface does, e.g. "commit()".
const char* call_name(Call call);

class RollCall {
 public:
  static constexpr size_t kMostSums = 32;
  static constexpr size_t kMostLeast = 4;

  /// Serves the file with this number (Comm::count_file) among those of `comm`, which must outlive
  /// this.
  RollCall(Comm& comm, int number);
  RollCall(const RollCall&) = delete;
  RollCall& operator=(const RollCall&) = delete;
  ~RollCall();

  /// Replaces the sums, at most kMostSums and as many on every rank, by those over all ranks, and
  /// each number of `least`, at most kMostLeast, by the least that any rank gives.
  /// kAborted when a rank has left: on every rank, with that rank's reason, and from now on without
  /// communication. Where several have left, ranks may name different ones. kInvalidArgument, the
  /// same on all ranks, when they made different calls. Collective: yes.
  Status meet(Call call, std::span<int64_t> sums, access::MemoryReserve& memory, std::span<int64_t> least = {});

  /// Takes part in the next meeting for this rank, so that it fails on the others. A second call,
  /// or one after another rank has left, does nothing. When memory runs out, its messages take what
  /// they need from `memory`. It doesn't wait for other ranks and doesn't throw. Collective: no.
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
