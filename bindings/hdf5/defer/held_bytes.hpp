// Bytes of a file that wait in memory for their write.
//
// Invariant: no two of them have the same place in the file, so that they may be written in any
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/byte_range.hpp"

namespace stria::hdf5 {

/// Holds some bytes, and their place in the file.
struct Held {
  ByteRange place;
  const std::byte* bytes = nullptr;
};

class HeldBytes {
 public:
  bool empty() const { return pieces_.empty(); }
  int64_t bytes() const { return bytes_; }
  const std::vector<Held>& pieces() const { return pieces_; }
  bool touches(ByteRange place) const;
  /// Adds pieces, in any order. Returns false, and adds none, where one touches another or what is
  /// held already.
  bool add(std::span<const Held> pieces);
  /// Puts the pieces into the order of the file, and joins those that follow each other in memory
  /// as well.
  void sort();
  void clear();
  /// Keeps these alone, which are some of pieces().
  void keep(std::vector<Held> pieces);

 private:
  std::vector<Held> pieces_;
  std::map<int64_t, int64_t> ends_;  // the end of each stretch by its begin; they lie apart
  int64_t bytes_ = 0;
};

}  // namespace stria::hdf5
