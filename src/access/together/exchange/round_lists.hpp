// The lists of pieces that come with each round, where a rank's description is too long to be
// sent as a whole.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "access/failure/memory_reserve.hpp"
#include "access/together/domains/file_domain.hpp"
#include "access/together/domains/share.hpp"
#include "access/together/exchange/contacts.hpp"
#include "access/together/exchange/mailbox.hpp"
#include "access/together/exchange/parted.hpp"
#include "comm/private_memory.hpp"

namespace stria::access {

class RoundLists {
 public:
  /// What is passed must outlive this.
  RoundLists(Contacts& contacts, MemoryReserve& memory, Mailbox& mailbox, size_t lane_count)
      : contacts_(contacts), memory_(memory), mailbox_(mailbox), lane_count_(lane_count) {}

  /// Takes the memory for lists that will come, once the contacts are known.
  Status allocate(const FileDomains& domains);
  /// Sends this rank's pieces of a round to the aggregators, and receives those of this
  /// aggregator's contributors, except between ranks that have parted. Returns an error of
  /// receiving.
  Status exchange(const FileDomains& domains, int round, const Parted& parted);
  /// True where an aggregator could not be told of this round's pieces.
  bool withholds(int aggregator_rank) const { return withheld_.contains(aggregator_rank); }
  /// Returns the first round of which an aggregator could not be told, or `otherwise`.
  int first_withheld(int aggregator_rank, int otherwise) const {
    const auto found = withheld_from_.find(aggregator_rank);
    return found == withheld_from_.end() ? otherwise : found->second;
  }

 private:
  void send_pieces(const FileDomains& domains, int aggregator, int round);
  Status receive_pieces(Contributor& contributor, const std::vector<Window>& windows);
  std::vector<std::byte> encode_pieces(const Share& share) const;

  Contacts& contacts_;
  MemoryReserve& memory_;
  Mailbox& mailbox_;
  size_t lane_count_;
  std::set<int> withheld_;            // the ranks whose lists this round lacks
  std::map<int, int> withheld_from_;  // by rank: the first round
  PrivateMemory incoming_;
};

}  // namespace stria::access
