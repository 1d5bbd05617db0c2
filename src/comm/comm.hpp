// The few collective operations that the engine needs: over MPI, for one process, or for N
// simulated ranks in one process.
//
// No call keeps the processor busy while it waits: waiting ranks test and sleep, because ranks
// often outnumber cores. A failure of the transport itself (a dead rank) ends the job, as in MPI.
// Every other failure is a Status, which ranks share by agree().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "comm/node_turn.hpp"
#include "stria/status.hpp"

namespace stria {

enum class ReduceOp { kSum, kMin, kMax };

/// A message under way. Wait for it before its buffer is used again. Movable only.
class CommRequest {
 public:
  virtual ~CommRequest() = default;
  /// True once the message has been sent or has arrived; never blocks.
  virtual bool test() = 0;
};

/// Memory that every rank of a node can address. It is freed when the last handle goes,
/// collectively over the node.
class SharedBuffer {
 public:
  virtual ~SharedBuffer() = default;
  /// Returns the part that the node's rank `node_rank` has allocated.
  virtual std::span<std::byte> part(int node_rank) const = 0;
};

/// Says what allocate_shared() is asked for.
struct SharedBytes {
  SharedBytes(int64_t count, bool only_pass = false) : bytes(count), pass_through(only_pass) {}

  int64_t bytes;
  /// They only pass through on their way between memory and the file. Simulated ranks that move
  /// descriptions instead have no memory for them.
  bool pass_through;
};

/// Serves other ranks while this one waits (Comm::set_attendant()).
class Attendant {
 public:
  virtual ~Attendant() = default;
  /// Does what is to be done now. It mustn't wait for other ranks.
  virtual void attend() noexcept = 0;
};

class Comm {
 public:
  static constexpr size_t kGatherBytesMax = 4096;
  using PieceTaker = std::function<void(int rank, std::span<const std::byte> piece)>;

  virtual ~Comm() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Returns the node of every rank. Nodes are numbered from 0 in the order of their lowest ranks;
  /// ranks within a node follow the order of ranks.
  virtual std::span<const int> node_of_rank() const = 0;
  int node_count() const;
  virtual int node_rank() const = 0;
  virtual int node_size() const = 0;

  // All of these are collective.
  virtual void barrier() = 0;
  virtual void broadcast(std::span<std::byte> data, int root) = 0;
  virtual void all_reduce(std::span<int64_t> values, ReduceOp op) = 0;
  /// Replaces each value by its sum over the ranks before this one.
  virtual void exclusive_scan(std::span<int64_t> values) = 0;
  /// `all` receives the bytes of all ranks in their order; every rank gives as many.
  /// \pre all.size() == size() * mine.size()
  virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  /// Calls, on `root`, take(rank, piece) for the piece of each rank, in order of ranks. A piece has
  /// at most kGatherBytesMax bytes. `take` must not throw, or other ranks would wait for ever.
  virtual void gather(std::span<const std::byte> mine, int root, const PieceTaker& take) = 0;
  /// Allocates memory for this rank that its node shares (page-aligned, not cleared).
  /// Collective: yes, at least over the node.
  virtual Result<std::shared_ptr<SharedBuffer>> allocate_shared(SharedBytes wanted) = 0;

