// Tells the ranks of an operation, by messages, that one of them has failed.
//
// Problem: an aggregator hears of another only through contributors that both have, and often there
// are none. Ranks that move their bytes by themselves hear of no other rank.
// Method: the ranks are the nodes of a binary heap. One token goes each way along each edge. The
// token upwards says that all ranks below have ended well, or that one has failed, as soon as
// that is known. The token downwards says that all ranks have ended well, or that one has failed.
// Ranks look for tokens between their batches or rounds, and after their last one until the end,
// so that a rank that ends early still passes on a failure. Ranks of a node may also share a
// word, which is faster.
// Cost: at most three short messages per rank each way, and none for a single rank. The end, or a
// failure, reaches all ranks in steps of twice the logarithm of their number.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "access/failure/abort_signal.hpp"
#include "access/failure/memory_reserve.hpp"
#include "comm/comm.hpp"

namespace stria::access {

/// An operation of fewer bytes than this, over all ranks, ends before a signal would be
/// worth its messages.
inline constexpr int64_t kWorthTellingBytes = 8 << 20;

class MessageSignal final : public AbortSignal {
 public:
  /// Makes a signal for all ranks of `comm`. Each of them makes one, and calls end() once.
  /// `on_node` is a word that the ranks of this node share in addition. Collective: yes.
  MessageSignal(Comm& comm, MemoryReserve& memory, FailureWord on_node = {});
  /// Makes a signal for some of them, such as the aggregators; `comm.rank()` is one of `ranks`.
  MessageSignal(Comm& comm, MemoryReserve& memory, std::span<const int> ranks);

  void tell() override;
  bool heard() override;
  /// Does the same for a caller that traces the exchange of which this is a part.
  bool look();
  /// Waits until every rank has ended. Either all ranks return success or none does.
  /// Collective: yes.
  Status end(Status mine) override;

 private:
  struct Neighbor {
    int rank = -1;
    int64_t heard_word = 0;  ///< from there: 1 after a failure
    int64_t told_word = 0;
    std::unique_ptr<CommRequest> hearing;
    std::unique_ptr<CommRequest> telling;
    bool has_spoken = true;
  };
  template <typename RankAt>
  void meet_neighbors(int64_t mine, int64_t count, RankAt&& rank_at);
  void listen(Neighbor& neighbor);
  void speak(Neighbor& neighbor, int64_t word);
  void pass_on();
  bool is_over() const;
  void wait_for_the_end();

  Comm& comm_;
  MemoryReserve& memory_;
  FailureWord on_node_;
  Neighbor parent_;
  std::array<Neighbor, 2> children_;
  bool failed_ = false;  // here or elsewhere, as far as is known
  bool done_ = false;
};

}  // namespace stria::access
