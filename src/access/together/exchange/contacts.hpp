// Knows which ranks meet in a collective operation, and what they have told each other: the
// exchange of file descriptions before the first round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "access/context/context.hpp"
#include "access/failure/memory_reserve.hpp"
#include "access/plan/plan.hpp"
#include "access/together/domains/description.hpp"
#include "access/together/domains/file_domain.hpp"
#include "access/together/domains/gathered_requests.hpp"
#include "access/together/exchange/delegates.hpp"

namespace stria::access {

/// A rank that has bytes for this aggregator, or wants some from it.
struct Contributor {
  int rank = 0;
  int speaker = 0;
  bool repeats = false;  ///< has what the one before has
  /// `lanes` only says where the streams begin and end; pieces come with each round.
  bool by_round = false;
  std::vector<LaneDescription> lanes;        ///< otherwise all that the rank has sent
  std::vector<LaneDescription> pieces = {};  ///< by_round: of the present round
  int64_t bytes = 0;                         ///< by_round: of the present round
};

class Contacts {
 public:
  /// What is passed must outlive this.
  Contacts(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, MemoryReserve& memory,
           NodeDelegates& delegates);

  /// Finds out what this rank has, and whether its pieces are sent with each round: never where
  /// all know them `already`. May throw std::bad_alloc.
  void describe_own(bool already);
  /// Finds the aggregators that this rank meets, and tells them what it has; where ranks of a node
  /// speak for others, finds out which. `domains` is null on a rank that has run out of memory.
  /// Collective: yes; the error is local.
  Status exchange(const FileDomains* domains);
  /// Does the same without a message, out of what all ranks know; every rank speaks for itself.
  /// Local.
  Status take(const FileDomains* domains, const GatheredRequests& gathered);

  /// Returns this aggregator's index among those of the plan; negative on other ranks.
  int my_index() const { return my_index_; }
  int rank_of(int aggregator) const { return plan_.aggregators[static_cast<size_t>(aggregator)]; }
  bool shares_memory(int other_rank) const;
  /// Returns what this rank has.
  std::span<const LaneDescription> mine() const { return mine_; }
  /// Returns the aggregators that this rank meets in any round, by index.
  std::span<const int> met() const { return met_; }
  /// Returns those of this aggregator, by speaker and rank.
  std::span<Contributor> contributors() { return contributors_; }
  std::span<const Contributor> contributors() const { return contributors_; }

  /// Tells whether this rank's pieces are sent with each round; then where its streams begin and
  /// end.
  bool is_by_round() const { return by_round_; }
  std::span<const LaneDescription> hulls() const { return hulls_; }
  /// Returns the most of any contributor whose pieces come with the rounds; 0 without one.
  int64_t most_pieces() const { return most_pieces_; }
  /// Returns the streams of this rank, and of the ranks that it hears or speaks for.
  size_t stream_count() const;

 private:
  // The first number of a description, or else the pieces to come in all rounds.
  static constexpr int64_t kWhole = -1;

  void find_met(const FileDomains& domains);
  std::vector<int> met_lanes(int aggregator, std::span<const LaneDescription> lanes) const;
  Status gather_on_node();
  void describe_to_aggregators(Comm::Messages& outgoing);
  std::vector<std::byte> describe(int aggregator);
  Status decode(Comm::Messages& incoming);
  Status decode_contributors(int speaker, std::span<const std::byte> message);
  void add_own();

  Context& context_;
  const ThroughAggregators& plan_;
  std::span<const Lane> lanes_;
  MemoryReserve& memory_;
  NodeDelegates& delegates_;
  const FileDomains* domains_ = nullptr;
  int my_index_ = -1;
  std::vector<LaneDescription> mine_;
  bool by_round_ = false;
  std::vector<LaneDescription> hulls_;
  std::vector<int> met_;
  std::vector<Contributor> contributors_;
  int64_t most_pieces_ = 0;
};

/// Returns the streams of a description.
size_t stream_count(std::span<const LaneDescription> description);

}  // namespace stria::access
