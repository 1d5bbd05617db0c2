// Hashes packed streams by units (rows of a dataset, or a whole put) as their parts pass by, in whatever order methods move
// them.
//
// Units that lie whole in a part are hashed at once, while they are in the cache. A unit cut by parts that follow each other is
// hashed on; one whose parts come out of order (file domains of several aggregators) is noted as torn, for the owner to hash
// again from memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/hash.hpp"

namespace stria::file {

class UnitHasher {
 public:
  /// A stream of `stream_bytes`, hashed by units of `unit_bytes`, the last one maybe shorter. \pre unit_bytes > 0
  UnitHasher(int64_t stream_bytes, int64_t unit_bytes);

  /// Takes the bytes [begin, begin + data.size()) of the stream.
  void observe(int64_t begin, std::span<const std::byte> data);

  int64_t unit_count() const { return static_cast<int64_t>(sums_.size()); }
  /// The bytes of the stream that belong to a unit.
  int64_t unit_begin(int64_t unit) const { return unit * unit_bytes_; }
  int64_t unit_end(int64_t unit) const;
  /// Units that were not hashed although their bytes passed by (or not yet).
  std::vector<int64_t> torn_units() const;
  void set_sum(int64_t unit, uint64_t sum);
  /// One hash a unit, never 0 once it is known.
  std::span<const uint64_t> sums() const { return sums_; }

 private:
  void observe_within_unit(int64_t unit, int64_t begin, std::span<const std::byte> data);

  int64_t stream_bytes_;
  int64_t unit_bytes_;
  std::vector<uint64_t> sums_;
  std::unique_ptr<StreamingHash> partial_;  // of the unit that holds next_
  int64_t next_ = -1;                       // where the partial hash goes on; -1: none under way
};

}  // namespace stria::file