  // Point to point. Messages between two ranks with the same tag arrive in order. They may have any
  // size, but a receive must have the size of its message.
  virtual std::unique_ptr<CommRequest> send(std::span<const std::byte> data, int to, int tag) = 0;
  virtual std::unique_ptr<CommRequest> receive(std::span<std::byte> data, int from, int tag) = 0;
  /// Takes a message of any rank and any size that has arrived with this tag into `content`, and
  /// returns who has sent it; nothing where there is none. Never waits. It needs no memory where
  /// `content` has the capacity; if it throws std::bad_alloc, the message is there for the next
  /// call. To be called on innermost(). Local.
  virtual std::optional<int> take_message([[maybe_unused]] int tag, [[maybe_unused]] std::vector<std::byte>& content) {
    return std::nullopt;
  }
  /// Waits, and leaves the processor to others meanwhile.
  virtual void wait(CommRequest& request) = 0;
  /// Keeps a message for which no one will wait, until it is done; it owns its buffer. If this
  /// throws std::bad_alloc, the caller still has the message. Local. \pre this is innermost()
  virtual void park(std::unique_ptr<CommRequest>&& request);
  /// Returns the innermost communicator that this one wraps, or itself. It holds what belongs to
  /// the ranks' messages, whichever wrapper is used.
  virtual Comm& innermost() { return *this; }
  /// Returns a number for a file that the ranks open together: the next one with each call.
  /// Collective: yes, without communication. \pre this is innermost()
  int count_file() {
    STRIA_ASSERT(&innermost() == this);
    return files_++;
  }
  /// Lets other ranks or threads run for a moment, for callers that poll several things in a loop.
  /// `attempt` counts from 0 and lengthens the pause.
  virtual void pause(int attempt) = 0;
  /// Says, after a while, whom the ranks wait for (waiting.hpp). Callers that wait in a loop
  /// without pause() call this every few milliseconds; `begins` is true for the first call of a
  /// wait. Local.
  virtual void look_at_wait(bool /*begins*/) {}
  /// Waits while `word`, in memory that the node shares, has the value `seen`; may return
  /// earlier. Local.
  virtual void wait_while(std::atomic<uint32_t>& word, uint32_t seen);
  /// Wakes all that wait for `word`. To be called after the word has changed.
  virtual void wake(std::atomic<uint32_t>& word);

  /// Every wait of this rank for others attends to them as well from now on. Local. \pre this is
  /// innermost()
  virtual void set_attendant(std::shared_ptr<Attendant> attendant) {
    STRIA_ASSERT(&innermost() == this);
    attendant_ = std::move(attendant);
  }
  const std::shared_ptr<Attendant>& attendant() const { return attendant_; }

  using Messages = std::vector<std::pair<int, std::vector<std::byte>>>;
  /// Sends each (rank, bytes), and returns what arrived here as (sender, bytes), in order of
  /// senders. A rank sends at most one message to each rank, itself included, and needn't know who
  /// will send to it. Where a message has more than kSparseBytesUnasked bytes and some rank has no
  /// room for what comes, all ranks throw std::bad_alloc. Costs two messages for each, and one
  /// small reduction or, for so many bytes, two. Collective: yes.
  virtual Messages sparse_exchange(const Messages& outgoing) = 0;
  static constexpr int64_t kSparseBytesUnasked = 64 << 10;
  /// Returns the same Status on every rank: success if all succeeded, otherwise the error of the
  /// lowest rank that failed. Where there are several ranks its message is that of said_by(); a
  /// rank that lacks memory for it has the code, and is referred to the others. Rank 0's `shared`
  /// bytes, at most kAgreedBytesMax, go to every rank in the same step; their number is the same
  /// everywhere. Costs one small reduction when all is well. Collective: yes.
  Status agree(const Status& mine, std::span<std::byte> shared = {});
  static constexpr size_t kAgreedBytesMax = 248;

 protected:
  /// Loops that wait call this.
  void attend() const noexcept {
    if (attendant_ != nullptr) {
      attendant_->attend();
    }
  }

 private:
  friend NodeTurn* node_turn(Comm& comm);

  std::unique_ptr<NodeTurn> turn_;
  bool turn_made_ = false;
  int files_ = 0;
  std::vector<std::unique_ptr<CommRequest>> parked_;
  std::shared_ptr<Attendant> attendant_;
};

/// Whether messages go to ranks that there are, at most one to each: what Comm::sparse_exchange()
/// relies on.
bool are_well_addressed(const Comm::Messages& outgoing, int ranks);

/// Broadcasts a vector of bytes of any size from `root`. Ranks that have no room for them throw
/// std::bad_alloc when all have taken part; of more than 4 KiB, all ranks do. Costs two broadcasts,
/// and a small reduction for so many. Collective: yes.
void broadcast_bytes(Comm& comm, std::vector<std::byte>& data, int root);

/// Returns the message of a rank's error, with "rank N: " in front. A message that names a rank
/// already, because ranks agreed on it before, stays as it is.
std::string said_by(int rank, const std::string& words);

}  // namespace stria
