// The few collective operations that the engine needs, over MPI, over one process, or over N simulated ranks in one process.
//
// No call blocks the processor while it waits: waiting ranks test and sleep, because ranks often outnumber cores.
// A failure of the transport itself (a dead rank) ends the job, as MPI does; every other failure travels as a Status through
// agree().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "comm/node_turn.hpp"
#include "stria/status.hpp"

namespace stria {

enum class ReduceOp { kSum, kMin, kMax };

/// A message under way. Must be waited for before its buffer is reused; movable only.
class CommRequest {
 public:
  virtual ~CommRequest() = default;
  /// True once the message has been sent or has arrived; never blocks.
  virtual bool test() = 0;
};

/// Memory that every rank of a node can address. Freed, collectively over the node, when the last handle goes.
class SharedBuffer {
 public:
  virtual ~SharedBuffer() = default;
  /// The part that the node's rank `node_rank` contributed.
  virtual std::span<std::byte> part(int node_rank) const = 0;
};

class Comm {
 public:
  static constexpr size_t kGatherBytesMax = 4096;
  using PieceTaker = std::function<void(int rank, std::span<const std::byte> piece)>;

  virtual ~Comm() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// The node of every rank, numbered from 0 in order of each node's lowest rank; node ranks follow rank order.
  virtual std::span<const int> node_of_rank() const = 0;
  virtual int node_rank() const = 0;
  virtual int node_size() const = 0;

  // Collective: yes, all of these.
  virtual void barrier() = 0;
  virtual void broadcast(std::span<std::byte> data, int root) = 0;
  virtual void all_reduce(std::span<int64_t> values, ReduceOp op) = 0;
  virtual void all_reduce(std::span<double> values, ReduceOp op) = 0;
  /// Replaces each value by its sum over the ranks before this one.
  virtual void exclusive_scan(std::span<int64_t> values) = 0;
  /// `all` receives size() times mine.size() bytes, in rank order; mine.size() is the same everywhere.
  virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  /// Gives the ranks' pieces, each of at most kGatherBytesMax, to `take` on `root`, by rank: take(rank, piece), which must not
  /// throw, lest ranks wait for ever.
  virtual void gather(std::span<const std::byte> mine, int root, const PieceTaker& take) = 0;
  /// Allocates `bytes` of this rank's own in memory shared by its node (page aligned, not cleared). Collective over the node at
  /// least.
  virtual Result<std::shared_ptr<SharedBuffer>> allocate_shared(int64_t bytes) = 0;

  // Point to point. Messages between two ranks with the same tag arrive in order; sizes must match; any size.
  virtual std::unique_ptr<CommRequest> send(std::span<const std::byte> data, int to, int tag) = 0;
  virtual std::unique_ptr<CommRequest> receive(std::span<std::byte> data, int from, int tag) = 0;
  /// Waits without burning the processor.
  virtual void wait(CommRequest& request) = 0;
  /// Takes over a message that nobody waits for, with its buffer, until it is done. Throws std::bad_alloc, and then the message
  /// is still the caller's. To be called on innermost(). Local.
  virtual void park(std::unique_ptr<CommRequest>&& request);
  /// The communicator that this one wraps, or itself: what belongs to the ranks' messages, not to one view of them, is there.
  virtual Comm& innermost() { return *this; }
  /// A number for a file that the ranks open together, the next one each time. To be called on innermost(). Collective: yes,
  /// without communication.
  int count_file() { return files_++; }
  /// Lets other ranks (or threads) run for a moment; the waiting loop of callers that poll several things. `attempt` counts
  /// from 0 and lengthens the pause.
  virtual void pause(int attempt) = 0;
  /// For waiting loops of callers that don't pause by this: says, after a while, whom the ranks wait for (waiting.hpp). To be
  /// called every few milliseconds; `begins` the first time of a wait. Local.
  virtual void look_at_wait(bool /*begins*/) {}
  /// Waits while `word`, in memory that the node shares, has the value `seen`; may return earlier. Local: others go on.
  virtual void wait_while(std::atomic<uint32_t>& word, uint32_t seen);
  /// To be called after such a word has changed: wakes who waits for it.
  virtual void wake(std::atomic<uint32_t>& word);

  using Messages = std::vector<std::pair<int, std::vector<std::byte>>>;
  /// Sends each (rank, bytes) and returns what arrived here as (sender, bytes), by increasing sender; at most one message a
  /// pair, to oneself too. Nobody needs to know who will send. Cost: here one gathering of the address lists, which every rank
  /// holds for a moment; over MPI what a rank sends and receives, and a barrier. Collective: yes.
  virtual Messages sparse_exchange(const Messages& outgoing);
  /// The turn of this communicator's ranks on their node, made at the first call; null when the system has no memory to share.
  /// Collective: yes at the first call; the outcome is the same everywhere.
  NodeTurn* node_turn();
  /// Broadcasts a byte vector of any size from root. Collective: yes.
  void broadcast_bytes(std::vector<std::byte>& data, int root);
  /// The same Status on every rank: success if all succeeded, else the error of the lowest failed rank, as said_by()
  /// it where there are several ranks. One small reduction when all is well. Collective: yes.
  Status agree(const Status& mine) { return agree(mine, {}); }
  /// Likewise, and gives rank 0's `shared` bytes to every rank on the way; their number is the same everywhere.
  Status agree(const Status& mine, std::span<std::byte> shared);

 private:
  std::unique_ptr<NodeTurn> turn_;
  bool turn_made_ = false;
  int files_ = 0;
  std::vector<std::unique_ptr<CommRequest>> parked_;
};

/// The words of an error of a rank, prefixed with "rank N: " unless they name a rank already: one that is agreed on twice.
std::string said_by(int rank, const std::string& words);

}  // namespace stria
