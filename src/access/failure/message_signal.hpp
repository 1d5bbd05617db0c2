// Tells the ranks of an operation by messages that one of them has failed.
//
// Problem: an aggregator hears of another only through contributors that they share, and often they share none; ranks that move
// their bytes by themselves hear of nobody. Method: the ranks are the nodes of a binary heap. Along each edge goes one token
// each way: up, that all below have ended well, or the bad news as soon as it comes; down, that everybody has, or the news.
// Ranks look for tokens between their batches or rounds, and once they are done, until the end: whoever ends early still passes
// the news on. Ranks of a node may share a word as well, which is faster. Cost: at most three short messages a rank each way,
// none where there is one; the end, and the news, need twice the logarithm of their number in steps.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "access/failure/abort_signal.hpp"
#include "access/failure/memory_reserve.hpp"
#include "comm/comm.hpp"

namespace stria::access {

/// An operation of fewer bytes than this, of all ranks, is over before the news is worth its messages.
inline constexpr int64_t kWorthTellingBytes = 8 << 20;

class MessageSignal final : public AbortSignal {
 public:
  /// Among all ranks of `comm`. Each of them makes one, and calls end() once. `on_node`: what the ranks of this node share
  /// besides. Collective: yes.
  MessageSignal(Comm& comm, MemoryReserve& memory, FailureWord on_node = {});
  /// Among some of them, such as the aggregators; `comm.rank()` is one of `ranks`.
  MessageSignal(Comm& comm, MemoryReserve& memory, std::span<const int> ranks);

  void tell() override;
  bool heard() override;
  /// The same for who traces the exchange of which this is a part.
  bool look();
  /// Waits until every rank has ended: success is everywhere or nowhere. Collective: yes.
  Status end(const Status& mine) override;

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
