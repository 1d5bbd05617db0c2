// Holds what collective writes and reads have in common: which ranks meet, what they have for each
// other in a round, and the aggregators' buffers.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "access/context/context.hpp"
#include "access/failure/memory_reserve.hpp"
#include "access/failure/moved_prefix.hpp"
#include "access/together/domains/file_domain.hpp"
#include "access/together/domains/gathered_requests.hpp"
#include "access/together/domains/share.hpp"
#include "access/together/exchange/aggregator_buffers.hpp"
#include "access/together/exchange/arrivals.hpp"
#include "access/together/exchange/contacts.hpp"
#include "access/together/exchange/delegates.hpp"
#include "access/together/exchange/mailbox.hpp"
#include "access/together/exchange/parted.hpp"
#include "access/together/exchange/round_lists.hpp"

namespace stria::access {

/// One rank's side of a collective operation. Built collectively; then both protocols walk the
/// rounds in order.
class Aggregation {
 public:
  static constexpr int kTwins = AggregatorBuffers::kTwins;

  struct Options {
    bool reads = false;
    KeptBuffers* kept = nullptr;  ///< what stays from one operation to the next, or null
    /// This has everybody's description, if it is known already; null: it must be exchanged.
    const GatheredRequests* gathered = nullptr;
  };
  Aggregation(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, const Options& options);

  /// Exchanges the descriptions and allocates the buffers. Collective: yes; the outcome is the
  /// same everywhere.
  Status prepare();

  int round_count() const { return domains_->round_count(); }
  bool is_aggregator() const { return contacts_.my_index() >= 0; }

  /// Exchanges the lists of pieces that come with the round, and returns an error of receiving
  /// them. Must be called first in each round.
  Status begin_round(int round, const Parted& parted) { return lists_.exchange(*domains_, round, parted); }
  /// Returns the shares of this rank in `round`, aggregators in order; those without bytes are left
  /// out.
  std::vector<Share> my_shares(int round);
  /// Returns the shares that other ranks, and this one, have of this aggregator in `round`; none on
  /// other ranks. Those with the same speaker follow each other, by rank.
  std::vector<Share> contributors(int round);
  /// Returns the windows of this aggregator in `round`.
  std::vector<Window> my_windows(int round) const { return domains_->windows_of(contacts_.my_index(), round); }
  /// Returns the buffer of an aggregator of this node for a round.
  std::byte* buffer(int aggregator_rank, int round) const { return buffers_.of(aggregator_rank, round); }

  /// Returns what this rank carries for others of its node in `round`, including its own bytes for
  /// the same aggregators.
  std::vector<Load> loads(int round);
  int rank_of(const Load& load) const { return contacts_.rank_of(load.aggregator); }
  /// Tells whether a share of this rank is in one of its loads.
  bool is_carried(const Share& share, std::span<const Load> loads) const;
  std::byte* staging(int delegate_rank, int64_t offset, int64_t bytes) const {
    return delegates_.staging(delegate_rank, offset, bytes);
  }

  /// Returns the ranks of the aggregators that this rank meets in any round, and of those that have
  /// bytes for this aggregator.
  std::vector<int> met_ranks();
  std::vector<int> contributor_ranks();
  /// True once this rank has nothing more to do with any other.
  bool is_parted(const Parted& parted) const;
  /// Notes what this rank may have lost of its bytes in the aggregator's rounds: all from round
  /// `done_rounds` on. Cost: O(rounds).
  void miss_rounds(int aggregator_rank, int done_rounds, MovedPrefix& moved);

  /// All that may lack memory between prepare() and the end goes through this.
  MemoryReserve& memory() { return memory_; }
  Mailbox& mailbox() { return mailbox_; }
  /// Receives a round's messages from other nodes.
  Arrivals& arrivals() { return arrivals_; }

 private:
  Status allocate_arrivals();
  Share share_with(int other_rank, std::vector<Window> windows, std::span<const LaneDescription> description) const;

  Context& context_;
  const ThroughAggregators& plan_;
  const GatheredRequests* gathered_;
  std::span<const Lane> lanes_;
  MemoryReserve memory_;
  Mailbox mailbox_{context_.comm, memory_};
  NodeDelegates delegates_;
  Contacts contacts_;
  AggregatorBuffers buffers_;
  RoundLists lists_;
  std::optional<FileDomains> domains_;
  Arrivals arrivals_{context_.comm, memory_};
};

}  // namespace stria::access
