// What collective writes and reads have in common: which ranks meet, the aggregator's shared
// buffers, and the tokens that pace the rounds.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "access/failure/memory_reserve.hpp"
#include "access/failure/moved_prefix.hpp"
#include "access/request/request.hpp"
#include "access/together/delegates.hpp"
#include "access/together/description.hpp"
#include "access/together/file_domain.hpp"
#include "access/together/gathered_requests.hpp"
#include "access/together/mailbox.hpp"
#include "access/together/two_phase.hpp"
#include "comm/private_memory.hpp"

namespace stria::access {

/// One rank's side of a collective operation. Built collectively; then both methods walk the
/// rounds in order.
class Aggregation {
 public:
  /// Buffers per aggregator: one is packed while the other is written.
  static constexpr int kTwins = 2;

  struct Options {
    bool reads = false;
    KeptBuffers* kept = nullptr;  ///< what stays from one operation to the next, or null
    /// Everybody's description, known already; null: to be exchanged.
    const GatheredRequests* gathered = nullptr;
  };
  Aggregation(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, const Options& options);

  /// Exchanges the descriptions and allocates the buffers. Collective: yes; the outcome is the
  /// same everywhere.
  Status prepare();

  int round_count() const { return domains_->round_count(); }
  bool is_aggregator() const { return my_index_ >= 0; }

  /// To be called first in each round. Exchanges the lists of pieces that come with the round,
  /// except with the ranks of aggregators and contributors that this rank is done with. Returns an
  /// error of receiving them.
  Status begin_round(int round, const std::set<int>& gone_aggregators = {}, const std::set<int>& gone_contributors = {});

  /// What this rank brings to, or wants from, an aggregator in a round.
  struct Share {
    /// The other side: the aggregator, or among contributors() the contributor.
    int rank = 0;
    int speaker = 0;  ///< the rank that speaks for the contributor
    /// Among contributors(): those of the contributor before, with the same speaker.
    bool repeats = false;
    bool own = false;     ///< the aggregator and the contributor are this rank
    bool shared = false;  ///< the aggregator's buffer can be addressed by the contributor
    std::vector<Window> windows;
    std::vector<std::pair<size_t, Overlap>> parts;  ///< window number and overlap
    int64_t bytes = 0;
  };
  /// The shares of this rank in `round`, aggregators in order; those without bytes are left out.
  std::vector<Share> my_shares(int round);
  /// The shares that other ranks, and this one, have of this aggregator in `round`. Those with the
  /// same speaker follow each other, by rank.
  std::vector<Share> contributors(int round);
  /// Calls `visit(speaker, shares)` for the shares of each speaker among those of contributors(),
  /// except this rank's own.
  template <typename Visit>
  void for_each_speaker(std::span<const Share> contributors, Visit&& visit) const;
  /// The ranks of the aggregators that this rank meets in any round, and of those that have bytes
  /// for this aggregator.
  std::vector<int> met_ranks() const;
  std::vector<int> contributor_ranks() const;
  /// What this rank carries for others of its node in `round`, including its own bytes for the
  /// same aggregators.
  std::vector<Load> loads(int round);
  int rank_of(const Load& load) const { return plan_.aggregators[static_cast<size_t>(load.aggregator)]; }
  std::byte* staging(int delegate_rank, int64_t offset) const { return delegates_.staging(delegate_rank, offset); }
  /// Pairs of an aggregator's rank and the rank of a contributor for which this rank speaks to it.
  using Spoken = std::set<std::pair<int, int>>;
  /// True once this rank has nothing more to do with any other: `gone_aggregators` has all
  /// aggregators that it meets, `gone_speakers` all speakers of contributors, and `closed` all
  /// ranks for which it speaks.
  bool is_parted(const std::set<int>& gone_aggregators, const std::set<int>& gone_speakers, const Spoken& closed) const;
  /// Notes what this rank may have lost of its bytes in the aggregator's rounds: all from round
  /// `done_rounds` on. Cost: O(rounds).
  void miss_rounds(int aggregator_rank, int done_rounds, MovedPrefix& moved);
  /// The windows of this aggregator in `round`.
  std::vector<Window> my_windows(int round);

