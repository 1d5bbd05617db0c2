// Hashes packed streams by units (rows of a dataset, or a whole put) while their parts are
// moved, in any order.
//
// A unit that lies whole in a part is hashed at once, while it is in the cache. When parts that
// follow each other cut a unit, its hash goes on with the next part. When the parts come out of
// order (file domains of several aggregators), the unit is noted as torn, and its owner hashes it
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
  /// A stream of `stream_bytes`, hashed by units of `unit_bytes`, the last one maybe shorter. \pre
  /// unit_bytes > 0
  UnitHasher(int64_t stream_bytes, int64_t unit_bytes);

  /// Takes the bytes [begin, begin + data.size()) of the stream.
  void observe(int64_t begin, std::span<const std::byte> data);

  int64_t unit_count() const { return static_cast<int64_t>(sums_.size()); }
  /// Returns the bytes of the stream that belong to a unit.
  int64_t unit_begin(int64_t unit) const { return unit * unit_bytes_; }
  int64_t unit_end(int64_t unit) const;
  /// Returns the units that are not hashed: their bytes came out of order, or have not come yet.
  std::vector<int64_t> torn_units() const;
  void set_sum(int64_t unit, uint64_t sum);
  /// The units from byte `begin` up to `end` are summed elsewhere. \pre they are whole
  void leave_out(int64_t begin, int64_t end);
  bool is_left_out(int64_t unit) const { return !left_out_.empty() && left_out_[static_cast<size_t>(unit)]; }
  /// Returns one hash per unit, never 0 once it is known.
  std::span<const uint64_t> sums() const { return sums_; }

 private:
  void observe_within_unit(int64_t unit, int64_t begin, std::span<const std::byte> data);

  int64_t stream_bytes_;
  int64_t unit_bytes_;
  std::vector<uint64_t> sums_;
  std::vector<bool> left_out_;              // whether each unit is; empty: none
  std::unique_ptr<StreamingHash> partial_;  // the hash of the unit that holds next_
  int64_t next_ = -1;                       // where the partial hash goes on; -1: none under way
};

}  // namespace stria::file
