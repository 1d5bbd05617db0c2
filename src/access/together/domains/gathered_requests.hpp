// The requests of all ranks in one step, where they are few and short.
//
// Problem: between nodes an agreement costs the time of a message per step, whatever its bytes. A
// small call spends most of its time in such steps.
// Method: each rank puts the summary of its request and, where it fits, its file description into a
// record of fixed size. One gathering gives every record to every rank.
// Cost: log2(ranks) steps; ranks times kRecordBytes of memory per rank, 16 KiB at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "access/request/request.hpp"
#include "comm/comm.hpp"

namespace stria::access {

class GatheredRequests {
 public:
  static constexpr size_t kRecordBytes = 512;
  static constexpr int kMostRanks = 32;

  /// Says what a rank says of its request in a few numbers.
  struct Summary {
    ByteRange hull;
    int64_t bytes = 0;
    int64_t pieces = 0;
    int64_t server_cost_bytes = 0;  ///< server_costs.hpp
    storage::Capabilities capabilities;
    int64_t stage = 0;              ///< the stage of Arrival; of several ranks the last counts
    int64_t description_bytes = 0;  ///< negative: the description is too long for the record
  };

  /// Tells whether so many ranks should gather requests of so many lanes. The same on every rank.
  static bool are_few(int ranks, size_t lane_count) { return ranks <= kMostRanks && lane_count == 1; }

  /// \pre are_few(). Collective: yes.
  GatheredRequests(Comm& comm, const Lane& mine, const storage::Capabilities& capabilities, int64_t stage, bool write);

  /// Returns the sums over all ranks, the hull of all, and what rank 0 says of the storage.
  /// `description_bytes` is negative where a rank's description is missing.
  const Summary& all() const { return all_; }
  /// Tells whether every rank's description is here. The same on every rank.
  bool are_described() const { return all_.description_bytes >= 0; }
  int size() const { return ranks_; }
  /// Returns the message of encode_description() of that rank. \pre are_described()
  std::span<const std::byte> description(int rank) const;

 private:
  int ranks_;
  Summary all_;
  std::unique_ptr<std::byte[]> records_;  // none where memory ran out; then none is described
};

}  // namespace stria::access