  /// All that may lack memory between prepare() and the end goes through this.
  MemoryReserve& memory() { return memory_; }
  const MemoryReserve& memory() const { return memory_; }

  /// The buffer of an aggregator of this node for a round.
  std::byte* buffer(int aggregator_rank, int round);

  /// Receives a message from another node; its bytes stay until the next call. \pre a
  /// share of a round
  std::span<std::byte> receive_bytes(int64_t bytes, int from, int tag);
  Mailbox& mailbox() { return mailbox_; }

 private:
  void choose_description();
  int64_t asked_bytes() const;
  int64_t kept_bytes() const;
  Status allocate_buffers();
  void number_node_ranks();
  Status allocate_incoming();
  bool shares_memory(int other_rank) const;
  /// A rank that has bytes for this aggregator, or wants some from it.
  struct Contributor {
    int rank = 0;
    int speaker = 0;
    bool repeats = false;  ///< has what the one before has
    /// `lanes` only says where the streams begin and end; pieces come with each round.
    bool by_round = false;
    std::vector<LaneDescription> lanes = {};   ///< else all that the rank has sent
    std::vector<LaneDescription> pieces = {};  ///< by_round: of the present round
    int64_t bytes = 0;                         ///< by_round: of the present round
  };
  // The first number of a description, or else the pieces to come in all rounds.
  static constexpr int64_t kWhole = -1;

  void find_met();
  Status gather_on_node();
  std::vector<int> met_lanes(int aggregator, std::span<const LaneDescription> lanes) const;
  std::vector<std::byte> describe(int aggregator);
  void describe_to_aggregators(Comm::Messages& outgoing);
  Status decode_contributors(int speaker, std::span<const std::byte> message);
  void send_pieces(int aggregator, int round);
  Status receive_pieces(Contributor& contributor, const std::vector<Window>& windows);
  std::vector<std::byte> encode_pieces(const Share& share) const;
  void collect(std::span<const LaneDescription> description, int other_rank, Share& share);
  Status exchange_descriptions();
  Status take_gathered();

  Context& context_;
  const ThroughAggregators& plan_;
  KeptBuffers* kept_;
  const GatheredRequests* gathered_;
  std::span<const Lane> lanes_;
  MemoryReserve memory_;
  Mailbox mailbox_{context_.comm, memory_};
  NodeDelegates delegates_;
  std::optional<FileDomains> domains_;
  int my_index_ = -1;
  std::vector<LaneDescription> mine_;
  std::vector<int> met_;                // aggregators that this rank meets
  bool by_round_ = false;               // this rank's pieces are sent with each round
  std::vector<LaneDescription> hulls_;  // then: mine_ without its pieces
  // And the aggregators that could not be told of this round's.
  std::set<int> withheld_;
  // By rank, of these: the first round of which they could not.
  std::map<int, int> withheld_from_;
  std::vector<Contributor> others_;  // contributors of this aggregator, by speaker and rank
  int64_t most_pieces_ = 0;          // of any of them that come by round
  PrivateMemory incoming_pieces_;
  std::shared_ptr<SharedBuffer> shared_;
  std::map<int, int> node_rank_;  // by rank, of the aggregators
  PrivateMemory incoming_;        // for messages from other nodes
};

/// Copies packed bytes of an overlap to their places in a window's buffer, and back.
void scatter_to_window(const Overlap& overlap, const std::byte* packed, const Window& window, std::byte* buffer);
void gather_from_window(const Overlap& overlap, const Window& window, const std::byte* buffer, std::byte* packed);

}  // namespace stria::access

template <typename Visit>
void stria::access::Aggregation::for_each_speaker(std::span<const Share> contributors, Visit&& visit) const {
  for (size_t first = 0, end = 0; first < contributors.size(); first = end) {
    while (end < contributors.size() && contributors[end].speaker == contributors[first].speaker) {
      ++end;
    }
    if (!contributors[first].own) {
      visit(contributors[first].speaker, contributors.subspan(first, end - first));
    }
  }
}
